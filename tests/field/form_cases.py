"""Rating forms, small and large, with the texts that no platform may stumble over."""

from humeval_power.scales import RatingScale
from humeval_power.studies.field.form import FormRow, Question, RatingForm
from tests.field.upload_cases import HOSTILE

PLACEHOLDERS = (
    "${text_2} ${e://Field/slot} {{x}} [[Block]] ${lm://Field/1}",
    "=cmd|' /C calc'!A0",
    "@here",
    "-",
    "",
    "{slot} {code}",
    "a\r\nb\rc",
    "lone \ud800 surrogate and \x00 nothing",
)
TEXTS = (*PLACEHOLDERS, *(text for text in HOSTILE if len(text) < 1_000))


def form_of(
    *, scale="1:5", criteria=("quality",), slots=3, load=8, batches=1, labels=None, source=True
) -> RatingForm:
    """A form in which every slot sees `load` outputs, every other one less; the third is a check, the last a repeat
    of the first."""
    texts = iter(range(10**9))
    shown = [
        _shown(f"w{slot:03d}", slot, order, load - slot % 2, batches, next(texts), source=source)
        for slot in range(1, slots + 1)
        for order in range(1, load - slot % 2 + 1)
    ]
    questions = tuple(
        Question(name, f"How is ${{text_1}} {{slot}} <{name}>?", labels or {}) for name in criteria
    )
    return RatingForm(
        "A study </script>", "Read.\nRate ${x}.", questions, RatingScale.parse(scale), tuple(shown)
    )


def _shown(slot, number, order, load, batches, text, *, source):
    batch = 1 + (order - 1) * batches // load
    above = TEXTS[(text + 3) % len(TEXTS)] if source and order % 2 else ""
    if order == 3:
        return FormRow(slot, batch, order, "check", f"K{number % 3}CHK", f"Choose 2 {text}", above, 2)
    kind, like = ("repeat", 1) if order == load else ("rating", order)
    return FormRow(slot, batch, order, kind, f"C{number:03d}{like:03d}", TEXTS[text % len(TEXTS)], above)
