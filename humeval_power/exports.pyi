"""Exports of annotation platforms and logs of harnesses: where scores stand, and one table of them."""

from humeval_power.checking.exports.assigned import AssignmentTable as AssignmentTable
from humeval_power.checking.exports.assigned import Key as Key
from humeval_power.checking.exports.mapping import Export as Export
from humeval_power.checking.logs.combined import LogTable as LogTable
from humeval_power.checking.logs.combined import combine_logs as combine_logs
from humeval_power.checking.logs.log import Log as Log
from humeval_power.checking.logs.log import LogSample as LogSample
from humeval_power.files.exports.mapping_file import read_mapping as read_mapping
from humeval_power.files.logs.mapped import mapped_logs as mapped_logs
from humeval_power.files.logs.mapped import read_log_mapping as read_log_mapping
from humeval_power.files.logs.reading import read_logs as read_logs
from humeval_power.studies.field.calls import draft_mapping as draft_mapping
from humeval_power.studies.field.calls import follow_collection as follow_collection
from humeval_power.studies.field.calls import import_exports as import_exports
from humeval_power.studies.field.calls import import_scores as import_scores
from humeval_power.studies.field.calls import withdraw_workers as withdraw_workers
from humeval_power.studies.field.files import read_assignment as read_assignment
from humeval_power.studies.field.files import read_key as read_key
from humeval_power.studies.field.files import read_withdrawn as read_withdrawn
