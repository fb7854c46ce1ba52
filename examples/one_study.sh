#!/usr/bin/env bash
# One study, from the pilot to what is published, by commands alone. The field is a rehearsal: workers are simulated,
# so that the truth is known, and everything that follows says so.
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
say plan --parameters pilot.json --effect 0.07 --budget 300 --spend-budget --items 40:200:20 --max-workers 50 \
  --ratings-per-item 1:6 --cost-per-rating 0.15 --cost-per-worker 2 --fee mturk --date 2026-01-15 \
  --checks 0.05 --simulations 1000 --research-question "Do readers rate new higher than baseline?" \
  --exclude "Ratings of workers who quit are kept." -o plan/ --force
say report plan/plan.json --form osf -o preregistration.md --force

tell "3. Who rates what, blind to the systems, as pages that workers open. The outputs are lines of text."
mkdir -p outputs
for system in baseline new; do seq -f "Text %g as the system $system wrote it." 180 > "outputs/$system.txt"; done
work=(--plan plan --batch-size 20 --replacements 3 --outputs outputs --upload html)
say assign "${work[@]}" -o field/ --key key.csv --force -q

tell "4. The field: workers rate under codes, in a world with a true difference of 0.08. Who has done what?"
field=(--plan plan --key key.csv --effect 0.08 --quitting 0.02 --at-random 0.02 --coded --force)
say simulate "${field[@]}" --assignment field/assignment.csv -o answers.csv
say collect status answers.csv --plan plan --assignment field/assignment.csv

tell "5. w37 did not come back: a spare takes over, and all answers are decoded."
say assign "${work[@]}" --replace r01=w37:2 -o spare/ --key key.csv --force -q
both=(--assignment field/assignment.csv --assignment spare/assignment.csv)
say simulate "${field[@]}" "${both[@]}" -o answers.csv
say import answers.csv "${both[@]}" --key key.csv -o ratings.csv --force

tell "6. The analysis that the plan promised, and what differs from it."
say analyze ratings.csv --plan plan --scale 1:5
say analyze ratings.csv --plan plan --scale 1:5 -o analysis --force -q
say analyze ratings.csv --plan plan --scale 1:5 -o analysis.json --force -q

tell "7. The reports: what is still open, and each format."
say report check analysis.json plan/plan.json --form arr
from=(analysis.json plan/plan.json ratings.csv --force)
say report "${from[@]}" -o report.html
say report "${from[@]}" --form heds -o heds.json
say report "${from[@]}" --form heds -o heds.html
say report "${from[@]}" --form arr -o arr.md
say report "${from[@]}" --form paper -o paper.tex
if command -v pandoc > /dev/null; then say report "${from[@]}" --form paper -o paper.docx; fi

tell "8. What others get: parameters to plan from, and the anonymised ratings."
say report analysis.json --form parameters -o for-the-next-study.json --force
say release ratings.csv --scale 1:5 --parameters for-the-next-study.json --include analysis.json \
  --licence "CC BY 4.0" -o bundle --force

tell "Written to $PWD:"
find . -type f ! -name '*.key' | sort
