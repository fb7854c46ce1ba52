"""What reports and releases are made from, and the list of what is still open."""

from humeval_power.studies.release.rows import ReleaseRows as ReleaseRows
from humeval_power.studies.release.rows import release_rows as release_rows
from humeval_power.studies.report.calls import answers_template as answers_template
from humeval_power.studies.report.calls import open_fields as open_fields
from humeval_power.studies.report.calls import remember as remember
from humeval_power.studies.report.config import ReportConfig as ReportConfig
from humeval_power.studies.report.documents import CriterionDocuments as CriterionDocuments
