"""Exports of annotation platforms: where their ratings stand, and one table of them."""

from humeval_power.api.field import draft_mapping as draft_mapping
from humeval_power.api.field import follow_collection as follow_collection
from humeval_power.api.field import import_exports as import_exports
from humeval_power.api.field import withdraw_workers as withdraw_workers
from humeval_power.checking.exports.assigned import Assigned as Assigned
from humeval_power.checking.exports.assigned import Key as Key
from humeval_power.checking.exports.export import Export as Export
from humeval_power.interfaces.formats.assigned import read_assignment as read_assignment
from humeval_power.interfaces.formats.assigned import read_key as read_key
from humeval_power.interfaces.formats.assigned import read_withdrawn as read_withdrawn
from humeval_power.interfaces.formats.exports.mapping_file import read_mapping as read_mapping
