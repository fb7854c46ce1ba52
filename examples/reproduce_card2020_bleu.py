"""Card et al. (2020) on BLEU: Table 3, Figures 4 and 17, the example of appendix G, computed again.

Run: python examples/reproduce_card2020_bleu.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from humeval_power.planning.power import estimate_power
from humeval_power.planning.questions import detectable_effect
from humeval_power.reporting.figure_style import COLOURS, DASHES, figure_bytes, house_style
from humeval_power.scenarios.corpus import PRESETS, CorpusStudy

ROWS = (("wmt19-tf19-tf18", 2000, 4.3), ("wmt18-tf18-tf16", 3000, 4.2))
ROWS += (("wmt17-tf16-conv17", 3000, 1.3), ("wmt16-tf16-conv14", 3000, 7.6))
SIZES = range(100, 5001, 100)
PANELS = (
    ("Figure 4: difference in BLEU", "difference", (0.25, 0.5, 1.0, 2.0)),
    ("Figure 17: P0, 1 BLEU", "zero_share", (0.01, 0.13, 0.5, 0.8)),
    ("Figure 17: b0, 1 BLEU", "scale", (15.0, 25.8, 50.0, 100.0)),
)


def tell() -> None:
    print("Table 3: what 8 of 10 test sets find (MDE), and power for the published difference")
    for name, n, difference in ROWS:
        zero_share, scale = PRESETS[name]
        study = CorpusStudy(n, difference=difference, zero_share=zero_share, scale=scale)
        mde, power = detectable_effect(study, largest=10.0).effect, study.computed().power
        print(f"  {name:<18} n {n}: MDE {mde:.2f}; power for {difference} BLEU {power:.3f}")
    for name, preset in (("Section 4 (.75)", "card2020"), ("Appendix G", "card2020-appendix-g")):
        zero_share, scale = PRESETS[preset]
        study = CorpusStudy(2000, difference=1.0, zero_share=zero_share, scale=scale)
        found, drawn = study.computed(), estimate_power(study, n_simulations=4096)
        print(f"{name}: power {found.power:.4f}, simulated {drawn.power:.3f}, type M {found.type_m:.3f}")


def picture() -> Figure:
    with house_style():
        figure = Figure(figsize=(6.8, 2.9), layout="constrained")
        panels = figure.subplots(1, 3, sharey=True)
        for axes, (title, name, values) in zip(panels, PANELS, strict=True):
            for place, value in enumerate(values):
                studies = [CorpusStudy(n, **{"difference": 1.0, name: value}) for n in SIZES]
                power = [study.computed().power for study in studies]
                axes.plot(SIZES, power, color=COLOURS[place], linestyle=DASHES[place], label=f"{value:g}")
            axes.set(title=title, xlabel="Sentences", ylim=(0, 1.02))
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
        panels[0].set_ylabel("Power")
    return figure


if __name__ == "__main__":
    tell()
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "example-output")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reproduce_card2020_bleu.png").write_bytes(figure_bytes(picture(), "png"))
