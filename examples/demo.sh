#!/usr/bin/env bash
# The whole story on the shipped pilot: from a table of ratings to a power surface and a checklist.
set -euo pipefail
cd "$(dirname "$0")/.."
out=demo-output
mkdir -p "$out"

say() { printf '\n$ humeval-power %s\n' "$*"; humeval-power "$@"; }

say check data/pilot.csv --scale 1:5
say fit data/pilot.csv --scale 1:5
say fit data/pilot.csv --scale 1:5 -o $out/parameters.json --force
say simulate --parameters $out/parameters.json --workers 10 --items 100 --seed 1 \
  --response likert --points 5 --scale 1:5 -o $out/study.csv --force
say power --parameters $out/parameters.json --workers 10 --items 100 --effect 0.05
say surface --preset high,low --parameters $out/parameters.json --workers 3,10 --items 50,100,500 \
  --effect 0.05:0.2:0.05 -o $out/surface --force
say surface --preset high,low --workers 3,10 --items 50,100,500 --effect 0.05:0.4:0.05 \
  --compare card2020 -o $out/compare --force
say report $out/parameters.json $out/surface --form card2020 -o $out/report.md --force
say report $out/parameters.json $out/surface --form card2020 -o $out/report.html --force

printf '\nLook at %s/surface/surface.png, %s/compare/surface.png and %s/report.html\n' $out $out $out
