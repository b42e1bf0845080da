/** The style of the report. Both colour schemes keep a contrast of at least 4.5 for text and 3 for shapes. */

export const style = `
:root{color-scheme:light dark;--page:#fcfcfb;--card:#fff;--text:#1d2024;--soft:#5b626b;--rule:#e3e4e1;--grid:#ebecea;
--accent:#2a6592;--fill:#2a65921f;--second:#a1560b;--third:#5f5a9c;--good:#1f7a4d;--warn:#96610a;--bad:#b3261e;--none:#9aa0a6;--link:#1f5f93;
--goodback:#eaf5ee;--warnback:#fbf3e2;--badback:#fcecea}
@media (prefers-color-scheme:dark){:root{--page:#15181b;--card:#1b1f23;--text:#e6e7e8;--soft:#a3abb3;--rule:#31363b;--grid:#2a2f34;
--accent:#7fb5dc;--fill:#7fb5dc26;--second:#e2a862;--third:#b3aef0;--good:#63c394;--warn:#deb25c;--bad:#f0897f;--none:#70777e;--link:#8fc1e6;
--goodback:#1b2d24;--warnback:#322a19;--badback:#381f1d}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
header,main,footer{max-width:68rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:2rem}
h1{font-size:1.05rem;font-weight:600;margin:0}
header p{margin:.1rem 0 0;color:var(--soft);font-size:.9rem}
nav{position:sticky;top:0;z-index:2;background:var(--page);border-bottom:1px solid var(--rule);margin-top:1rem}
nav ul{max-width:68rem;margin:0 auto;padding:0 1.5rem;list-style:none;display:flex;gap:0 1.4rem;overflow-x:auto;white-space:nowrap}
nav a{display:block;padding:.55rem 0;color:var(--soft);text-decoration:none;font-size:.9rem}
nav a:hover{color:var(--text)}
nav .part a{color:var(--text);font-weight:600}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
main>section{padding-top:1rem}
h2.part{font-size:1.5rem;font-weight:600;letter-spacing:-.01em;margin:2.2rem 0 .8rem}
section section{margin-top:2.6rem;scroll-margin-top:3.2rem}
main>section{scroll-margin-top:2rem}
h3{font-size:1.15rem;font-weight:600;margin:0 0 .15rem;padding-top:1rem;border-top:1px solid var(--rule)}
h4{font-size:.95rem;font-weight:600;margin:1.4rem 0 .3rem}
.lead{margin:0 0 .8rem;max-width:48rem}
.note,.legend{color:var(--soft);font-size:.85rem;max-width:48rem;margin:.4rem 0}
.status{border-left:4px solid var(--good);background:var(--goodback);padding:.8rem 1.1rem;border-radius:0 6px 6px 0}
.status.warning{border-color:var(--warn);background:var(--warnback)}
.status.problem{border-color:var(--bad);background:var(--badback)}
.status h3{font-size:1.3rem;margin:0;padding:0;border:0;color:var(--good)}
.status.warning h3{color:var(--warn)}.status.problem h3{color:var(--bad)}
.status p{margin:.15rem 0 0;max-width:50rem}
#age{font-weight:600}
.reasons{padding-left:1.2rem;margin:.9rem 0;max-width:52rem}
.reasons li{margin:.25rem 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.4rem,1fr));gap:1px;background:var(--card);border:1px solid var(--rule);border-radius:6px;overflow:hidden;margin:1.2rem 0 0}
.tiles div{box-shadow:0 0 0 1px var(--rule);padding:.65rem .9rem}
.tiles dt{color:var(--soft);font-size:.85rem}
.tiles dd{margin:0}
.tiles strong{display:block;font-size:1.5rem;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums}
.tiles span{color:var(--soft);font-size:.8rem}
.scroll{overflow-x:auto;margin:.15rem 0 .4rem}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
.caption{color:var(--soft);font-size:.85rem;margin:.6rem 0 0}
th,td{text-align:left;padding:.3rem .9rem .3rem 0;vertical-align:top;border-bottom:1px solid var(--rule);font-weight:400;unicode-bidi:isolate}
thead th{color:var(--soft);font-size:.8rem;vertical-align:bottom;white-space:nowrap}
tbody th{white-space:nowrap;max-width:18rem;overflow:hidden;text-overflow:ellipsis}
th:last-child,td:last-child{padding-right:0}
.number{text-align:right;white-space:nowrap}
.chart{min-width:7rem}
td.wide{min-width:15rem;color:var(--soft)}
.zero{color:var(--soft)}
code{font:.8rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--grid);padding:.05rem .3rem;border-radius:3px;overflow-wrap:anywhere}
.state{white-space:nowrap}
.state::before{content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:50%;margin-right:.4rem;background:var(--good)}
.state.complete_with_warnings::before,.state.paused::before{background:var(--warn);border-radius:0;transform:rotate(45deg) scale(.85)}
.state.incomplete::before,.state.interrupted::before{background:var(--bad);border-radius:0}
.strip{display:block;width:100%;min-width:7rem;height:1.05rem;margin-top:.1rem}
.spark{display:block;width:100%;height:1.05rem;min-width:5rem;margin-top:.1rem}
.strip .complete,.key.complete{fill:var(--good);background:var(--good)}
.strip .warning,.key.warning{fill:var(--warn);background:var(--warn)}
.strip .problem,.key.problem{fill:var(--bad);background:var(--bad)}
.strip .none,.key.none{fill:var(--none);background:var(--none)}
.key{display:inline-block;width:.6rem;height:.8rem;margin:0 .35rem 0 .9rem;vertical-align:-.05rem}
.key:first-child{margin-left:0}.key.warning{height:.56rem}.key.problem{height:.34rem}.key.none{height:.12rem}
.meter{display:block;height:.6rem;margin-top:.35rem;min-width:6rem}
.meter span{display:block;height:100%;background:var(--accent);border-radius:0 2px 2px 0;min-width:1px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:0 2.5rem}
.pair>*{min-width:0}
div.chart{display:grid;grid-template-columns:auto minmax(0,1fr);grid-template-rows:auto 11rem 1.4rem;column-gap:.5rem;margin:.3rem 0 .4rem;min-width:0}
.unit{grid-column:1/-1;color:var(--soft);font-size:.8rem;margin-bottom:.5rem}
.levels{position:relative;min-width:2.2rem;font-size:.75rem;color:var(--soft);font-variant-numeric:tabular-nums}
.levels span{position:absolute;right:0;transform:translateY(50%);line-height:1;white-space:nowrap}
div.chart svg{width:100%;height:100%;display:block;overflow:visible}
.ticks{grid-column:2;position:relative;font-size:.75rem;color:var(--soft);white-space:nowrap}
.ticks span{position:absolute;top:.3rem;transform:translateX(-50%)}
.ticks .first{transform:none}.ticks .last{transform:translateX(-100%)}
path{fill:none;vector-effect:non-scaling-stroke}
rect.bar{fill:var(--accent)}rect.warning{fill:var(--warn)}rect.problem{fill:var(--bad)}
.grid{stroke:var(--grid)}.base{stroke:var(--none)}
path.line,path.second,path.third{stroke:var(--accent);stroke-width:1.75;stroke-linejoin:round}
path.second{stroke:var(--second);stroke-dasharray:6 3}path.third{stroke:var(--third);stroke-dasharray:2 3}
path.area{fill:var(--fill)}
path.limit{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:5 4}
path.mark{stroke:var(--text);stroke-width:1.5}
.strip path,.spark path{vector-effect:non-scaling-stroke}
.strip path{stroke:none}
.series{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.8rem;color:var(--soft);margin:0;padding:0;list-style:none}
.series svg{width:1.6rem;height:.5rem;margin-right:.35rem}
details{margin:.3rem 0}
summary{cursor:pointer;color:var(--link);font-size:.85rem;width:fit-content}
footer{color:var(--soft);font-size:.85rem;padding-top:2.5rem;padding-bottom:3rem}
@media (max-width:60rem){.tiles{grid-template-columns:repeat(3,1fr)}}
@media (max-width:40rem){.tiles{grid-template-columns:repeat(2,1fr)}header,main,footer,nav ul{padding-left:1rem;padding-right:1rem}body{font-size:14.5px}.ticks span:nth-child(even):not(.last){display:none}td.wide{min-width:12rem}}
@media print{:root{color-scheme:light}nav,#age{display:none}body{background:#fff;font-size:10pt}header,main,footer{max-width:none;padding-left:0;padding-right:0}
section,.chart,tr{break-inside:avoid}main section,main>section section{break-inside:auto}.scroll{overflow:visible}
details::details-content{content-visibility:visible;display:block;height:auto}summary{display:none}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`
