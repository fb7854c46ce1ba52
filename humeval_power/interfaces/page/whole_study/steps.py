"""A whole study out of a plan: its steps in order, and all of it as one HTML file or as a zip.

The plan is followed by its power, the assignment, the preregistration, the recommendations of Card et al. (2020)
and a rehearsal. Workers see codes; what these stand for, and the seed of the order, which is as telling, lie in
`private/` and nowhere else. The rehearsal lies there too, since it names systems beside codes.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from humeval_power.interfaces.page.answers import Answer
from humeval_power.reporting.start.script import GOES_ON
from humeval_power.safe_text import shell_command

PRIVATE = "private"
PLAN = "plan"
KEY, SEED = f"{PRIVATE}/key.csv", f"{PRIVATE}/seed.txt"
_PROGRAM = "humeval-power"
_SEED_WORD = "SEED"  # stands for the secret seed until a step runs


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a study.

    folder : where its files lie in the study.
    words : as they are typed in the folder of the study, without where its files go.
    reads : files of earlier steps that it reads.
    writes : files beside its folder.
    """

    folder: str
    title: str
    words: tuple[str, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether its files are for whoever runs the study alone."""
        return self.folder.startswith(f"{PRIVATE}/")

    def words_with(self, seed: int) -> tuple[str, ...]:
        """The words with the secret seed in its place."""
        return tuple(str(seed) if word == _SEED_WORD else word for word in self.words)

    def line(self, more: Sequence[str] = ()) -> str:
        """The command as the script has it, which reads the seed from its file."""
        words = [_PROGRAM, *self.words, *more, "-o", f"{self.folder}/", "--force"]
        return shell_command(words).replace(f"--seed {_SEED_WORD}", f'--seed "$(cat {SEED})"')


def steps_of(plan_words: Sequence[str], *, n_systems: int = 2) -> tuple[Step, ...]:
    """All steps, of the words of `plan`; with more than two systems the forms take the power from the plan."""
    plan = "plan/plan.json"
    followed = ("--plan", plan)
    power = "power/record.json"
    says, told = (("--power-file", power), (power,)) if n_systems == 2 else ((), ())
    secret = ("--seed", _SEED_WORD, "--key", KEY)
    rehearsed = ("--assignment", "assignment/table.csv", "--key", KEY)
    forms = {
        "osf": "Preregistration (OSF)",
        "aspredicted": "Preregistration (AsPredicted)",
        "card2020": "Power statement (recommendations of Card et al. 2020)",
    }
    return (
        Step(PLAN, "The plan", tuple(plan_words)),
        Step("power", "Its power", ("power", *followed), (plan,)),
        Step("assignment", "Who rates what", ("assign", *followed, *secret), (plan,), (KEY,)),
        *(
            Step(
                f"forms/{form}",
                title,
                ("report", *followed, *says, "--form", form, "--no-memory"),
                (plan, *told),
            )
            for form, title in forms.items()
        ),
        Step(
            f"{PRIVATE}/rehearsal",
            "A rehearsal, with ratings of nobody",
            ("simulate", *followed, *rehearsed),
            (plan, "assignment/table.csv", KEY),
        ),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """A step that is done: what it said, and its files by their names in the study."""

    step: Step
    answer: Answer
    files: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class WholeStudy:
    """All parts of a study.

    inputs : the files that the plan was made of, by the names that its words give them.
    seed : of the order of the assignment; secret.
    """

    parts: tuple[Part, ...]
    inputs: Mapping[str, Path]
    seed: int

    @property
    def script(self) -> str:
        """A script of the shell that writes everything again."""
        return "\n".join((*_HEAD, *self._lines(), "finish", ""))

    def _lines(self) -> Iterator[str]:
        for part in self.parts:
            step = part.step
            if any(file.startswith(f"{PLAN}/") for file in step.reads):
                yield f"rests_on {PLAN}"
            yield f"out={step.folder} && {step.line(self._dated(part)).replace(_PROGRAM, 'run', 1)}"

    def _dated(self, part: Part) -> tuple[str, ...]:
        """The date of the plan, where its words leave it to the day."""
        if part.step.folder != PLAN or "--date" in part.step.words:
            return ()
        created = json.loads(part.files["plan/plan.json"].read_text("utf-8")).get("created")
        return ("--date", str(created)[:10]) if created else ()

    def files(self, index: str) -> dict[str, bytes]:
        """Everything by its name, with the page that links all of it."""
        found = {name: path.read_bytes() for part in self.parts for name, path in part.files.items()}
        found |= {name: path.read_bytes() for name, path in self.inputs.items()}
        found["index.html"] = index.encode()
        found["run.sh"] = self.script.encode()
        found[SEED] = f"{self.seed}\n".encode()
        return found


_HEAD = (
    "#!/bin/sh",
    "# Writes every file of this study again, in the folder that this script is in.",
    "set -eu",
    'cd "$(dirname "$0")"',
    f"rm -f {PLAN}.missed",
    GOES_ON,
)


def zipped(files: Mapping[str, bytes], folder: str) -> bytes:
    """Files in a zip that is the same each time."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(f"{folder}/{name}")
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if name.endswith(".sh") else 0o644) << 16
            archive.writestr(info, files[name])
    return content.getvalue()
