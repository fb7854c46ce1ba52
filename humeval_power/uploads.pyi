"""What is uploaded to annotation platforms: outputs under codes, questions, attention checks."""

from humeval_power.checking.outputs import Outputs as Outputs
from humeval_power.checking.outputs import outputs_of_table as outputs_of_table
from humeval_power.studies.field.calls import make_uploads as make_uploads
from humeval_power.studies.field.files import read_check_texts as read_check_texts
from humeval_power.studies.field.files import read_outputs as read_outputs
from humeval_power.studies.field.form import Asked as Asked
from humeval_power.studies.field.form import CheckText as CheckText
from humeval_power.studies.field.form import Question as Question
