"""Forms of the journey through scores: is one system better by a metric, by accuracy, by preference?"""

from __future__ import annotations

from humeval_power.interfaces.asking import accuracy, assessment, compare, judge, rank, runs
from humeval_power.interfaces.page.forms.corpora import FORMS as CORPORA
from humeval_power.interfaces.page.forms.preferences import FORMS as PREFERENCES

FORMS = (
    *compare.SUBJECT.forms(),
    *runs.SUBJECT.forms(),
    *accuracy.SUBJECT.forms(),
    *PREFERENCES,
    *assessment.SUBJECT.forms(),
    *rank.SUBJECT.forms(),
    *CORPORA,
    *judge.SUBJECT.forms(),
)
