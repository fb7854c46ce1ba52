"""The style sheet of the HTML checklist: system fonts, two colour schemes, phone, screen and A4 paper."""

CSS = """\
:root { color-scheme: light dark; --ink: #1d1d1f; --quiet: #595959; --paper: #ffffff; --line: #d9d9de;
  --filled: #00664a; --open: #a63c00; --open-back: #fff6ef; --note-back: #f3f6fa; --note: #005a94; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --quiet: #a9a9b2; --paper: #17181b;
  --line: #3a3b42; --filled: #55c9a0; --open: #ff9f66; --open-back: #2a211b; --note-back: #1d2530;
  --note: #7fbdf0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 50rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 0.6rem; }
h3 { font-size: 1rem; margin: 0; }
h1, h2, h3, p, li, dd, td { overflow-wrap: anywhere; }
p { margin: 0.25rem 0; }
.score, .source, .provenance, caption { color: var(--quiet); }
.caveats { border-left: 4px solid var(--note); background: var(--note-back); margin: 1.5rem 0;
  padding: 0.8rem 1rem; }
.caveats h2 { margin: 0; color: var(--note); font-size: 1rem; }
.caveats ul { margin: 0.4rem 0 0; padding-left: 1.2rem; }
.caveats li { margin: 0.3rem 0; }
article { display: grid; grid-template-columns: 4.2rem minmax(0, 1fr); gap: 0 1rem; padding: 0.7rem 0;
  border-top: 1px solid var(--line); }
.mark { margin: 0.1rem 0 0; font-size: 0.85rem; font-weight: 600; white-space: nowrap; }
.mark::before { display: inline-block; width: 1.1em; }
.filled .mark { color: var(--filled); }
.filled .mark::before { content: "\\2713"; }
.open .mark { color: var(--open); }
.open .mark::before { content: "\\25CB"; }
.advice { border-left: 3px solid var(--open); background: var(--open-back); padding: 0.3rem 0.7rem; }
.source { font-size: 0.85rem; }
.wide { overflow-x: auto; margin: 0.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
caption { text-align: left; padding-bottom: 0.3rem; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 0.9rem 0.2rem 0;
  border-bottom: 1px solid var(--line); }
th { vertical-align: bottom; font-weight: 600; }
td { font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
figure { margin: 0 0 1rem; background: #ffffff; }
figure img { display: block; width: 100%; max-width: 44rem; height: auto; }
.provenance { font-size: 0.85rem; }
dt { font-weight: 600; margin-top: 0.4rem; }
dd { margin: 0; }
@media (max-width: 34rem) {
  article { display: block; }
  main { padding: 0.75rem 1rem 3rem; }
}
@page { size: A4; margin: 18mm 16mm; }
@media print {
  :root { font-size: 9.5pt; color-scheme: light; --ink: #000000; --quiet: #444444;
    --paper: #ffffff; --line: #bbbbbb; --filled: #00543d; --open: #8a3200; --open-back: #ffffff;
    --note-back: #ffffff; --note: #00456f; }
  body { line-height: 1.4; }
  main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  h2 { margin-top: 1.4rem; }
  article { padding: 0.4rem 0; }
  .advice::before { content: "To do: "; font-weight: 600; }
  .caveats, figure, tr, p, h3 { break-inside: avoid; }
  .wide { overflow: visible; }
  figure img { max-width: 150mm; }
}
"""
