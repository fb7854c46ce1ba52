"""Statistics of workers, cell by cell in plain Python, for the arrays to agree with."""

from statistics import fmean, median


def _known(value) -> bool:
    return value is not None and value == value


def quality(rows, *, low, high, least=10):
    """rows: dictionaries with worker, item, system, rating, kind, code, seconds, passed, criterion.

    Returns worker -> (failed_checks, repeats, seconds, same_answer, agreement), None where not known.
    """
    unit = lambda row: (row["rating"] - low) / (high - low)  # noqa: E731
    found = {}
    for worker in sorted({row["worker"] for row in rows}):
        mine = [row for row in rows if row["worker"] == worker]
        checks = [row["passed"] for row in mine if row["kind"] == "check" and _known(row["passed"])]
        rated = [row for row in mine if row["kind"] == "rating" and _known(row["rating"])]
        differences = []
        for row in mine:
            if row["kind"] == "repeat" and _known(row["rating"]):
                first = [unit(one) for one in rated if _output(one) == _output(row)]
                if first:
                    differences.append(abs(unit(row) - fmean(first)))
        answers = [round(unit(row), 12) for row in rated]
        seconds = [row["seconds"] for row in mine if row["kind"] == "rating" and _known(row["seconds"])]
        found[worker] = (
            sum(value == 0 for value in checks) / len(checks) if checks else None,
            fmean(differences) if differences else None,
            median(seconds) if seconds else None,
            max(answers.count(one) for one in answers) / len(answers) if len(answers) >= least else None,
            _agreement(worker, rows, unit, least),
        )
    return found


def _output(row):
    return (row["criterion"], row["item"], row["code"])


def _agreement(worker, rows, unit, least):
    rated = [row for row in rows if row["kind"] == "rating" and _known(row["rating"])]
    outputs = {}
    for row in rated:
        outputs.setdefault((row["criterion"], row["item"]), set()).add(_output(row))
    most = max((len(each) for each in outputs.values()), default=0)
    points = []
    for item, each in outputs.items():
        if len(each) < max(most, 2):
            continue
        own, others = [], []
        for output in each:
            here = [row for row in rated if _output(row) == output]
            mine = [unit(row) for row in here if row["worker"] == worker]
            theirs = [unit(row) for row in here if row["worker"] != worker]
            if mine:
                own.append(fmean(mine))
            others.append(fmean(theirs) if theirs else None)
        if own and None not in others:
            points.append((item[0], fmean(own), fmean(others)))
    if len(points) < least:
        return None
    centre = {
        criterion: tuple(fmean(p[i] for p in points if p[0] == criterion) for i in (1, 2))
        for criterion in {p[0] for p in points}
    }
    a = [p[1] - centre[p[0]][0] for p in points]
    b = [p[2] - centre[p[0]][1] for p in points]
    aa, bb = sum(x * x for x in a), sum(x * x for x in b)
    if aa < 1e-12 or bb < 1e-12:
        return None
    return sum(x * y for x, y in zip(a, b, strict=True)) / (aa * bb) ** 0.5
