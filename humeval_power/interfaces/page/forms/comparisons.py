"""Forms of the journey through scores: is one system better by a metric, by accuracy, by preference?"""

from __future__ import annotations

from humeval_power.interfaces.asking import (
    accuracy,
    assessment,
    compare,
    contingency,
    corpus,
    judge,
    preference,
    rank,
    runs,
)

FORMS = tuple(
    form
    for each in (compare, runs, accuracy, preference, assessment, rank, corpus, contingency, judge)
    for form in each.SUBJECT.forms()
)
