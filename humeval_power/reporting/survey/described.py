"""What a collection of comparisons is, in tables: effects, sizes, kinds, tests and bold type."""

from __future__ import annotations

from collections.abc import Iterator

from humeval_power.planning.survey.described import Description, Share
from humeval_power.reporting.document import Block, Facts, Section, Table
from humeval_power.reporting.numbers import counted, percent

DETAIL_WORDS = {
    "effect": "effect",
    "items": "number of items",
    "workers": "number of workers",
    "ratings_per_item": "ratings per item",
    "p_value": "p-value",
    "scale": "scale",
}
_MOST_KINDS = 12


def described(found: Description) -> tuple[Section, ...]:
    """A section on what the comparisons are; none where nothing is known."""
    blocks = tuple(_blocks(found))
    return (Section("What they are", blocks),) if blocks else ()


def _blocks(found: Description) -> Iterator[Block]:
    facts = tuple(_facts(found))
    if facts:
        yield Facts(facts)
    if found.sizes:
        yield _sizes(found)
    if found.up_to:
        yield _bands(found)
    if found.kinds:
        yield _kinds(found)


def _facts(found: Description) -> Iterator[tuple[str, str]]:
    effects = found.effects
    if effects is not None:
        sd = "" if effects.sd is None else f", SD {effects.sd:.3f}"
        yield (
            "Effects",
            f"mean {effects.mean:+.3f}{sd}, on [0, 1]; from {effects.low:+.3f} to {effects.high:+.3f}, "
            f"the middle one {effects.middle:+.3f}",
        )
    if found.tested is not None:
        yield "Tested", f"{_share(found.tested)} report a test"
    if found.bold is not None:
        yield "Bold type", f"{_share(found.bold)} set the best number in bold type or star it"


def _share(share: Share) -> str:
    return f"{share.count:,} of {share.known:,} that tell ({percent(share.count / share.known)})"


def _sizes(found: Description) -> Table:
    return Table(
        ("size", "known", "smallest", "middle", "largest", "most often", "share"),
        tuple(
            (
                DETAIL_WORDS[name],
                f"{each.n:,}",
                f"{each.low:,}",
                f"{each.middle:,g}",
                f"{each.high:,}",
                f"{each.commonest:,}",
                percent(each.n_commonest / each.n),
            )
            for name, each in found.sizes.items()
        ),
    )


def _bands(found: Description) -> Table:
    rows = [(f"up to {most}", share.count, share.known) for most, share in found.up_to.items()]
    last, known = next(reversed(found.up_to)), rows[-1][2]
    rows.append((f"over {last}", known - rows[-1][1], known))
    return Table(
        ("items", "comparisons", "share"),
        tuple((words, f"{count:,}", percent(count / of)) for words, count, of in rows),
        caption=f"Of the {counted(known, 'comparison')} that tell their number of items",
    )


def _kinds(found: Description) -> Table:
    total = sum(found.kinds.values())
    shown = list(found.kinds.items())[:_MOST_KINDS]
    others = total - sum(count for _, count in shown)
    rest = [(f"{len(found.kinds) - len(shown)} others", others)] if others else []
    return Table(
        ("type", "comparisons", "share"),
        tuple((name, f"{count:,}", percent(count / total)) for name, count in (*shown, *rest)),
    )
