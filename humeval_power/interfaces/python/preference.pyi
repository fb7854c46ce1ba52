"""Which of two outputs is better: sign tests with ties, and their power."""

from humeval_power.api.preference import test as test
from humeval_power.scenarios.preference import Preference as Preference
