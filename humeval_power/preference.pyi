"""Which of two outputs is better: sign tests with ties, panels of workers and items, and their power."""

from humeval_power.api.preference import test as test
from humeval_power.inference.preference.judgements import Judgements as Judgements
from humeval_power.inference.preference.panel import Panel as Panel
from humeval_power.interfaces.formats.preference import read_judgements as read_judgements
from humeval_power.scenarios.preference.independent import Preference as Preference
from humeval_power.scenarios.preference.panel import PanelPreference as PanelPreference
