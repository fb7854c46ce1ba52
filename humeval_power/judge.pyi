"""What an automatic judge is worth beside human ratings (PPI++)."""

from humeval_power.api.judge import mean as mean
from humeval_power.api.judged import agreement as agreement
from humeval_power.api.judged import bias as bias
from humeval_power.api.judged import estimate as estimate
from humeval_power.api.judged import estimate_table as estimate_table
from humeval_power.interfaces.asking.study_judge import plan as plan
from humeval_power.interfaces.asking.study_judge import study as study
from humeval_power.interfaces.formats.judged import read_judged as read_judged
from humeval_power.planning.judge.efficiency import data_efficiency as data_efficiency
