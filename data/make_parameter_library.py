"""Fit public rating tables and write the library of parameters that comes with the package.

    HUMEVAL_SHARED=DIR python data/make_parameter_library.py            write parameter_library.json anew
    HUMEVAL_SHARED=DIR python data/make_parameter_library.py --check    end with 1 if a figure would differ

DIR holds `data/` (the tables, with their licences) and `published/` (Tables 13 to 16 of Card et al. 2020). Only
figures are written, no rows. Each fit is the `humeval-power fit` command of its entry, run inside DIR/data.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from humeval_power.doors.terminal.main import main as humeval_power
from humeval_power.files.documents.reading import to_json
from humeval_power.studies.power.parameter_library import WORTH_OF_A_FIT, LibraryEntry, library_record

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "humeval_power" / "studies" / "power" / "parameter_library.json"
APACHE = "Apache-2.0, http://www.apache.org/licenses/LICENSE-2.0; figures computed from a reshaped table"
TOLERANCE = 1e-6  # of a figure relative to 1; solvers stop within it on any machine

NOT_SLOPES = (
    "published SDs of correlated per-system effects, not slopes: their model gave every system a random level "
    "of its own and left the correlations of the levels out, so that the SD of a difference cannot be had from "
    "them (refitted to the public ratings of Dathathri et al., the levels correlate at .85 to .98); see 'The "
    "presets are not typical' in docs/limitations.md. Do not plan from them."
)


@dataclass(frozen=True)
class Source:
    """A table, what its columns mean and where it comes from."""

    file: str
    options: str
    worker: str
    item: str
    paper: str
    data: str
    licence: str
    caveat: str = ""
    kind: str = ""


PPLM = Source(
    "pplm_fluency.csv",
    "--item prompt --scale 1:5",
    "crowd worker",
    "prompt: topic and seed, continued by every system several times",
    "Dathathri et al. (2020), Plug and Play Language Models, ICLR",
    "github.com/uber-research/PPLM, human_annotation/pplm_labeled_csvs",
    APACHE,
    "A worker rates the same passage in several comparisons, so ratings of a worker, item and system repeat (3 "
    "times and more) and are not independent; the item SDs hold the differences between passages.",
    kind="points",
)
SQUALITY = Source(
    "squality.csv",
    "--criterion overall --scale 0:100",
    "one of the four people who judged summaries",
    "question about a story",
    "Wang et al. (2022), SQuALITY: Building a Long-Document Summarization Dataset the Hard Way, EMNLP",
    "github.com/nyu-mll/SQuALITY, data/human-eval/all-responses.jsonl",
    "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/, Alex Wang, Richard Yuanzhe Pang, Angelica Chen, "
    "Jason Phang, Samuel R. Bowman; figures computed from the ratings",
    "Four workers say little about how workers differ: plan from the upper limit of the worker slope, with "
    "'plan --safe'.",
    kind="slider",
)
MQM = Source(
    "",
    "--scale=-25:0",
    "professional translator who marked errors",
    "segment of a document",
    "Freitag et al. (2021), Experts, Errors, and Context, TACL, and the WMT 2023 campaign",
    "github.com/google/wmt-mqm-human-evaluation",
    APACHE,
    "Scores are sums of error penalties, heaped at 0 and skewed: a normal model is an approximation.",
    kind="penalties",
)
ENDE = replace(
    MQM, file="wmt23_sxs_mqm_ende.csv", data=f"{MQM.data}, generalMT2023, en-de, 3 ratings per segment"
)
ZHEN = replace(
    MQM, file="wmt23_sxs_mqm_zhen.csv", data=f"{MQM.data}, generalMT2023, zh-en, 3 ratings per segment"
)
TED = replace(
    MQM,
    file="ted_mqm_ende.csv",
    data=f"{MQM.data}, ted, en-de",
    paper="Freitag et al. (2021), Experts, Errors, and Context, TACL, and the MQM campaign on TED talks",
    caveat="One rating per segment and system: item variance and noise cannot be told apart, so figures may be "
    "carried only into designs with one rating. Four workers. " + MQM.caveat,
)
DIALOGUE = Source(
    "dialogue_eval.csv.gz",
    "--scale 0:100",
    "crowd worker",
    "HIT: one worker's conversations with several chatbots",
    "Ji et al. (2022), Achieving Reliable Human Assessment of Open-Domain Dialogue Systems, ACL",
    "github.com/TianboJi/Dialogue-Eval, dialogue_data",
    "MIT, Copyright (c) 2021 TianboJi; figures computed from the ratings",
    "Only the worker who held a conversation rates it: items lie within workers, with one rating each, so item "
    "variance and noise cannot be told apart and the worker SDs rest on the few workers with several HITs. Workers "
    "who failed the authors' quality control are in it.",
    kind="slider",
)
VIDEO = Source(
    "",
    "--scale 1:5",
    "viewer in a laboratory",
    "source clip",
    "Li et al. (2020), A Simple Model for Subject Behavior in Subjective Experiments, and the makers of the test",
    "github.com/Netflix/sureal",
    APACHE,
    kind="video",
)
VQEG = replace(
    VIDEO,
    file="vqeghd3.csv",
    data=f"{VIDEO.data}, VQEGHD3 (VQEG, HDTV phase I)",
    caveat="Video quality, not language; complete, but only 8 items.",
)
NFLX = replace(
    VIDEO,
    file="nflx_public.csv",
    data=f"{VIDEO.data}, NFLX public",
    caveat="Video quality, not language. A system is a frame height; clips of several bitrates share a cell, so "
    "the residual holds their differences.",
)
AGH = replace(
    VIDEO,
    file="agh_tv.csv",
    data=f"{VIDEO.data}, quality_variation_2017_agh_tv (AGH)",
    caveat="Video quality, not language. A system is a bitrate at the start; clips that end at several bitrates "
    "share a cell, so the residual holds their differences. Two groups of viewers saw different ends.",
)

# name, source, A, B, further options, summary
FITS = (
    (
        "pplm-fluency-rerank",
        PPLM,
        "B",
        "BR",
        "",
        "Fluency of continuations: language model, and with reranking",
    ),
    (
        "pplm-fluency-gradient",
        PPLM,
        "B",
        "BC",
        "",
        "Fluency of continuations: language model, and steered by PPLM",
    ),
    ("pplm-fluency-steered", PPLM, "BC", "BCR", "", "Fluency of continuations: PPLM, and with reranking"),
    ("squality-bart-human", SQUALITY, "bart", "human", "", "Overall quality of summaries: BART and people"),
    (
        "squality-bart-dpr",
        SQUALITY,
        "bart",
        "bart-dpr",
        "",
        "Overall quality of summaries: BART, and with retrieval",
    ),
    ("wmt23-ende-online", ENDE, "ONLINE-Y", "ONLINE-A", "", "Translation en-de, MQM: two online systems"),
    (
        "wmt23-ende-gpt4",
        ENDE,
        "refA",
        "GPT4-5shot_with_refA",
        "",
        "Translation en-de, MQM: human and GPT-4",
    ),
    ("wmt23-zhen-hwtsc-gpt4", ZHEN, "HW-TSC", "GPT4-5shot", "", "Translation zh-en, MQM: HW-TSC and GPT-4"),
    (
        "wmt23-zhen-iol-online",
        ZHEN,
        "IOL_Research",
        "ONLINE-A",
        "",
        "Translation zh-en, MQM: IOL and an online system",
    ),
    (
        "ted-ende",
        TED,
        "Facebook-AI",
        "Online-W",
        "",
        "Translation of talks en-de, MQM: Facebook and an online system",
    ),
    ("dialogue-fluent", DIALOGUE, "B", "A", "--criterion fluent", "Fluency of chatbots in conversation"),
    (
        "dialogue-interesting",
        DIALOGUE,
        "B",
        "A",
        "--criterion interesting",
        "Interest of chatbots in conversation",
    ),
    ("vqeg-hd3-near", VQEG, "hrc07", "hrc21", "", "Video quality: two processings that differ little"),
    ("vqeg-hd3-far", VQEG, "hrc18", "hrc19", "", "Video quality: two processings that differ much"),
    ("netflix-720p-1080p", NFLX, "720p", "1080p", "", "Video quality: 720 and 1080 lines"),
    ("agh-tv-4000-6000", AGH, "b4000", "b6000", "", "Video quality: 4000 and 6000 kbit/s"),
)
# Of each kind of judgement that people plan for without a pilot: the fit that asks for neither most nor least
# (of two the one that asks for more), and the one that asks for least.
STANDING = {
    "pplm-fluency-steered": "typical",
    "pplm-fluency-rerank": "hopeful",
    "squality-bart-human": "typical",
    "squality-bart-dpr": "hopeful",
    "wmt23-zhen-hwtsc-gpt4": "typical",
    "wmt23-ende-online": "hopeful",
}


def fitted_entry(fit: tuple[str, Source, str, str, str, str], data: Path) -> LibraryEntry:
    """Run the command of one fit, and keep its document."""
    name, source, a, b, further, summary = fit
    words = [
        "fit",
        source.file,
        "--systems",
        f"{a},{b}",
        *shlex.split(source.options),
        *shlex.split(further),
    ]
    command = shlex.join(["humeval-power", *words])
    os.chdir(data)
    result = CliRunner().invoke(humeval_power, [*words, "--json", "--quiet"])
    if result.exit_code != 0:
        raise SystemExit(f"{command}\n{result.stderr}")
    document = json.loads(result.stdout)
    document["command"] = command
    return LibraryEntry(
        name=name,
        summary=summary,
        worth=WORTH_OF_A_FIT.format(command=command),
        worker=source.worker,
        item=source.item,
        paper=source.paper,
        data=source.data,
        licence=source.licence,
        caveat=source.caveat,
        kind=source.kind,
        standing=STANDING.get(name, ""),
        document=document,
    )


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a published table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(row: dict[str, str]) -> dict[str, float]:
    """The figures of a row that has some."""
    return {name: float(text) for name, text in list(row.items())[1:] if text}


def card_entries(published: Path) -> list[LibraryEntry]:
    """Tables 13 to 16 of Card et al. (2020): shown, not planned from."""
    paper = "Card et al. (2020), With Little Power Comes Great Responsibility, EMNLP"
    entries = [
        LibraryEntry(
            name=f"card2020-{row['setting']}",
            summary=f"Setting '{row['setting']} variance' of Card et al., under the coding -1, +1",
            worth=NOT_SLOPES,
            paper=paper,
            data="Table 16",
            licence="figures of a published paper",
            caveat=f"'--preset {row['setting']}' has these figures, to reproduce the paper's Figure 6.",
            published={"Table 16": {**numbers(row), "coding": "-1, +1"}},
        )
        for row in rows_of(published / "card2020_table16_variance_settings.csv")
    ]
    tables = {
        "Table 13, fixed effects": "card2020_table13_fixed_effects.csv",
        "Table 14, SDs of workers": "card2020_table14_worker_sds.csv",
        "Table 15, SDs of items": "card2020_table15_item_sds.csv",
    }
    by_table = {title: rows_of(published / file) for title, file in tables.items()}
    for row in rows_of(published / "card2020_table12_datasets.csv"):
        study = row["dataset"]
        nested = " Items are texts, most of which belong to one system, so their SDs hold the differences of texts."
        entries.append(
            LibraryEntry(
                name=f"card2020-{slug(study)}",
                summary=f"{study}, as Card et al. fitted it: {row['workers']} workers, {row['items']} items",
                worth=NOT_SLOPES,
                paper=paper,
                data="Tables 12 to 15",
                licence="figures of a published paper",
                caveat=("See pplm-fluency-... for honest fits." + nested) if "Dathathri" in study else "",
                published={
                    title: next(numbers(line) for line in lines if line["dataset"] == study)
                    for title, lines in by_table.items()
                },
            )
        )
    return entries


def slug(study: str) -> str:
    """A short name: 'Hashimoto et al. (2019) LM' becomes 'hashimoto-lm'."""
    words = (
        study.replace("summarization", "summaries")
        .replace("et al.", "")
        .replace("(2019)", "")
        .replace("(2020)", "")
        .split()
    )
    return "-".join(words).lower()


def same(old: Any, new: Any) -> bool:
    """Whether two documents agree, figures within the tolerance and versions not looked at."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            key == "versions" or same(old[key], new[key]) for key in old
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=1e-4, abs_tol=TOLERANCE)
    return bool(old == new)


def main() -> None:
    """Write the library, or compare it."""
    shared = Path(os.environ.get("HUMEVAL_SHARED", ROOT.parent / "shared")).resolve()
    if not (shared / "data").is_dir():
        sys.exit(
            f"The ratings are not here: HUMEVAL_SHARED is to name a folder with the tables in data/, not {shared}. "
            "They are not passed on; 'humeval-power more parameters show NAME' says where those of an entry are."
        )
    entries = [fitted_entry(fit, shared / "data") for fit in FITS] + card_entries(shared / "published")
    text = to_json(library_record(entries))
    if "--check" not in sys.argv[1:]:
        LIBRARY.write_text(text, encoding="utf-8")
    elif not same(json.loads(LIBRARY.read_text(encoding="utf-8")), json.loads(text)):
        raise SystemExit(f"{LIBRARY} is stale: run python data/make_parameter_library.py")


if __name__ == "__main__":
    main()
