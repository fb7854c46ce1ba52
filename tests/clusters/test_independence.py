"""The question that every report answers: what was not independent?"""

import numpy as np

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import clustered_mean
from humeval_power.saying.clustered_words import (
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.saying.result import cluster_entry


def test_known_clusters_are_told_with_both_errors() -> None:
    clusters = Clusters.of(list(np.repeat(np.arange(10), 4)))
    found = clustered_mean(np.random.default_rng(1).normal(size=40), clusters)
    answer = clustered_items(found, "passage")
    assert answer.state == "accounted"
    assert "40 items come in 10 clusters (passage), of equal size" in answer.text
    assert f"{found.standard_error:.4g}" in answer.text
    assert f"{found.independent_error:.4g}" in answer.text
    assert "no more than a hint" not in answer.text


def test_few_clusters_are_warned_of() -> None:
    clusters = Clusters.of(["a", "a", "b", "c"])
    found = clustered_mean([1.0, 2.0, 4.0, 3.0], clusters)
    assert "no more than a hint" in clustered_items(found, "doc").text


def test_unknown_clusters_are_asked_about() -> None:
    answer = assumed_items(1_200, (ClusterSuspect("passage", 100, 1_200, 20),))
    assert answer.state == "assumed"
    assert "1,200 items count as independent" in answer.text
    assert "--cluster passage" in answer.text
    section = independence_section([answer])
    assert section.title == "What was not independent?"
    assert independence_record([answer]) == [{"of": "items", "state": "assumed", "text": answer.text}]


def test_the_signature_names_column_and_number() -> None:
    assert cluster_entry("my passage|x", 40) == ["cluster:my_passage_x:40"]
    assert cluster_entry(None, None) == []
