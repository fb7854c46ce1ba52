"""Agreement between workers, reliability, repeatability, and where the variance lies."""

from humeval_power.comparisons.agreement.agreement import agreement as agreement
from humeval_power.comparisons.agreement.agreement import repeatability as repeatability
from humeval_power.comparisons.agreement.calls import pilot_reliability as pilot_reliability
from humeval_power.comparisons.agreement.calls import plan as plan
from humeval_power.comparisons.agreement.calls import read_rated as read_rated
from humeval_power.comparisons.agreement.calls import report as report
from humeval_power.comparisons.agreement.planning import Reliability as Reliability
from humeval_power.comparisons.agreement.reliability import (
    intraclass_correlations as intraclass_correlations,
)
from humeval_power.comparisons.agreement.reliability import variance_decomposition as variance_decomposition
from humeval_power.doors.verbs_agreement import study as study
