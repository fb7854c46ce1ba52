"""Which items of a pool to rate, drawn with what a metric says of all of them."""

from humeval_power.item_pool import ItemPool as ItemPool
from humeval_power.studies.items.calls import choose as choose
from humeval_power.studies.items.files import read_names as read_names
from humeval_power.studies.items.files import read_pool as read_pool
from humeval_power.studies.items.files import read_scored as read_scored
