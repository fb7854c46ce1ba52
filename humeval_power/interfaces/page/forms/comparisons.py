"""Forms of the journey through scores: is one system better by a metric, by accuracy, by preference?"""

from __future__ import annotations

from humeval_power.interfaces.asking import accuracy, compare, contingency, corpus, preference, rank
from humeval_power.interfaces.page.forms.assessments import FORMS as ASSESSMENTS
from humeval_power.interfaces.page.forms.judges import FORMS as JUDGES
from humeval_power.interfaces.page.forms.runs import FORMS as RUNS

FORMS = (
    *compare.SUBJECT.forms(),
    *RUNS,
    *accuracy.SUBJECT.forms(),
    *preference.SUBJECT.forms(),
    *ASSESSMENTS,
    *rank.SUBJECT.forms(),
    *corpus.SUBJECT.forms(),
    *contingency.SUBJECT.forms(),
    *JUDGES,
)
