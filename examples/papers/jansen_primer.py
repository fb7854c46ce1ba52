"""Jansen's primer on bootstrap resampling: its examples, and what it says of its pictures, computed exactly."""

from __future__ import annotations

import math

import pandas as pd
from paper import Paper, compared

import humeval_power as hp

DRAWS = 10_000  # the primer's
EFFECTS = (0.005, 0.01, 0.02, 0.05)
HURT = tuple(percent / 100 for percent in range(20))
QUESTIONS = pd.DataFrame(
    {"baseline": [0, 1, 1, 0, 0, 1, 0, 1, 0, 1], "experimental": [1, 1, 0, 1, 1, 0, 1, 1, 0, 0]}
)
DIFFERENCES = ("+1", "0", "-1", "+1", "+1", "-1", "+1", "0", "0", "-1")
PICTURES = {100: "small evaluation set", 500: "500 items", 2000: "2,000 items", 10_000: "10,000 items"}

paper = Paper(
    "jansen_primer",
    "Jansen's bootstrap primer",
    "P. Jansen: a primer on non-parametric bootstrap resampling for comparing two systems, a web page with code in "
    "Scala. It prints few numbers; what its sentences say of its pictures is a number too, and is checked as one.",
    introduction="The primer resamples the items' differences 10,000 times and calls the share of resamples in "
    "which B is not ahead p. For scores of 0 and 1 no resample has to be drawn: p is known exactly.",
)


def p_of(n: int, helped: int, hurt: int) -> float:
    """The primer's p of counts."""
    return hp.compare.primer(n, helped=helped, hurt=hurt).found.p_value


def curve(n: int, effect: float) -> dict[int, float]:
    """The primer's p by percent of items hurt."""
    cells = hp.compare.primer_table([n], effects=[effect], hurt=HURT).cells
    return {round(100 * cell.hurt): cell.p_value for cell in cells}


def below(found: dict[int, float], alpha: float = 0.05) -> int:
    """The largest percent of items hurt with which p is below alpha."""
    return max((percent for percent, p in found.items() if p < alpha), default=-1)


def example_1() -> None:
    """Ten questions, and the p that was printed."""
    found = hp.compare.scores(
        QUESTIONS, question="mean", test="primer", alternative="greater", power_by="formula"
    )
    data, test = found.comparison.data, found.comparison.test
    paper.section("Table", "Ten questions", "Two systems, right (1) or wrong (0).")
    for place, (row, printed) in enumerate(zip(QUESTIONS.itertuples(), DIFFERENCES, strict=True)):
        paper.number(f"Question {place}, difference", compared(printed, row.experimental - row.baseline))
    paper.number("Baseline, %", compared("50 %", 100 * data.first.mean))
    paper.number("Experimental, %", compared("60 %", 100 * data.second.mean))
    paper.number("Difference, points", compared("+10 %", 100 * data.difference.mean))
    paper.number("Items helped", compared("4", data.n_helped))
    paper.number("Items hurt", compared("3", data.n_hurt))

    paper.section("Example 1", "The bootstrap of the ten questions")
    paper.command("humeval-power compare primer --n 10 --helped 4 --hurt 3")
    spread = math.sqrt(test.p_value * (1 - test.p_value) / DRAWS)
    why = f"three standard errors of the primer's {DRAWS:,} draws ({spread:.4f} each); ours is exact"
    percent = 100 * test.p_value
    paper.number("p", compared("0.4316", test.p_value, within=3 * spread, because=why))
    paper.number("p, in percent", compared("43 %", percent, within=300 * spread, because=why))
    chart = hp.compare.primer(10, helped=4, hurt=3)
    paper.picture(
        chart.document().pictures[0].figure,
        "example-1",
        "All that the resamples of the ten questions can come to; the shaded part is p.",
    )
    zero, mid = chart.found.share_of_zero, chart.found.mid_p
    paper.text(
        "The primer reads this as 'a 43% chance of being due to random chance'. It is not: p is no probability "
        "that the difference is due to chance, and this p is not even one of the data without a difference, for "
        f"the resamples are not centred there. {100 * zero:.0f} % of the resamples come to exactly 0, and all of "
        f"them count as 'not helped'. McNemar's test of the same counts (mid-p, two-sided) gives p = {mid:.3f}."
    )

    paper.section(
        "Example 2", "500 items, 10 helped, 7 hurt", "The primer's code runs it and prints no result."
    )
    paper.command("humeval-power compare primer --n 500 --helped 10 --hurt 7")
    second = hp.compare.primer(500, helped=10, hurt=7)
    paper.text(f"p = {second.found.p_value:.6f}, exactly.")
    paper.picture(
        second.document().pictures[0].figure,
        "example-2",
        "The resamples of 500 items, 10 helped and 7 hurt.",
    )

    paper.section("Procedure", "From a count of resamples to p")
    paper.number("9,900 of 10,000 resamples help: p", compared("0.01", (DRAWS - 9_900) / DRAWS))


