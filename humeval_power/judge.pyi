"""What an automatic judge is worth beside human ratings (PPI++)."""

from humeval_power.comparisons.judge.calls import agreement as agreement
from humeval_power.comparisons.judge.calls import bias as bias
from humeval_power.comparisons.judge.calls import check as check
from humeval_power.comparisons.judge.calls import estimate as estimate
from humeval_power.comparisons.judge.calls import estimate_table as estimate_table
from humeval_power.comparisons.judge.calls import length as length
from humeval_power.comparisons.judge.calls import mean as mean
from humeval_power.comparisons.judge.calls import position as position
from humeval_power.comparisons.judge.calls import sample as sample
from humeval_power.comparisons.judge.files import read_judged as read_judged
from humeval_power.comparisons.judge.plan import data_efficiency as data_efficiency
from humeval_power.doors.verbs_judge import plan as plan
from humeval_power.doors.verbs_judge import study as study
