"""Figures as Matplotlib figures, and how they become files."""

from humeval_power.comparisons.scores.figures import heat_map_figure as heat_map_figure
from humeval_power.saying.figure_style import COLOURS as COLOURS
from humeval_power.saying.figure_style import DASHES as DASHES
from humeval_power.saying.figure_style import figure_bytes as figure_bytes
from humeval_power.saying.figure_style import house_style as house_style
from humeval_power.studies.fit.figures import ratings_figure as ratings_figure
from humeval_power.studies.looks.figures import boundary_figure as boundary_figure
from humeval_power.studies.looks.figures import expected_cost_figure as expected_cost_figure
from humeval_power.studies.looks.figures import stopping_figure as stopping_figure
from humeval_power.studies.plan.result import front_figure as front_figure
from humeval_power.studies.power.figures import calibration_figure as calibration_figure
from humeval_power.studies.power.figures import comparison_figure as comparison_figure
from humeval_power.studies.power.figures import curve_figure as curve_figure
from humeval_power.studies.power.figures import surface_figure as surface_figure
