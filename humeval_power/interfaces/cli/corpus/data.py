"""`humeval-power corpus estimate` and `corpus test`: from the outputs of two systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SUBSETS, DEFAULT_SWAPS, CorpusMetric, Tokenizer
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import Function, alpha_option, decorated, seed_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.corpus.randomisation import CorpusTestResult
    from humeval_power.reporting.corpus.result import CorpusEstimateResult


def _data_options(command: Function) -> Function:
    path = click.Path(exists=False)
    options = (
        click.option("--system-a", type=path, required=True, help="Outputs of A, one segment a line."),
        click.option("--system-b", type=path, required=True, help="Outputs of B; the effect is B - A."),
        click.option(
            "--reference", type=path, multiple=True, required=True, help="References; repeatable."
        ),
        click.option(
            "--metric",
            type=click.Choice(get_args(CorpusMetric)),
            default="bleu",
            show_default=True,
            help="As sacreBLEU computes it.",
        ),
        click.option(
            "--tokenizer",
            type=click.Choice(get_args(Tokenizer)),
            default="13a",
            show_default=True,
            help="Tokens of BLEU; 'zh' for Chinese, 'char' for characters.",
        ),
        click.option("--lowercase", is_flag=True, help="Count upper and lower case alike."),
    )
    return decorated(command, options)


@click.command("estimate", cls=Command)
@_data_options
@click.option(
    "--subsets",
    type=WholeNumber(min=2),
    default=DEFAULT_SUBSETS,
    show_default=True,
    help="Random swaps of half the sentences, to see whether single effects add up.",
)
@seed_option
@with_result()
def estimate(subsets: int, seed: int | None, **given: Any) -> CorpusEstimateResult:
    """What do swaps do: P0 and b0 for planning, from two systems' outputs.

    Swaps each sentence between A and B and sees how the difference of the metric
    changes; fits P0 (share of swaps that change nothing) and b0 (spread of the
    others). Checks on these data whether such effects add up, as power needs.
    """
    from humeval_power.api import corpus

    return corpus.estimate(**_texts(given), n_subsets=subsets, seed=_seed(seed))


@click.command("test", cls=Command)
@_data_options
@click.option(
    "--swaps",
    type=WholeNumber(min=1),
    default=DEFAULT_SWAPS,
    show_default=True,
    help="Random swaps.",
)
@click.option(
    "--cluster",
    type=click.Path(exists=False),
    metavar="FILE",
    help="Clusters of segments, such as documents: one name a line. [none]",
)
@alpha_option
@seed_option
@with_result()
def test(swaps: int, cluster: str | None, alpha: float, seed: int | None, **given: Any) -> CorpusTestResult:
    """Is B better than A: the paired randomisation test of a corpus metric.

    Swaps the outputs of a random half of the sentences between the systems,
    computes the metric of both, and counts how often they differ as much as A
    and B do. With --cluster whole documents are swapped.
    """
    from humeval_power.api import corpus
    from humeval_power.interfaces.formats.item_clusters import read_cluster_lines

    texts = _texts(given)
    clusters = None if cluster is None else read_cluster_lines(cluster, len(texts["system_a"]))
    return corpus.test(**texts, clusters=clusters, n_swaps=swaps, alpha=alpha, seed=_seed(seed))


def _texts(given: dict[str, Any]) -> dict[str, Any]:
    """The texts in place of their files, and how they are counted."""
    from humeval_power.interfaces.formats.corpora import read_corpus

    found = read_corpus(given.pop("system_a"), given.pop("system_b"), given.pop("reference"))
    return {
        "system_a": found.system_a,
        "system_b": found.system_b,
        "references": found.references,
        "remarks": found.notices,
        **given,
    }


def _seed(typed: int | None) -> int:
    return DEFAULT_SEED if typed is None else typed
