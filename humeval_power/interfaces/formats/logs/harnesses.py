"""The harnesses whose logs are read."""

from __future__ import annotations

from humeval_power.interfaces.formats.logs.deepeval import DEEPEVAL
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.helm import HELM
from humeval_power.interfaces.formats.logs.inspect_log import INSPECT
from humeval_power.interfaces.formats.logs.lm_eval import LM_EVAL
from humeval_power.interfaces.formats.logs.lmms_eval import LMMS_EVAL
from humeval_power.interfaces.formats.logs.mlflow import MLFLOW
from humeval_power.interfaces.formats.logs.mteb import MTEB
from humeval_power.interfaces.formats.logs.openai_evals import OPENAI
from humeval_power.interfaces.formats.logs.promptfoo import PROMPTFOO
from humeval_power.interfaces.formats.logs.pydantic_evals import PYDANTIC_EVALS
from humeval_power.interfaces.formats.logs.ragas import RAGAS

HARNESSES: tuple[Harness, ...] = (
    LM_EVAL,
    LMMS_EVAL,
    INSPECT,
    HELM,
    OPENAI,
    PROMPTFOO,
    DEEPEVAL,
    PYDANTIC_EVALS,
    RAGAS,
    MLFLOW,
    MTEB,
)
