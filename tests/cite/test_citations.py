"""What to cite: a register that every BibTeX reads, works by what a record says was done, keys in the paper."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cases import each_case
from places import ROOT
from study_files import run

from humeval_power.choices import CORRECTIONS
from humeval_power.errors import InputError
from humeval_power.references import REFERENCES, Reference, citation_key, reference
from humeval_power.safe_text import latex_text
from humeval_power.studies.cite.result import CITE_COMMAND, cite, entry, with_citations

NAMED = re.compile(
    r"\(([A-Z][\w']+(?:(?:, [A-Z]\w+)* and [A-Z]\w+| et al\.)? (?:19|20)\d\d)[;)]"
)  # in parentheses, as forms name a work
NEEDED = {
    "article": {"journal", "volume", "number", "pages"},
    "book": {"publisher", "address"},
    "inproceedings": {"booktitle", "pages", "publisher"},
    "misc": {"eprint", "url"},
}
GAUSSIAN = {"estimator": "reml", "df": "kenward-roger", "alternative": "two-sided"}
FAMILY = {"comparisons": "all-pairs", "correction": "holm", "variances": "own", "n_tests": 28}


def works(record: dict[str, Any]) -> set[str]:
    """How texts name what is cited for a record, without the program."""
    return {work.named for work in cite(record).uses} & set(REFERENCES)


@each_case("work", REFERENCES.values(), ids=lambda work: work.key)
def test_every_work_is_complete(work: Reference) -> None:
    assert NEEDED[work.kind] <= {name for name, text in work.details.items() if text}
    assert re.fullmatch(r"[a-z-]+-(19|20)\d\d", work.key)
    assert all("," in name for name in work.authors)
    if "pages" in work.details:
        first, last = map(int, work.details["pages"].split("-"))
        assert first < last
    if "doi" in work.details:
        assert re.fullmatch(r"10\.\d{4,5}/\S+", work.details["doi"])


def test_runs_cite_the_test_that_their_kind_asks_for() -> None:
    record = {
        "schema": "humeval_power/runs_test/1",
        "rows": [{}],
        "signature": "humeval_power|runs|items:9",
    }
    assert works({**record, "kind": "nested"}) == {"Miller 2024"}
    in_clusters = f"{record['signature']}|cluster:passage:12|version:1"
    found = works({**record, "kind": "nested", "signature": in_clusters})
    assert found == {"Miller 2024", "Bell and McCaffrey 2002"}
    crossed = works({**record, "kind": "crossed", "rows": [{}, {}, {}], "alternative": "equivalent"})
    assert {"Kenward and Roger 1997", "Holm 1979", "Schuirmann 1987"} <= crossed


@each_case(
    ("signature", "cited"),
    [
        ("v:1|model:paired|test:t|cluster:passage:24", {"Bell and McCaffrey 2002"}),
        (
            "model:ppi++|n:60|cluster:doc:30",
            {"Angelopoulos, Duchi and Zrnic 2023", "Bell and McCaffrey 2002"},
        ),
        ("model:lmm+judge|df:kr|cluster:doc:30|corr:holm", {"Kenward and Roger 1997", "Holm 1979"}),
        ("model:bradley-terry|ties:rao-kupper", {"Bradley and Terry 1952", "Rao and Kupper 1967"}),
        (
            "model:bradley-terry|ties:davidson|corr:max-t",
            {"Bradley and Terry 1952", "Davidson 1970", "Hothorn, Bretz and Westfall 2008"},
        ),
    ],
)
def test_a_signature_says_what_was_done(signature: str, cited: set[str]) -> None:
    assert works({"schema": "humeval_power/some/1", "signature": f"humeval_power|{signature}"}) == cited


def test_no_two_works_have_one_key() -> None:
    assert len({work.key for work in REFERENCES.values()}) == len(REFERENCES)


def test_a_work_is_found_by_how_texts_name_it() -> None:
    assert citation_key("Card et al. (2020)") == citation_key("Card et al. 2020") == "card-et-al-2020"
    assert citation_key("Holm 1979") == "holm-1979"
    assert reference("Hothorn, Bretz and Westfall (2008)").year == 2008
    with pytest.raises(InputError, match="no reference 'Nobody 1900'"):
        citation_key("Nobody 1900")


@each_case(
    ("record", "cited"),
    [
        ({"schema": "humeval_power/parameters/1"}, set()),
        (
            {"schema": "humeval_power/parameters/1", "effect": {"rule": GAUSSIAN}},
            {"Patterson and Thompson 1971", "Kenward and Roger 1997"},
        ),
        (
            {"rule": {**GAUSSIAN, "estimator": "ml", "df": "satterthwaite"}},
            {"Satterthwaite 1946"},
        ),
        ({"rule": {**GAUSSIAN, "estimator": "ml", "df": "normal"}}, set()),
        (
            {"rule": {**GAUSSIAN, "alternative": "equivalent"}},
            {"Patterson and Thompson 1971", "Kenward and Roger 1997", "Schuirmann 1987"},
        ),
        ({"family_of_tests": FAMILY}, {"Holm 1979"}),
        ({"family_of_tests": {**FAMILY, "n_tests": 1}}, set()),
        ({"family_of_tests": {**FAMILY, "correction": "bonferroni"}}, set()),
        ({"family_of_tests": {**FAMILY, "correction": "bh"}}, {"Benjamini and Hochberg 1995"}),
        (
            {"family_of_tests": {**FAMILY, "correction": "max-t", "comparisons": "baseline"}},
            {"Hothorn, Bretz and Westfall 2008", "Dunnett 1955", "Hasler and Hothorn 2008"},
        ),
        (
            {"criteria": [{"agreement": {"between": [{"measure": "Krippendorff's alpha", "value": 0.4}]}}]},
            {"Krippendorff 2004"},
        ),
        ({"agreement": {"between": [{"measure": "Krippendorff's alpha", "value": None}]}}, set()),
        ({"schema": "humeval_power/plan/4"}, {"Card et al. 2020"}),
        (
            {"schema": "humeval_power/plan/4", "study": {"looks": [0.5, 1.0], "efficacy": "pocock"}},
            {"Card et al. 2020", "Pocock 1977"},
        ),
        ({"schema": "humeval_power/plan_search/2"}, {"Card et al. 2020"}),
        ({"goals": {"best_margin": {"estimate": 0.1}}}, {"Hsu 1984"}),
        ({"goals": {"best_margin": None}}, set()),
        (
            {"looks": {"efficacy": "lan-demets-obrien-fleming", "shares": [0.5, 1.0]}},
            {"Lan and DeMets 1983", "O'Brien and Fleming 1979"},
        ),
        ({"looks": {"efficacy": "pocock", "shares": [0.5, 1.0]}}, {"Pocock 1977"}),
        ({"heds-ethics-review_body": {"data": {}}}, {"Belz and Thomson 2024"}),
    ],
)
def test_the_works_are_those_of_what_was_done(record: dict[str, Any], cited: set[str]) -> None:
    assert works(record) == cited


def test_the_program_is_cited_in_the_version_that_made_the_records() -> None:
    made = [{"versions": {"humeval-power": version}} for version in ("0.2.0", "0.1.0", "0.2.0")]
    assert "note = {Versions 0.1.0 and 0.2.0}" in cite(*made).bibtex
    assert cite(*made).bibtex.count("@") == 1
    assert len(cite(everything=True).uses) == len(REFERENCES) + 1


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="bibtex is not installed")
def test_bibtex_reads_every_entry_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(cite(everything=True).bibtex)
    (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{refs}\n")
    done = subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout
    made = (tmp_path / "all.bbl").read_text()
    assert made.count("\\bibitem") == len(REFERENCES) + 1
    assert "allowbreak" not in made


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_pandoc_reads_every_entry_as_it_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "refs.bib"
    path.write_text("\n\n".join(map(entry, REFERENCES.values())) + "\n")
    told = subprocess.run(
        ["pandoc", "--from", "bibtex", "--to", "csljson", path], capture_output=True, text=True, check=True
    )
    found = {one["id"]: one for one in json.loads(told.stdout)}
    for work in REFERENCES.values():
        one = found[work.key]
        assert one["title"].replace("\u2019", "'") == work.title
        assert [name["family"].replace("\u2019", "'") for name in one["author"]] == list(work.families)
        assert one["issued"]["date-parts"][0][0] == work.year
        assert one.get("DOI", "") == work.details.get("doi", "")


def test_every_work_that_forms_name_has_its_key() -> None:
    package = ROOT / "humeval_power"
    report = (package / "studies" / "report").rglob("*.py")
    files = [*report, package / "saying" / "rule_words.py"]
    said = {name for file in files for name in NAMED.findall(file.read_text(encoding="utf-8"))}
    said |= {correction.source for correction in CORRECTIONS.values() if correction.source}
    assert {"Holm 1979", "Schuirmann 1987"} <= said
    assert said <= set(REFERENCES)


def test_a_paper_cites_by_the_keys() -> None:
    for said in (
        "Holm 1979",
        "Hothorn, Bretz and Westfall 2008",
        "Card et al. (2020)",
        "O'Brien and Fleming 1979",
    ):
        shown = latex_text(said)
        assert with_citations(f"so ({shown}).") == f"so (\\humevalcite{{{citation_key(said)}}}{{{shown}}})."
    assert with_citations("Holm, 1979 workers") == "Holm, 1979 workers"
    assert CITE_COMMAND.startswith("\\providecommand")


def test_the_command_prints_entries_and_writes_them(tmp_path: Path) -> None:
    record = {"schema": "humeval_power/analysis/1", "rule": GAUSSIAN, "family_of_tests": FAMILY}
    (tmp_path / "analysis.json").write_text(json.dumps(record))
    printed = run("cite", tmp_path / "analysis.json").stdout
    assert [line for line in printed.split("\n") if not line.startswith("%")] == cite(record).bibtex.split(
        "\n"
    )
    assert "% Holm 1979: Holm's correction.\n@article{holm-1979," in printed
    run("cite", tmp_path, "-o", tmp_path / "refs.bib")
    assert (tmp_path / "refs.bib").read_text() == printed
    told = run("cite", tmp_path, "--format", "markdown").stdout
    assert "| Holm 1979 | holm-1979 | Holm's correction |" in told
    assert run("cite").stdout.count("@") == 1


@pytest.mark.parametrize("content", ['{"schema": "other/1"}', "[]", "no JSON", "{}"])
def test_what_is_no_record_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    assert "file.json" in run("cite", path, code=2).stderr
    assert "no record" in " ".join(
        run("cite", tmp_path / "file.json", tmp_path, code=2).stderr.split()
    ) or (content in ("[]", "no JSON"))


def test_tests_of_ranks_and_by_resampling_are_cited() -> None:
    clustered = {"signature": "humeval_power|model:independent-ratings|test:mann-whitney|cluster:worker:10"}
    assert works(clustered) >= {"Mann and Whitney 1947", "Brunner and Munzel 2000", "Obuchowski 1997"}
    assert works({"signature": "humeval_power|test:bootstrap-t|n:90"}) == {"Efron and Tibshirani 1993"}
