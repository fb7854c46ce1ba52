"""Where the tests find what is not theirs: the project, its data, and the kept values."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
