// The notebook's style sheet. Everything is in the page: no fonts, scripts or pictures from
// outside.
#pragma once

namespace stoker::report {

inline constexpr const char* kNotebookStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #fcfbf7; --ink: #23211d; --soft: #6d675d; --faint: #979085; --rule: #dcd6c8;
  --grid: #ebe6da; --card: #f5f2e9;
  --busy: #2f6f9f; --power: #b5651d; --heat: #a8433f; --cpu: #5f6f7d; --judge: #2b3f63;
  --val: #b03a48; --trainloss: #8b8579; --best: #2c7a4b; --bad: #b3261e; --notice: #96690a;
  --startup: #b9b2a4; --validate: #d29a3f; --after: #b5651d; --job: #c9c2b2;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, "Noto Serif",
    "DejaVu Serif", serif;
  --sans: "Helvetica Neue", "Segoe UI", Roboto, "Noto Sans", Arial, "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #191815; --ink: #e6e2d6; --soft: #a49d8f; --faint: #7b7467; --rule: #3a372f;
    --grid: #2a2822; --card: #211f1a;
    --busy: #6fb0dd; --power: #e09a52; --heat: #e07c74; --cpu: #9fb0bf; --judge: #a9bfe8;
    --val: #e8808c; --trainloss: #9b9486; --best: #6cc08c; --bad: #ef7b72; --notice: #dcb04e;
    --startup: #5c574c; --validate: #c7923e; --after: #e09a52; --job: #48443a;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); }
body {
  margin: 0 auto; max-width: 60rem; padding: 3.2rem 2rem 5rem; color: var(--ink);
  font: 1.0625rem/1.55 var(--serif);
  font-variant-numeric: oldstyle-nums; text-rendering: optimizeLegibility;
}
h1 {
  font-size: 2.1rem; line-height: 1.15; font-weight: 500; margin: 0 0 .3rem;
  letter-spacing: -.01em;
}
h2 { font-size: 1.55rem; font-weight: 500; line-height: 1.2; margin: 0; }
h3 {
  font: 600 .74rem/1.2 var(--sans); letter-spacing: .11em; text-transform: uppercase;
  color: var(--soft); margin: 2.6rem 0 .9rem;
}
h4 { font: 500 .78rem/1.2 var(--sans); color: var(--soft); margin: 0 0 .1rem 44px; }
p { margin: 0 0 .8rem; }
.where { color: var(--soft); margin: 0; }
.simulated {
  display: inline-block; margin: 1rem 0 0; padding: .25rem .7rem; border: 1.5px solid var(--notice);
  color: var(--notice); font: 600 .76rem/1.4 var(--sans); letter-spacing: .09em;
  text-transform: uppercase;
}
header { border-bottom: 3px double var(--rule); padding-bottom: 1.5rem; }
section.job { padding-top: 2.2rem; }
section.job + section.job { margin-top: 4rem; border-top: 3px double var(--rule); }
.jobhead { display: flex; gap: 1rem; align-items: baseline; flex-wrap: wrap; }
.jobhead .id { color: var(--faint); }
.state { font: 600 .76rem/1 var(--sans); letter-spacing: .06em; text-transform: uppercase; }
.state.good { color: var(--best); } .state.bad { color: var(--bad); }
.state.notice { color: var(--notice); } .state.plain { color: var(--soft); }
.command {
  font: .84rem/1.5 var(--mono); color: var(--soft); margin: .5rem 0 0; overflow-wrap: anywhere;
}
.keys {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.4rem, 1fr)); gap: 0;
  margin: 1.7rem 0 0; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule);
}
.keys div { padding: .8rem .9rem .75rem 0; }
.keys dt { font: 500 .74rem/1.2 var(--sans); color: var(--soft); }
.keys dd {
  margin: .3rem 0 0; font-size: 1.38rem; line-height: 1.15; font-variant-numeric: lining-nums;
}
.keys small {
  display: block; font-size: .83rem; color: var(--soft); margin-top: .2rem; line-height: 1.3;
  overflow-wrap: anywhere;
}
ol.findings { list-style: none; margin: 0; padding: 0; }
ol.findings li { display: grid; grid-template-columns: 5.4rem 1fr; margin: 0 0 1rem; }
ol.findings .sev {
  font: 600 .72rem/1.2 var(--sans); letter-spacing: .05em; text-transform: uppercase;
  color: var(--faint); padding-top: .42rem;
}
ol.findings .warning { color: var(--bad); } ol.findings .notice { color: var(--notice); }
ol.findings p { margin: 0; max-width: 46rem; }
ol.findings .cannot { color: var(--soft); font-style: italic; font-size: .95rem; }
figure { margin: 1.5rem 0 2.1rem; }
figcaption {
  color: var(--soft); font-size: .93rem; line-height: 1.45; margin-top: .45rem; max-width: 48rem;
}
figcaption b {
  color: var(--ink); font-weight: 500; font-variant: small-caps; letter-spacing: .03em;
}
.grid {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.1rem .3rem;
}
svg { display: block; width: 100%; height: auto; overflow: visible; font-family: var(--sans); }
svg text { font-size: 11px; fill: var(--soft); font-variant-numeric: lining-nums tabular-nums; }
svg .value { fill: var(--ink); } svg .name { fill: var(--ink); }
svg .unit { fill: var(--faint); } svg .note { font-size: 11px; }
svg .axis { stroke: var(--faint); fill: none; stroke-width: 1; }
svg .grid { stroke: var(--grid); fill: none; stroke-width: 1; }
svg .line {
  fill: none; stroke: var(--tone); stroke-width: 1.5; stroke-linejoin: round;
  stroke-linecap: round;
}
svg .dashed { stroke-dasharray: 4 3; }
svg .band { fill: var(--tone); opacity: .3; }
svg .area { fill: var(--tone); opacity: .16; }
svg .strip { fill: var(--card); }
svg .zone { fill: var(--tone); opacity: .11; }
svg .span { fill: var(--tone); }
svg .mark { fill: var(--tone); stroke: var(--paper); stroke-width: 1.5; }
svg .label { fill: var(--tone); font-weight: 600; }
.tone-busy { --tone: var(--busy); } .tone-power { --tone: var(--power); }
.tone-heat { --tone: var(--heat); }
.tone-cpu { --tone: var(--cpu); } .tone-judge { --tone: var(--judge); }
.tone-val { --tone: var(--val); }
.tone-trainloss { --tone: var(--trainloss); } .tone-best { --tone: var(--best); }
.tone-bad { --tone: var(--bad); }
.tone-startup { --tone: var(--startup); } .tone-train { --tone: var(--busy); }
.tone-validate { --tone: var(--validate); }
.tone-after { --tone: var(--after); } .tone-onset { --tone: var(--val); }
.tone-job { --tone: var(--job); }
.tone-other { --tone: var(--faint); }
.scroll { overflow-x: auto; }
table {
  border-collapse: collapse; width: 100%; font: .84rem/1.35 var(--sans);
  font-variant-numeric: lining-nums tabular-nums;
}
caption {
  text-align: left; font: .93rem/1.45 var(--serif); color: var(--soft); padding-bottom: .5rem;
}
th {
  font-weight: 500; color: var(--soft); text-align: left; border-bottom: 1px solid var(--faint);
  padding: .3rem .9rem .35rem 0; white-space: nowrap;
}
td { border-bottom: 1px solid var(--grid); padding: .34rem .9rem .34rem 0; vertical-align: top; }
th.n, td.n { text-align: right; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
tr.total td { border-top: 1px solid var(--faint); border-bottom: 0; font-weight: 600; }
td .absent { color: var(--faint); } td.path, td.file { overflow-wrap: anywhere; }
td.file { min-width: 7.5rem; }
td.hash { font: .95em var(--mono); color: var(--soft); }
td.good { color: var(--best); } td.bad { color: var(--bad); } td.notice { color: var(--notice); }
code { font: .95em var(--mono); }
dl.facts {
  display: grid; grid-template-columns: 8rem 1fr; gap: .28rem 1rem; margin: 0; font-size: .97rem;
}
dl.facts dt { color: var(--soft); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ol.contents { list-style: none; padding: 0; margin: 1.6rem 0 0; font-size: 1rem; }
ol.contents a { color: inherit; text-decoration-color: var(--rule); text-underline-offset: .2em; }
ol.contents li { margin: .2rem 0; } ol.contents span { color: var(--soft); }
footer {
  margin-top: 4rem; padding-top: 1.1rem; border-top: 3px double var(--rule); color: var(--soft);
  font-size: .92rem;
}
@media (max-width: 40rem) {
  body { padding: 1.6rem 1rem 3rem; } ol.findings li { grid-template-columns: 1fr; }
  dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin-bottom: .5rem; }
}
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
figure, ol.findings li, tr { break-inside: avoid; }
section.job + section.job { break-before: page; }
}
)css";

}  // namespace stoker::report
