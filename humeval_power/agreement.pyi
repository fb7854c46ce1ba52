"""Agreement between workers, reliability, repeatability, and where the variance lies."""

from humeval_power.inference.agreement.agreement import agreement as agreement
from humeval_power.inference.agreement.reliability import intraclass_correlations as intraclass_correlations
from humeval_power.inference.agreement.repeatability import repeatability as repeatability
from humeval_power.inference.agreement.variance_decomposition import (
    variance_decomposition as variance_decomposition,
)
