"""A module in whose loading an answer can be stopped."""

import time

time.sleep(30)
