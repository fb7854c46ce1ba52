"""Parameters from a file, with all that it says of the study that they come from."""

from __future__ import annotations

from pathlib import Path

from humeval_power.assumptions import Assumed
from humeval_power.interfaces.formats.documents.reading import read_parameters
from humeval_power.interfaces.formats.study.presets import assumed_of


def read_assumed(path: str | Path, *, allow_not_identified: bool = False) -> Assumed:
    """The parameters that `fit` wrote to a file, with the scale, the systems and the uncertainty of their study;
    they are called as the file is.

    Raises
    ------
    InputError
        A missing or impossible parameter; or standard deviations that the fitted table could not tell
        apart, unless `allow_not_identified`.
    """
    _, document = read_parameters(path, allow_not_identified=allow_not_identified)
    name, place = Path(path).stem, str(path)
    return assumed_of(document, name, origin="file", file=place, allow_not_identified=allow_not_identified)
