#!/usr/bin/env bash
# A shared task: eight systems, three criteria, fifteen raters, from the plan to the forms, without a pilot. The field
# is a rehearsal: raters are simulated, so that the truth is known.
# Run: bash examples/shared_task.sh [FOLDER]     A few minutes.
set -euo pipefail
mkdir -p "${1:-shared-task}" && cd "${1:-shared-task}"

systems=baseline,distilled,finetuned,large,prompted,reranked,retrieval,small
tell() { printf '\n%s\n' "$*"; }
say() { printf '\n$ humeval-power %s\n' "$*"; humeval-power "$@"; }

tell "1. A plan without a pilot: how many items do fifteen raters need to tell systems apart that differ by 0.15?"
say plan --preset low --systems "$systems" --criteria adequacy,fluency,coherence --effect 0.15 \
  --comparisons all-pairs --model joint --workers 15 --items 40:120:20 --ratings-per-item 3:6 \
  --cost-per-rating 0.40 --cost-per-worker 5 --fee prolific --date 2026-02-02 --simulations 200 --research-question "Which of eight systems do raters prefer?" \
  --exclude "Ratings of raters who quit are kept." -o plan/ --force
say report plan/plan.json --form osf -o preregistration.md --force

tell "2. Who rates what, in balance over raters, places and items, blind to the systems."
say assign --plan plan --batch-size 60 -o assignment.csv --key key.csv --force

tell "3. Raters rate what the assignment shows them under three criteria, in a world where two systems are better."
say simulate --plan plan --assignment assignment.csv --key key.csv --scale 1:5 \
  --system-means .50,.48,.54,.55,.53,.62,.61,.46 --seed 11 -o ratings.csv --force

tell "4. A first look: is the table what it should be?"
say check ratings.csv --scale 1:5 --criterion adequacy

tell "5. The analysis that the plan promised, of all criteria as one family of tests."
say analyze ratings.csv --plan plan --scale 1:5 --criteria all
say analyze ratings.csv --plan plan --scale 1:5 --criteria all -o analysis.json --force -q
say analyze ratings.csv --plan plan --scale 1:5 --criteria all -o analysis --force -q

tell "6. The reports: what is still open, what only the authors know, and each form."
say report check analysis.json plan/plan.json --form arr
from=(analysis.json plan/plan.json ratings.csv --force)
say report "${from[@]}" --template answers.toml
say report "${from[@]}" -o report.html
for form in heds.json heds.html arr.md card2020.md paper.tex; do # a datasheet, two checklists, a paragraph
  say report "${from[@]}" --form "${form%.*}" -o "$form"
done

tell "Written to $PWD:"
find . -type f | sort
