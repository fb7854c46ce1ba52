"""`humeval-power power`: its pictures, what it costs, and the numbers behind both in its record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli import run
from humeval_power.reporting.chart import Chart

STUDY = "power --preset high --workers 20 --items 100 --effect 0.1 --method analytic"
PRICES = "--cost-per-rating 0.12 --cost-per-worker 3"
NAMES = ["workers", "items", "power", "cost", "splits", "variance", "estimates", "winners_curse"]
