#!/usr/bin/env bash
# One study, from the pilot to what is published. The workers are simulated, so that the truth is known.
# Run: bash examples/one_study.sh [FOLDER]     About a minute; the Word document needs pandoc.
set -euo pipefail
pilot="$(cd "$(dirname "$0")/.." && pwd)/data/pilot.csv"
mkdir -p "${1:-one-study}" && cd "${1:-one-study}"
cp "$pilot" pilot.csv

tell() { printf '\n%s\n' "$*"; }
say() { printf '\n$ humeval-power %s\n' "$*"; humeval-power "$@"; }

tell "1. A pilot: what is in it, and how much do workers, items and ratings vary?"
say check pilot.csv --scale 1:5
say fit pilot.csv --scale 1:5 --systems baseline,new -o pilot.json --force

tell "2. A plan: the best that 300 dollars buy, if a difference of 0.07 matters (0.28 of five points)."
say plan --parameters pilot.json --effect 0.07 --budget 300 --items 40:200:20 --max-workers 50 \
  --ratings-per-item 1:6 --cost-per-rating 0.15 --cost-per-worker 2 --fee mturk --date 2026-01-15 \
  --simulations 1000 --question "Do readers rate new higher than baseline?" \
  --exclude "Ratings of workers who quit are kept." -o plan/ --force
say report plan/plan.json --form osf -o preregistration.md --force

tell "3. Who rates what, blind to the systems."
say assign --plan plan --batch-size 20 --checks 0.05 -o assignment.csv --key key.csv --force

tell "4. Workers rate what the assignment shows them, in a world with a true difference of 0.08; w03 quits."
python - <<'PYTHON'
import pandas as pd
from humeval_power import RatingScale
from humeval_power.designs import from_table
from humeval_power.interfaces.formats.documents.reading import read_parameters
from humeval_power.simulation.study import simulate

key = pd.read_csv("key.csv")[["code", "system"]]
shown = pd.read_csv("assignment.csv").query("kind == 'rating'").merge(key, on="code")
worker, item = (pd.factorize(shown[column], sort=True)[0] for column in ("worker_slot", "item"))
design = from_table(worker, item, (shown["system"] == "new").to_numpy(int))
world = read_parameters("pilot.json")[0].with_difference(0.08)
ratings = simulate(world, design, seed=3, response="likert", points=5).rating
shown["rating"] = RatingScale(1, 5, points=5).from_unit(ratings).astype(int)
given = shown[(shown["worker_slot"] != "w03") | (shown["batch"] == 1)]
given = given.rename(columns={"worker_slot": "worker"})[["worker", "item", "system", "rating"]]
given.to_csv("ratings.csv", index=False)
print(f"{len(given):,} of {len(shown):,} ratings came back.")
PYTHON

tell "5. The analysis that the plan promised, and what differs from it."
say analyze ratings.csv --plan plan --scale 1:5
say analyze ratings.csv --plan plan --scale 1:5 -o analysis --force -q
say analyze ratings.csv --plan plan --scale 1:5 -o analysis.json --force -q

tell "6. The reports: what is still open, and each format."
say report check analysis.json plan/plan.json --form arr
from=(analysis.json plan/plan.json ratings.csv --force)
say report "${from[@]}" -o report.html
say report "${from[@]}" --form heds -o heds.json
say report "${from[@]}" --form heds -o heds.html
say report "${from[@]}" --form arr -o arr.md
say report "${from[@]}" --form paper -o paper.tex
if command -v pandoc > /dev/null; then say report "${from[@]}" --form paper -o paper.docx; fi

tell "7. What others get: parameters to plan from, and the anonymised ratings."
say report analysis.json --form parameters -o for-the-next-study.json --force
say release ratings.csv --scale 1:5 --parameters for-the-next-study.json --include analysis.json \
  --licence "CC BY 4.0" -o bundle --force

tell "Written to $PWD:"
find . -type f ! -name '*.key' | sort
