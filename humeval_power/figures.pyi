"""Figures as Matplotlib figures, and how they become files."""

from humeval_power.reporting.compare.figures import histogram_figure as histogram_figure
from humeval_power.reporting.compare.heat_map import heat_map_figure as heat_map_figure
from humeval_power.reporting.figure_style import COLOURS as COLOURS
from humeval_power.reporting.figure_style import DASHES as DASHES
from humeval_power.reporting.figure_style import figure_bytes as figure_bytes
from humeval_power.reporting.figure_style import house_style as house_style
from humeval_power.reporting.looks.figures import boundary_figure as boundary_figure
from humeval_power.reporting.looks.figures import expected_cost_figure as expected_cost_figure
from humeval_power.reporting.looks.figures import stopping_figure as stopping_figure
from humeval_power.reporting.plan.front_figure import front_figure as front_figure
from humeval_power.reporting.questions.curve_figure import curve_figure as curve_figure
from humeval_power.reporting.study.calibration_figure import calibration_figure as calibration_figure
from humeval_power.reporting.study.comparison_figure import comparison_figure as comparison_figure
from humeval_power.reporting.study.surface_figure import surface_figure as surface_figure
from humeval_power.reporting.study.tables.ratings_figure import ratings_figure as ratings_figure
