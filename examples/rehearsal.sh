#!/usr/bin/env bash
# A study with looks, rehearsed before money is spent: what the looks, the analysis and the report will be like.
# Run: bash examples/rehearsal.sh [FOLDER]     A minute.
set -euo pipefail
pilot="$(cd "$(dirname "$0")/.." && pwd)/data/pilot.csv"
mkdir -p "${1:-rehearsed}" && cd "${1:-rehearsed}"
cp "$pilot" pilot.csv
rm -rf as-planned no-effect # of a run before, with their ledgers

tell() { printf '\n%s\n' "$*"; }
say() { printf '\n$ humeval-power %s\n' "$*"; humeval-power "$@"; }

tell "1. A plan with three looks, and who rates what."
humeval-power fit pilot.csv --scale 1:5 --systems baseline,new -o pilot.json --force -q
say plan --parameters pilot.json --effect 0.1 --items 60:240:60 --max-workers 30 --ratings-per-item 1:5 \
  --cost-per-rating 0.15 --cost-per-worker 3 --looks 3 --futility p:0.5 --checks 0.1 --repeats 0.1 \
  --simulations 500 -o plan/ --force -q
say assign --plan plan --batch-size 10 -o assignment.csv --key key.csv --force -q

tell "2. The field, as planned: the effect is there, some workers stop, and some do not care."
study=(--plan plan --assignment assignment.csv --key key.csv --quitting 0.05 --at-random 0.05 --seed 5 --force)
say simulate "${study[@]}" -o as-planned/

tell "3. Looks, until the boundaries say that it is enough. Their ledger lies in the folder of the rehearsal."
for look in 1 2 3; do
  final=()
  if [ "$look" = 3 ]; then final=(--final); fi
  say simulate "${study[@]}" --look "$look" -o "ratings-$look.csv" -q
  say monitor "ratings-$look.csv" --plan as-planned "${final[@]}" | tee look.txt
  if ! grep -q "Go on collecting" look.txt; then break; fi
done

tell "4. The analysis of what was collected by then, and the paragraphs of a paper, which begin with what this is."
say analyze "ratings-$look.csv" --plan as-planned -o analysis.json --force -q
say report analysis.json as-planned/plan.json --form paper

tell "5. And where there is no effect? The plan, its assignment and its ledger are untouched."
say simulate "${study[@]}" --effect 0 -o no-effect/ -q
say monitor no-effect/ratings.csv --plan no-effect --final
if [ -e plan/plan.looks.jsonl ]; then exit 1; fi
