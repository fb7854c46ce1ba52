"""The comparisons of two systems in published rating tables on which the oracles are run.

The tables stay outside this repository; a golden file names the table, its SHA-256 and how to read it.
`load` is that reading, so that a test sees the very rows that the oracle saw.
"""

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """Two systems of one table: B - A is the effect. `where` keeps the rows with these values."""

    name: str
    file: str
    systems: tuple[str, str]
    scale: tuple[float, float]
    higher_is_better: bool = True
    item: str = "item"
    where: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Everything that is needed to read the rows again."""
        record = asdict(self)
        columns = {"worker": "worker", "item": record.pop("item"), "system": "system", "rating": "rating"}
        low, high = record.pop("scale")
        scale = {"low": low, "high": high, "higher_is_better": record.pop("higher_is_better")}
        return {**record, "columns": columns, "scale": scale}


MQM = (-25.0, 0.0)
COMPARISONS = (
    Comparison("vqeghd3_boundary", "vqeghd3.csv", ("hrc19", "hrc20"), (1, 5)),
    Comparison("vqeghd3_ceiling", "vqeghd3.csv", ("hrc00", "hrc04"), (1, 5)),
    Comparison("vqeghd3_interior", "vqeghd3.csv", ("hrc07", "hrc16"), (1, 5)),
    Comparison(
        "squality_machines", "squality.csv", ("bart", "bart-dpr"), (0, 100), where={"criterion": "overall"}
    ),
    Comparison(
        "squality_human", "squality.csv", ("human", "bart"), (0, 100), where={"criterion": "overall"}
    ),
    Comparison("pplm_by_prompt", "pplm_fluency.csv", ("BC", "BCR"), (1, 5), item="prompt"),
    Comparison("pplm_by_passage", "pplm_fluency.csv", ("BC", "BCR"), (1, 5)),
    Comparison(
        "wmt23_ende_gpt4",
        "wmt23_sxs_mqm_ende.csv",
        ("GPT4-5shot_with_ONLINE-W", "GPT4-5shot_with_refA"),
        MQM,
    ),
    Comparison("wmt23_ende_online", "wmt23_sxs_mqm_ende.csv", ("ONLINE-A", "ONLINE-W"), MQM),
    Comparison(
        "wmt23_ende_one_document",
        "wmt23_sxs_mqm_ende.csv",
        ("NLLB_MBR_BLEU", "refA"),
        MQM,
        where={"doc": "doc001"},
    ),
    Comparison("wmt23_zhen_gpt4", "wmt23_sxs_mqm_zhen.csv", ("GPT4-5shot", "Lan-BridgeMT"), MQM),
    Comparison("wmt23_zhen_online", "wmt23_sxs_mqm_zhen.csv", ("ONLINE-M", "ONLINE-B"), MQM),
    Comparison("nflx_public", "nflx_public.csv", ("480p", "720p"), (1, 5)),
    Comparison("agh_tv", "agh_tv.csv", ("b4000", "b8000"), (1, 5)),
    Comparison(
        "vqeg_frtv", "vqeg_frtv_525high.csv", ("hrc03", "hrc05"), (-100, 100), higher_is_better=False
    ),
    Comparison("ted_mqm_ende", "ted_mqm_ende.csv", ("Facebook-AI", "HuaweiTSC"), MQM),
    Comparison("ted_mqm_zhen", "ted_mqm_zhen.csv", ("DIDI-NLP", "ref"), MQM),
    Comparison(
        "tvbo_saturation", "tvbo.csv", ("TV1", "TV2"), (0, 15), where={"criterion": "Coloursaturation"}
    ),
    Comparison(
        "tvbo_first_repeat",
        "tvbo.csv",
        ("TV2", "TV3"),
        (0, 15),
        where={"criterion": "Sharpness", "repeat": "1"},
    ),
    Comparison(
        "dialogue_nested", "dialogue_eval.csv.gz", ("A", "B"), (0, 100), where={"criterion": "interesting"}
    ),
    Comparison(
        "dialogue_degraded",
        "dialogue_eval.csv.gz",
        ("QualityControl", "A"),
        (0, 100),
        where={"criterion": "fluent", "experiment": "free1"},
    ),
)


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load(record: dict, data: Path) -> dict[str, np.ndarray]:
    """Read the rows that a golden record describes, in file order.

    Parameters
    ----------
    record : `Comparison.as_dict()`, as it stands in real_tables.json.
    data : the folder that holds the tables.

    Returns
    -------
    worker, item, system (integer codes; system 0 is A) and rating on [0, 1]; each of shape (N,).
    """
    table = pd.read_csv(data / record["file"], dtype=str, keep_default_na=False)
    columns, scale = record["columns"], record["scale"]
    kept = table[columns["system"]].isin(record["systems"])
    for column, value in record["where"].items():
        kept &= table[column] == value
    rows = table[kept]
    share = (rows[columns["rating"]].astype(float) - scale["low"]) / (scale["high"] - scale["low"])
    return {
        "worker": pd.factorize(rows[columns["worker"]])[0].astype(np.int64),
        "item": pd.factorize(rows[columns["item"]])[0].astype(np.int64),
        "system": (rows[columns["system"]] == record["systems"][1]).to_numpy(np.int64),
        "rating": (share if scale["higher_is_better"] else 1 - share).to_numpy(float),
    }
