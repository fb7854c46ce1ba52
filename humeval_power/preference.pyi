"""Which of two outputs is better: sign tests with ties, panels of workers and items, and their power."""

from humeval_power.comparisons.preference.calls import test as test
from humeval_power.comparisons.preference.files import read_judgements as read_judgements
from humeval_power.comparisons.preference.latent_scale import Panel as Panel
from humeval_power.comparisons.preference.scenario import Judgements as Judgements
from humeval_power.comparisons.preference.scenario import PanelPreference as PanelPreference
from humeval_power.comparisons.preference.scenario import Preference as Preference
