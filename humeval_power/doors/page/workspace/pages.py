"""The pages of studies: home, stages with their answers, what is saved and what is done."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from humeval_power.asking.run import EXIT_TARGET_MISSED
from humeval_power.asking.study_file import parsed_study
from humeval_power.doors.page.answers import Answer, Work, Wrong
from humeval_power.doors.page.requests import PageParts, upload_of
from humeval_power.doors.page.responses import attachment, not_there, wants_json, zipped
from humeval_power.doors.page.score_reading import columns_in, link_of_battles
from humeval_power.doors.page.views import Surroundings, rendered
from humeval_power.doors.page.working.jobs import stamp
from humeval_power.doors.page.workspace.bundle import bundle_of
from humeval_power.doors.page.workspace.examples import EXAMPLES
from humeval_power.doors.page.workspace.stages import (
    ACTS,
    ANSWERS,
    BY_KEY,
    KEPT,
    SUGGESTED,
    Act,
    Stage,
    StageCommand,
    change_of,
    field_read,
    is_look_due,
    is_settled,
    looks_taken,
    open_of,
    pilot_read,
    question_of,
    report_of,
    sealed_words,
    ways_out,
    with_fewer,
)
from humeval_power.doors.page.workspace.studies import (
    MOST_FILES,
    TEXTS,
    WRITTEN,
    ChangedError,
    OpenedStudy,
    Studies,
    WrongFieldsError,
    as_typed,
    beside,
    paths_of,
    typed_of,
)
from humeval_power.doors.page.workspace.views import (
    StageShown,
    conflict_page,
    home_page,
    is_read,
    may_be_wide,
    saved_json,
    stage_json,
    stage_page,
)
from humeval_power.doors.page.workspace.written import written_by_path
from humeval_power.errors import InputError
from humeval_power.safe_text import file_stems
from humeval_power.study import FIELDS, FILE_NAME

_LONGEST_TRIAL = 30.0  # seconds until answers are kept without the forms having taken them
_MOST_FIELDS = 300  # of one form
_MOST_READ = 5_000  # of the form that says how a file is read


@dataclass(slots=True)
class _StageJob:
    """What was begun at a stage by a button: the job, the form that was asked for, and the version of the study
    that its answer is about, which is not known before it has written."""

    act: str
    key: str
    form: str
    version: str = ""


class Workspace:
    """The requests about studies."""

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._studies = None if parts.folder is None else Studies(parts.folder)
        self._begun: dict[tuple[str, str], _StageJob] = {}
        self._asked: dict[str, set[str]] = {}  # the answers that stages of a study ask for by themselves
        self._beginning: set[str] = set()  # studies into which a command is about to write

    @property
    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/", self.home),
            Route("/have", self.have),
            Route("/studies/{kind}", self.begin, methods=["POST"]),
            Route("/rename/{name:path}", self.rename, methods=["POST"]),
            Route("/act/{act}/{name:path}", self.act, methods=["POST"]),
            Route("/zip/{name:path}", self.take),
            Route("/file/{name:path}", self.file),
            Route("/answers/{name:path}", self.answers, methods=["POST"]),
            Route("/table/{name:path}", self.table, methods=["POST"]),
            Route("/texts/{name:path}", self.texts, methods=["POST"]),
            Route("/leave/{name:path}", self.leave, methods=["POST"]),
            Route("/here/{name:path}", self.here),
            *(
                Route(path, view, methods=[method])
                for path in ("/study/{stage}", "/study/{name:path}/{stage}")
                for view, method in ((self.stage, "GET"), (self.save, "POST"))
            ),
        ]

    @property
    def _known(self) -> Studies:
        if self._studies is None:
            raise InputError("The page was opened without a folder, and keeps no studies.")
        return self._studies

    async def _study(self, request: Request) -> OpenedStudy:
        return await run_in_threadpool(self._known.open, request.path_params.get("name", ""))

    async def home(self, _request: Request) -> Response:
        """All studies, and how to begin one."""
        opened: list[OpenedStudy | tuple[str, str]] = []
        if self._studies is not None:
            for name in await run_in_threadpool(self._studies.names):
                try:
                    opened.append(await run_in_threadpool(self._studies.open, name))
                except InputError as error:
                    opened.append((name, str(error)))
        folder = "" if self._parts.folder is None else str(self._parts.folder.path)
        return HTMLResponse(home_page(opened, folder, Surroundings(self._parts.form_token)))

    async def have(self, request: Request) -> Response:
        """Ratings were brought: what is the study called?"""
        upload = request.query_params.get("ratings", "")
        known = upload_of(upload)
        if known is None:
            raise InputError("Bring the table of ratings first.")
        columns = await columns_in(self._parts, [upload])
        if columns is not None and columns.are_battles:
            return _to(link_of_battles(upload))
        return HTMLResponse(
            rendered(
                "have.html",
                title="A study of these ratings",
                file=known[0],
                proposed=known[0].partition(".")[0],
                upload=upload,
                form_token=self._parts.form_token,
            )
        )

    async def begin(self, request: Request) -> Response:
        """Begin a study: an empty one, a worked example, or one of ratings that are there."""
        kind = request.path_params["kind"]
        sent = await _sent(request)
        stage, view = "question", dict[str, str]()
        if kind == "new":
            values: Mapping[str, object] = SUGGESTED
            files: Mapping[str, bytes] = {}
        elif kind in EXAMPLES:
            example = EXAMPLES[kind]
            values, files, stage = example.values, await run_in_threadpool(example.contents), example.stage
        elif kind == "answers":
            values, files, stage = await self._of_answers(sent.get("study", ""), sent.get("file", ""))
        elif kind == "ratings":
            name, content = await self._uploaded(sent.get("ratings", ""))
            values, files, stage = {"ratings": name}, {name: content}, "decide"
            view = {"table": "open"}
        else:
            return not_there(request, None)
        name = sent.get("name", "") or (EXAMPLES[kind].name if kind in EXAMPLES else "")
        named = await run_in_threadpool(
            self._known.begin, self._free(name, kind in EXAMPLES), values, files
        )
        if kind in EXAMPLES and EXAMPLES[kind].opens:
            return _to(EXAMPLES[kind].opens.format(folder=named))
        return _to(_with_view((await run_in_threadpool(self._known.open, named)).link(stage), view))

    async def _of_answers(
        self, text: str, upload: str
    ) -> tuple[Mapping[str, object], Mapping[str, bytes], str]:
        """The study that the six questions made, its files, and the stage at which it begins."""
        values = dict(parsed_study(FILE_NAME, text).values)
        field = next((name for name in ("pilot", "ratings") if name in values and upload), "")
        if not field:
            return values, {}, "question"
        if upload_of(upload) is None:  # a file of the chosen folder, of which the study gets a copy
            place = await run_in_threadpool(self._known.folder.resolve, upload)
            name, content = place.name, await run_in_threadpool(place.read_bytes)
        else:
            name, content = await self._uploaded(upload)
        values[field] = name
        if values.get("pilot") == values.get("ratings"):  # which are still to come
            values["ratings"] = f"study-{name}"
        return values, {name: content}, "decide" if field == "ratings" else "question"

    async def rename(self, request: Request) -> Response:
        """Give a study a name."""
        before = request.path_params["name"]
        sent = await _sent(request)
        if self._is_writing(before):
            raise InputError(
                "A command writes into this study: wait for its end, or stop it, and name it then."
            )
        named = await run_in_threadpool(self._known.rename, before, sent.get("name", ""))
        for key in [key for key in self._begun if key[0] == before]:
            self._begun[named, key[1]] = self._begun.pop(key)
        return _to((await run_in_threadpool(self._known.open, named)).link("question"))

    async def stage(self, request: Request) -> Response:
        """A stage with its answer; as JSON the answer alone, to what is typed and not saved yet."""
        stage = BY_KEY.get(request.path_params["stage"])
        if stage is None:
            return not_there(request, None)
        study = await self._study(request)
        wanted = dict(request.query_params)
        typed = typed_of(study, wanted)
        return await self._shown(request, stage, study, typed, wanted)

    async def save(self, request: Request) -> Response:
        """Save what was typed, and show the answer."""
        stage = BY_KEY.get(request.path_params["stage"])
        if stage is None:
            return not_there(request, None)
        name = request.path_params.get("name", "")
        sent = await _sent(request)
        study = await self._study(request)
        typed = typed_of(study, sent)
        typed |= await self._brought(study, typed)
        try:
            study = await run_in_threadpool(self._known.save, name, sent.get("version", ""), typed)
        except ChangedError as error:
            return self._conflict(request, error, stage)
        except WrongFieldsError:
            return await self._shown(request, stage, study, typed, sent)
        if sent.get("next") in BY_KEY:
            return _to(study.link(sent["next"]))
        if not wants_json(request):
            return _to(_with_view(study.link(stage.key), sent))
        return JSONResponse(saved_json(stage, study, sent.get("open", "")))

    def _conflict(self, request: Request, error: ChangedError, stage: Stage) -> Response:
        """Both versions of what was changed meanwhile."""
        html = conflict_page(error, stage, self._parts.form_token)
        return JSONResponse({"conflict": html}) if wants_json(request) else HTMLResponse(html, 409)

    async def act(self, request: Request) -> Response:
        """Do what a button says, as a job; or end what was begun."""
        name = request.path_params["name"]
        sent = await _sent(request)
        study = await self._study(request)
        if request.path_params["act"] == "end":
            stage = sent.get("stage", "")
            if (begun := self._begun.get((name, stage))) is not None:
                self._parts.workers.stop(begun.key)
            return _to(study.link(stage if stage in BY_KEY else "question"))
        act = ACTS.get(request.path_params["act"])
        if act is None:
            return not_there(request, None)
        return await self._once(act, request.path_params["act"], study, sent)

    async def _once(self, act: Act, called: str, study: OpenedStudy, sent: dict[str, str]) -> Response:
        """Begin an act; not a second time while one writes into the study."""
        if not act.writes:
            return await self._begin(act, called, study, sent)
        if self._is_writing(study.name):  # a second click
            return _to(study.link(act.stage))
        self._beginning.add(study.name)
        try:
            return await self._begin(act, called, study, sent)
        finally:
            self._beginning.discard(study.name)

    async def _begin(self, act: Act, called: str, study: OpenedStudy, sent: dict[str, str]) -> Response:
        """Have the command of an act run as a job."""
        name, keeps = study.name, dict[str, str]()
        if act.keeps:
            lines = [line.strip() for line in sent.get(act.keeps, "").splitlines()]
            text = "".join(f"{line}\n" for line in lines if line)
            if not text:
                return _to(study.link(act.stage))
            kept = await run_in_threadpool(self._known.name_for, study, f"{act.keeps}.txt", text.encode())
            keeps, sent = {kept: text}, {**sent, act.keeps: text, KEPT: kept}
        if act.writes:
            study = await run_in_threadpool(self._known.save, name, study.version, act.names(study))
        if act.is_seeded:
            await run_in_threadpool(self._known.keep_seed, study)
        words = act.words(study, sent)
        if act.writes:
            await run_in_threadpool(self._known.files_of, study)  # all of them lie within the chosen folder
            work = Work(
                words,
                texts=((secrets.token_hex(8), ""),),
                within=str(study.folder),
                keeps=tuple(keeps.items()),
            )
        else:
            work = await run_in_threadpool(self._work, study, StageCommand(words, act.without))
        self._parts.workers.job(work.key, work)
        version = "" if act.writes else study.version
        self._begun[name, act.stage] = _StageJob(called, work.key, sent.get("form", ""), version)
        return _to(_with_view(study.link(act.stage), sent))

    async def answers(self, request: Request) -> Response:
        """Keep what only the authors know in the study's file of answers, once the forms take it."""
        name = request.path_params["name"]
        sent = await _all_sent(request)
        study = await self._study(request)
        path, text = await run_in_threadpool(self._known.answered, study, sent)
        named = await run_in_threadpool(self._known.edited, study, {"answers": path})
        question = question_of(BY_KEY["report"], named, {"form": ANSWERS})
        if question is not None:
            work = await run_in_threadpool(self._work, named, question)
            files = tuple(one for one in work.files if one[0] != beside(name, path))
            work = replace(work, files=files, texts=(*work.texts, (beside(name, path), text)))
            tried = self._parts.workers.job(work.key, work)
            await tried.wait(_LONGEST_TRIAL)
            if tried.answer is not None and tried.answer.problems:
                raise InputError("; ".join(wrong.text for wrong in tried.answer.problems))
        await run_in_threadpool(self._known.keep_answers, name, sent)
        return _to(f"{study.link('report')}?form={ANSWERS}")

    async def leave(self, request: Request) -> Response:
        """A study is left: what was begun in it is stopped, unless one of its pages is opened again at once."""
        for name, stage in list(self._begun):
            if name == request.path_params["name"]:
                self._parts.workers.leave(self._begun[name, stage].key)
        for key in self._asked.pop(request.path_params["name"], ()):
            self._parts.workers.leave(key)
        return Response(status_code=204)

    async def here(self, request: Request) -> Response:
        """Somebody has a page of a study open: what was begun in it goes on."""
        self._look(request.path_params["name"])
        return Response(status_code=204)

    def _look(self, name: str) -> None:
        """Ask for what was begun in a study, as somebody waits for it."""
        for (study, _), begun in self._begun.items():
            if study == name:
                self._parts.workers.job_of(begun.key)

    async def table(self, request: Request) -> Response:
        """How a file of ratings is to be read: keep it, forget it, or take the ratings by it."""
        from humeval_power.doors.page.workspace.reading import chosen, named_of, said_of, with_problems

        name = request.path_params["name"]
        sent = await _all_sent(request, _MOST_READ)
        one = {field: values[-1] for field, values in sent.items()}
        stage = BY_KEY["collect" if one.get("stage") == "collect" else "decide"]
        study = await self._study(request)
        table = await self._table(study, stage)
        if table is None or table.reading is None:
            raise InputError("There is no file of ratings here. Bring it first.")
        reading, mapping, typed = table.reading, "", dict[str, str]()
        if one.get("do") != "undo":
            said = await run_in_threadpool(chosen, reading, sent)
            try:
                mapping = await run_in_threadpool(said_of, reading, said)
                typed = named_of(study, reading, sent)
            except InputError as error:
                reading = with_problems(reading, said, error.problems)
                return await self._shown(
                    request, stage, study, {}, one, table=replace(table, reading=reading)
                )
        if one.get("do") == "take":
            typed |= await run_in_threadpool(self._taken, study, stage)
        try:
            study = await run_in_threadpool(
                self._known.save_mapping, name, one.get("version", ""), one.get("seen", ""), mapping, typed
            )
        except ChangedError as error:
            return self._conflict(request, error, stage)
        if one.get("do") == "take":
            return await self._once(ACTS["read"], "read", study, {})
        if not wants_json(request):
            return _to(_with_view(study.link(stage.key), {"table": "open"}))
        return await self._shown(request, stage, study, {}, {**one, "table": "open"})

    def _taken(self, study: OpenedStudy, stage: Stage) -> dict[str, str]:
        """The names of what is read, and of the table of ratings that comes of it."""
        exports = paths_of(study.file.values[field_read(study, stage)])
        ratings = as_typed(study.file.values.get("ratings"))
        if not ratings or ratings in exports:
            ratings = self._known.free_name(study, as_typed(WRITTEN["ratings"]))
        return {"exports": ", ".join(exports), "ratings": ratings}

    async def _table(self, study: OpenedStudy, stage: Stage, tab: str = "") -> Answer | None:
        """How the file of ratings of a study is read; None where there is none, or nobody can say it yet."""
        field = field_read(study, stage)
        if not field or not self._parts.workers.readiness.live:
            return None
        path, *others = paths_of(study.file.values[field])
        named = [beside(study.name, one) for one in (path, *others)]
        files = tuple(
            [(one, str(await run_in_threadpool(self._known.folder.resolve, one))) for one in named]
        )
        mapping = await run_in_threadpool(self._known.mapping_of, study)
        answer: Answer | None = None
        for words in (("import", path, "--draft"), ("import", path, "--draft", "--from", "table")):
            work = Work(words, files, at=study.name, reading=mapping, together=tuple(others))
            answer = await self._parts.workers.live(work, f"{tab} table" if tab else "")
            if answer is None or answer.reading is not None:
                break
        return answer

    async def texts(self, request: Request) -> Response:
        """How a table of texts is to be read: write it so, and have the study name that."""
        name, stage = request.path_params["name"], BY_KEY["collect"]
        sent = await _sent(request)
        study = await self._study(request)
        now = await self._texts(study)
        if now is None or now.texts is None:
            raise InputError("There is no table of texts here. Bring it first.")
        roles = tuple(
            (one.name, sent.get(f"role-{place}", "")) for place, one in enumerate(now.texts.columns)
        )
        made = await self._texts(study, said=roles)
        if made is None or made.texts is None or made.texts.problems:
            return await self._shown(request, stage, study, {}, {}, texts=made)
        if not made.texts.is_as_it_is:
            kept = await run_in_threadpool(self._known.keep, study, TEXTS, made.texts.written.encode())
            try:
                await run_in_threadpool(self._known.save, name, sent.get("version", ""), {"outputs": kept})
            except ChangedError as error:
                return self._conflict(request, error, stage)
        return _to(study.link(stage.key))

    async def _texts(
        self, study: OpenedStudy, tab: str = "", said: tuple[tuple[str, str], ...] | None = None
    ) -> Answer | None:
        """How the table of texts of a study is read, or as somebody said; None where there is none, or nobody can
        say it yet."""
        path = as_typed(study.file.values.get("outputs"))
        if not study.is_there("outputs") or (study.folder / path).is_dir():
            return None
        if not self._parts.workers.readiness.live:
            return None
        plan = as_typed(study.file.values.get("plan")) if study.is_there("plan") else ""
        files = await run_in_threadpool(self._known.files_of, study)
        work = Work(
            (),
            tuple((name, str(place)) for name, place in files.items()),
            at=study.name,
            texts_of=path,
            compares=tuple(study.file.values.get("systems") or ()),
            n_items=study.file.values.get("items") or 0,
            has_pool=study.is_there("pool"),
            plan=plan,
            said=said,
        )
        return await self._parts.workers.live(work, f"{tab} texts" if tab else "")

    async def take(self, request: Request) -> Response:
        """All of a study that may be given away, as a zip."""
        study = await self._study(request)
        bundle = await run_in_threadpool(bundle_of, self._known, study)
        contents = await run_in_threadpool(bundle.contents, study)
        (stem,) = file_stems([study.title], nameless="study")
        return attachment(zipped(contents, stem), f"{stem}.zip")

    async def file(self, request: Request) -> Response:
        """One of the files that a study lists, or a folder of them as a zip; never shown in the place of a page."""
        study = await self._study(request)
        one = await run_in_threadpool(written_by_path, study, request.query_params.get("path", ""))
        if one is None:
            return not_there(request, None)
        named, name = beside(study.name, one.path), one.path.rpartition("/")[2]
        if one.is_folder:
            start = len(named) + 1
            paths = await run_in_threadpool(self._known.folder.below, named, MOST_FILES)
            contents = {
                path[start:]: (await run_in_threadpool(self._known.folder.resolve, path)).read_bytes()
                for path in paths
            }
            return attachment(zipped(contents, name), f"{name}.zip")
        place = await run_in_threadpool(self._known.folder.resolve, named)
        return attachment(await run_in_threadpool(place.read_bytes), name, "application/octet-stream")

    def _is_writing(self, name: str) -> bool:
        """Whether a command writes into the folder of a study, or is about to."""
        jobs = (
            self._parts.workers.job_of(begun.key)
            for (study, _), begun in self._begun.items()
            if study == name and ACTS[begun.act].writes
        )
        writing = any(job is not None and job.state in ("waiting", "running") for job in jobs)
        return writing or name in self._beginning

    async def _shown(
        self,
        request: Request,
        stage: Stage,
        study: OpenedStudy,
        typed: Mapping[str, str],
        wanted: Mapping[str, str],
        *,
        table: Answer | None = None,
        texts: Answer | None = None,
    ) -> Response:
        tab = request.headers.get("x-tab", "")
        try:
            looked_at = await run_in_threadpool(self._known.edited, study, self._as_kept(study, typed))
            shown = await self._answer(stage, looked_at, study, wanted, tab)
        except WrongFieldsError as error:
            shown = StageShown("idle", wrong=tuple(Wrong(why, each) for each, why in error.wrong.items()))
        except InputError as error:
            shown = StageShown("idle", wrong=tuple(Wrong(str(problem)) for problem in error.problems))
        if table is None and is_read(stage, study, wanted, shown):
            table = await self._table(study, stage, tab)
        elif table is None and may_be_wide(stage, study, shown):
            seen = await self._table(study, stage, tab)
            table = seen if seen is not None and seen.reading is not None and seen.reading.is_wide else None
        if texts is None and stage.key == "collect" and not study.is_there("assignment"):
            texts = await self._texts(study, tab)
            ready = self._parts.workers.readiness
            if texts is None and study.is_there("outputs") and not ready.live and shown.state == "idle":
                shown = replace(shown, state="starting", progress=ready.progress)
        if texts is not None and texts.problems:
            shown = replace(shown, wrong=(*shown.wrong, *texts.problems))
        bundle = None
        if stage.key == "report" and not shown.wrong:
            bundle = await run_in_threadpool(bundle_of, self._known, study)
        shown = replace(shown, table=table, texts=None if texts is None else texts.texts, bundle=bundle)
        folder = self._parts.folder
        listed = folder.listing() if folder and not wants_json(request) else ()
        start = f"{study.name}/" if study.name else ""
        files = (
            *self._parts.uploads.references(),
            *(each[len(start) :] for each in listed if each.startswith(start)),
        )
        around = Surroundings(self._parts.form_token, files, folder is not None)
        if not wants_json(request):
            return HTMLResponse(stage_page(stage, study, typed, wanted, shown, around))
        if shown.state == "live" and shown.answer is None:
            return Response(status_code=204)
        return JSONResponse(stage_json(stage, study, wanted, shown, around))

    async def _answer(
        self, stage: Stage, study: OpenedStudy, saved: OpenedStudy, wanted: Mapping[str, str], tab: str
    ) -> StageShown:
        self._look(study.name)
        begun = self._begun.get((study.name, stage.key))
        job = None if begun is None else self._parts.workers.job_of(begun.key)
        if begun is not None and job is not None:
            await job.soon()
            if job.state in ("waiting", "running"):
                return StageShown(job.state, progress=job.progress, place=job.place, act=begun.act)
            begun.version = begun.version or saved.version
            is_of_this = begun.version == study.version and begun.form in ("", report_of(wanted))
            has_sealed = begun.act == "seal" and job.answer is not None and not job.answer.problems
            if is_of_this and not has_sealed and not (ACTS[begun.act].leads_on and job.state == "done"):
                return StageShown(job.state, answer=job.answer, act=begun.act)
            if is_of_this and has_sealed and is_settled(stage, study, wanted):
                sealed = await run_in_threadpool(sealed_words, study)
                return StageShown(job.state, act=begun.act, sealed=sealed)
        if is_settled(stage, study, wanted):
            return StageShown("idle", sealed=await run_in_threadpool(sealed_words, study))
        question = question_of(stage, study, wanted)
        if question is None:
            return StageShown("idle")
        if not question.is_quick and study.file.text != saved.file.text:
            return StageShown("live")  # no job for what is typed and may change before it is saved
        if not question.is_quick:
            work = await run_in_threadpool(self._work, study, question)
            key = hashlib.sha256(f"{work.key} {stamp(work)}".encode()).hexdigest()[:32]
            job = self._parts.workers.job(key, work)
            self._asked.setdefault(study.name, set()).add(key)
            await job.soon()
            is_seen = stage.key == "look" and job.answer is not None
            due = await self._for_look(study, tab) if is_seen else None
            return StageShown(
                job.state, progress=job.progress, place=job.place, answer=job.answer, for_look=due
            )
        ready = self._parts.workers.readiness
        if not ready.live:
            return StageShown(
                "starting", progress=ready.progress, wrong=(Wrong(ready.problem),) if ready.problem else ()
            )
        answer = await self._live(study, question, tab)
        instead = []
        if answer is not None and answer.exit_code == EXIT_TARGET_MISSED and stage.key == "size":
            for text, other in ways_out(study, open_of(study, wanted.get("open", ""))):
                found = await self._live(study, other, tab, text)
                if found is not None and found.exit_code == 0:
                    instead.append(change_of(study, text, dict(found.numbers)))
        if answer is not None and answer.exit_code == 0 and stage.key == "size":
            fewer = with_fewer(study, wanted.get("open", ""), dict(answer.numbers))
            if fewer is not None:
                found = await self._live(study, fewer, tab, "fewer")
                if found is not None and found.exit_code == 0:
                    instead.append({name: dict(found.numbers)[name] for name in ("workers", "items")})
        pilot = []
        for reading in pilot_read(stage, study, wanted):
            said = await self._live(study, reading, tab, reading.words[0])
            if said is not None and said.exit_code == 0:
                pilot.append(said.text)
        return StageShown("live", answer=answer, instead=tuple(filter(None, instead)), pilot=tuple(pilot))

    async def _for_look(self, study: OpenedStudy, tab: str) -> tuple[int, int] | None:
        """How many of the answers that the next look needs are in, and how many it needs; None where none is due,
        or nobody can say it."""
        answers = question_of(BY_KEY["collect"], study, {})
        if answers is None or not is_look_due(study) or not study.is_there("exports"):
            return None
        status = (
            await self._live(study, answers, tab, "status") if self._parts.workers.readiness.live else None
        )
        numbers = {} if status is None else dict(status.numbers)
        counts = [
            numbers.get(f"looks.{len(looks_taken(study))}.{what}", "") for what in ("done", "expected")
        ]
        return (int(counts[0]), int(counts[1])) if all(counts) else None

    async def _live(
        self, study: OpenedStudy, question: StageCommand, tab: str, what: str = ""
    ) -> Answer | None:
        work = await run_in_threadpool(self._work, study, question)
        return await self._parts.workers.live(work, f"{tab} {what}".strip() if tab else "")

    def _work(self, study: OpenedStudy, question: StageCommand) -> Work:
        """A command that writes nothing: in a folder of its own, with the files that the study names."""
        without = {name: "" for name in question.without if study.has(name)}
        edited = self._known.edited(study, without) if without else study
        files = tuple((name, str(path)) for name, path in self._known.files_of(edited).items())
        named = tuple(beside(study.name, path) for path in question.files)
        files += tuple((path, str(self._known.folder.resolve(path))) for path in named)
        text = (beside(study.name, FILE_NAME), edited.file.text)
        return Work(question.words, files, texts=(text,), at=study.name)

    def _as_kept(self, study: OpenedStudy, typed: Mapping[str, str]) -> dict[str, str]:
        """What is typed, uploads that are not saved yet left as the study says them."""
        return {
            name: as_typed(study.file.values.get(name))
            if any(map(upload_of, _paths(name, value)))
            else value
            for name, value in typed.items()
        }

    async def _brought(self, study: OpenedStudy, typed: Mapping[str, str]) -> dict[str, str]:
        """The fields of files whose values are uploads, with the names under which these lie in the folder now."""
        contents = {}
        for field, value in typed.items():
            parts = _paths(field, value)
            if any(map(upload_of, parts)):
                kept = []
                for part in filter(None, parts):
                    if upload_of(part) is not None:
                        part = await run_in_threadpool(self._known.keep, study, *await self._uploaded(part))
                    kept.append(part)
                contents[field] = ", ".join(kept) if FIELDS[field].kind.many else kept[-1]
        return contents

    async def _uploaded(self, value: str) -> tuple[str, bytes]:
        upload = upload_of(value)
        if upload is None:
            raise InputError("Bring the table of ratings first.")
        path: Path = self._parts.uploads.path_of(*upload)
        if path.is_dir():
            raise InputError(
                f"{upload[0]} is a folder. Bring its files one by one, or those that are needed."
            )
        return upload[0], await run_in_threadpool(path.read_bytes)

    def _free(self, name: str, is_example: bool) -> str:
        """A name for another copy of an example."""
        taken = set(self._known.names()) if is_example else set()
        free = (name if number == 1 else f"{name} {number}" for number in range(1, len(taken) + 2))
        return next(each for each in free if each not in taken)


async def _sent(request: Request) -> dict[str, str]:
    """The fields of a form, those of several values joined."""
    return {name: ", ".join(filter(None, values)) for name, values in (await _all_sent(request)).items()}


async def _all_sent(request: Request, most: int = _MOST_FIELDS) -> dict[str, list[str]]:
    """The fields of a form, with all values of each."""
    sent: dict[str, list[str]] = {}
    async with request.form(max_files=0, max_fields=most) as form:
        for name, value in form.multi_items():
            if isinstance(value, str) and "\0" not in value:
                sent.setdefault(name, []).append(value)
    return sent


def _paths(field: str, value: str) -> list[str]:
    """What was typed in a field of files, one by one; nothing of another field."""
    return [part.strip() for part in value.split(",")] if FIELDS[field].kind.is_file else []


def _with_view(link: str, sent: Mapping[str, str]) -> str:
    """The link of a stage with what it shows, where that is chosen."""
    view = {name: sent[name] for name in ("open", "form", "table", "rehearsed") if sent.get(name)}
    return f"{link}?{urlencode(view)}" if view else link


def _to(link: str) -> Response:
    return RedirectResponse(link, status_code=303)