def pictures() -> None:
    """The four pictures: drawn again, and what is said of each."""
    for n, name in PICTURES.items():
        paper.section(f"Picture, {name}", f"Expected p with {n:,} items")
        paper.command(f"humeval-power compare primer-table --n {n} -o items-{n}/")
        table = hp.compare.primer_table([n], effects=EFFECTS, hurt=HURT)
        paper.picture(
            table.document().pictures[0].figure,
            f"items-{n}",
            f"{n:,} items: the primer's p by share of items hurt, a line for each difference of accuracy.",
        )
        SAID[n]()


def said_of_100() -> None:
    """One question is 1 %; 2 % are not found even if nothing is hurt."""
    paper.number("An effect of 1 %, in questions", compared("1", 0.01 * 100))
    paper.number("+2 %, nothing hurt: p", compared("0.13", p_of(100, 2, 0)))
    paper.number("+5 %, 1 % hurt (6 : 1): p", compared("< 0.05", p_of(100, 6, 1)))
    paper.number("+5 %, 2 % hurt (7 : 2): p 'begins to exceed'", compared("> 0.05", p_of(100, 7, 2)))
    paper.number("TREC QA, 65 questions: one more is, %", compared("1.5 %", 100 / 65))
    gain = next(count for count in range(1, 69) if round(100 * count / 68) >= 4)
    best = p_of(68, gain, 0)
    exact = hp.compare.primer(68, helped=gain, hurt=0).found.exact_p
    paper.text(
        "The gain of 5 % on 68 science questions that disappeared with more data: 3 questions are 4.4 % and 4 are "
        f"5.9 %. With {gain} helped and none hurt the primer's p is {best:.3f}, 'significant', while the exact "
        f"test, two-sided, says {exact:.2f}: with so few changed items the primer is bolder than a test may be."
    )


def said_of_500() -> None:
    """More than 5 % is found; 2 % if few items are hurt."""
    most, two = max(curve(500, 0.05).values()), curve(500, 0.02)
    paper.number("+5 %, the largest p of 0 to 19 % hurt", compared("< 0.05", most))
    paper.number("+2 %, nothing hurt: p", compared("< 0.05", two[0]))
    paper.number("+2 %, 19 % hurt: p", compared("> 0.05", two[19]))
    paper.text(f"+2 % stays below 0.05 while at most {below(two)} % of the items are hurt.")


def said_of_2000() -> None:
    """2 % is 'generally' found; 1 % if nothing is hurt."""
    one, two = curve(2000, 0.01), curve(2000, 0.02)
    paper.number("+2 %, 10 % hurt: p", compared("< 0.05", two[10]))
    paper.number("+1 %, nothing hurt: p", compared("< 0.05", one[0]))
    paper.number("+1 %, 10 % hurt: p", compared("> 0.05", one[10]))
    paper.text(
        f"'Generally' has an end: +2 % stays below 0.05 while at most {below(two)} % of the items are hurt, and "
        f"+1 % while at most {below(one)} % are. The primer says 'as long as the experiment model doesn't also "
        "hurt'; a few hurt items do no harm."
    )


def said_of_10_000() -> None:
    """Half a percent is found unless many items are hurt."""
    half = curve(10_000, 0.005)
    paper.number("+0.5 %, nothing hurt: p", compared("< 0.05", half[0]))
    paper.number("+0.5 %, 19 % hurt: p", compared("> 0.05", half[19]))
    paper.text(f"+0.5 % stays below 0.05 while at most {below(half)} % of the items are hurt.")


SAID = {100: said_of_100, 500: said_of_500, 2000: said_of_2000, 10_000: said_of_10_000}


def wrong() -> None:
    """What the primer advises, and should not."""
    paper.section("The Simpler Model Story", "A large p shows nothing")
    few = pd.DataFrame({"A": [0] * 2 + [1] + [1] * 57, "B": [1] * 2 + [0] + [1] * 57})
    found = hp.compare.scores(few, question="mean", margin=0.03, power_by="formula").comparison
    p, within = p_of(60, 2, 1), found.equivalence
    assert within is not None
    shown = "shown" if within.is_equivalent else "not shown"
    paper.text(
        "The primer looks for a p above 0.05, 'ideally much larger', to say that a simpler model is as good. A "
        f"large p comes from few items as well. With 60 items, 2 helped and 1 hurt, the primer's p is {p:.2f}; "
        f"that the systems differ by less than 3 points is {shown} (two one-sided tests, p = "
        f"{within.p_value:.2f}, 90 % interval {100 * within.interval[0]:+.1f} to {100 * within.interval[1]:+.1f} "
        "points). Say within which margin systems count as alike and test that: `compare scores --margin`, see "
        "[equivalence](../equivalence.md). The primer's 'not significantly different (p < 0.05)' should read p "
        "> 0.05."
    )
    paper.skip(
        "The curves of the pictures",
        "the points of the printed pictures are nowhere given as numbers to compare.",
    )
    paper.skip(
        "Example 1, the means that the code prints",
        "twelve of 10,000 random draws, from a seed that is not said.",
    )
    paper.skip("68 science questions, later about 3,000", "the answers of those systems are not published.")


if __name__ == "__main__":
    example_1()
    pictures()
    wrong()
    paper.finish()
