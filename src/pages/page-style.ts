/**
 * What every page that people look at has in common: the report, the dictionary, an export about a person, the explorer.
 * Both colour schemes keep a contrast of at least 4.5 for text and 3 for shapes.
 */

/** Colours, fonts and controls; all that a page with a frame of its own needs. */
export const baseStyle = `
:root{color-scheme:light dark;
--ground:light-dark(#fcfcfb,#15181b);--surface:light-dark(#fff,#1b1f23);--hover:light-dark(#f1f2f0,#24292e);
--text:light-dark(#1d2024,#e6e7e8);--muted:light-dark(#5b626b,#a3abb3);
--line:light-dark(#e3e4e1,#31363b);--edge:light-dark(#868c93,#697179);--grid:light-dark(#ebecea,#2a2f34);
--accent:light-dark(#1f5f93,#8fc1e6);--on-accent:light-dark(#fff,#0f171d);--fill:light-dark(#1f5f931f,#8fc1e626);--selection:light-dark(#d3e3f1,#2b4558);
--second:light-dark(#a1560b,#e2a862);--third:light-dark(#5f5a9c,#b3aef0);--none:light-dark(#8e959c,#70777e);
--good:light-dark(#1f7a4d,#63c394);--good-ground:light-dark(#eaf5ee,#1b2d24);
--warn:light-dark(#8c5a0d,#deb25c);--warn-ground:light-dark(#fbf3e2,#322a19);
--bad:light-dark(#b3261e,#f0897f);--bad-ground:light-dark(#fcecea,#381f1d);
--notice-ground:light-dark(#e9f1f8,#1a2833);
--mono:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
--frame:88rem}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
input,select,button{font:inherit;font-size:.875rem;color:var(--text);background:var(--surface);border:1px solid var(--edge);border-radius:6px;padding:.3rem .6rem;min-height:2.125rem;max-width:100%}
[hidden]{display:none!important}
`

/** The style of a page that is read from top to bottom and printed. */
export const pageStyle = `${baseStyle}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{overflow-wrap:break-word}
body>header,body>main,body>footer{max-width:var(--frame);margin:0 auto;padding:0 1.5rem}
body>header{padding-top:2rem}
body>footer{color:var(--muted);font-size:.85rem;padding-top:2.5rem;padding-bottom:3rem}
h1{font-size:1.5rem;font-weight:600;letter-spacing:-.01em;line-height:1.25;margin:0}
h2{font-size:1.5rem;font-weight:600;letter-spacing:-.01em;line-height:1.25;margin:2.2rem 0 .8rem}
h3{font-size:1.15rem;font-weight:600;margin:0 0 .15rem}
h4{font-size:.95rem;font-weight:600;margin:1.4rem 0 .3rem}
.lead{margin:0 0 .8rem;max-width:50rem}
.note,.legend,small,figcaption{color:var(--muted);font-size:.85rem}
.note,.legend{max-width:50rem;margin:.4rem 0}
code{font:.8rem/1.4 var(--mono);background:var(--grid);padding:.05rem .3rem;border-radius:3px;overflow-wrap:anywhere}td code,th code{overflow-wrap:break-word}
pre{overflow-x:auto;background:var(--grid);padding:.6rem .8rem;border-radius:6px}pre code{background:none;padding:0}
.notice{border-left:4px solid var(--good);background:var(--good-ground);padding:.8rem 1.1rem;border-radius:0 6px 6px 0}
.notice.warning{border-color:var(--warn);background:var(--warn-ground)}
.notice.problem{border-color:var(--bad);background:var(--bad-ground)}
.notice strong{color:var(--good)}.notice.warning strong{color:var(--warn)}.notice.problem strong{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.4rem,1fr));gap:1px;background:var(--surface);border:1px solid var(--line);border-radius:6px;overflow:hidden;margin:1.2rem 0 0}
.tiles:has(>:nth-child(8)){grid-template-columns:repeat(auto-fit,minmax(max(9.4rem,22%),1fr))}
.tiles div{box-shadow:0 0 0 1px var(--line);padding:.65rem .9rem}
.tiles dt{color:var(--muted);font-size:.85rem}
.tiles dd{margin:0}
.tiles strong{display:block;font-size:1.5rem;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums}
.tiles dd>span{color:var(--muted);font-size:.8rem}
.scroll{overflow-x:auto;margin:.15rem 0 .4rem}
/* A shadow at the side to which a table goes on; the first two move with the table and cover it at the end. */
.scroll{--shade:light-dark(#00000026,#00000080);background:
linear-gradient(90deg,var(--ground) 40%,transparent) 0 0/2.5rem 100% no-repeat local,linear-gradient(270deg,var(--ground) 40%,transparent) 100% 0/2.5rem 100% no-repeat local,
linear-gradient(90deg,var(--shade),transparent) 0 0/.7rem 100% no-repeat,linear-gradient(270deg,var(--shade),transparent) 100% 0/.7rem 100% no-repeat}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
.caption{color:var(--muted);font-size:.85rem;margin:.6rem 0 0}
th,td{text-align:left;padding:.3rem .9rem .3rem 0;vertical-align:top;border-bottom:1px solid var(--line);font-weight:400;unicode-bidi:isolate}
thead th{color:var(--muted);font-size:.8rem;vertical-align:bottom}
th:last-child,td:last-child{padding-right:0}
.number{text-align:right;white-space:nowrap}
details{margin:.3rem 0}
summary{cursor:pointer;color:var(--accent);font-size:.85rem;width:fit-content}
@media (max-width:60rem){.tiles{grid-template-columns:repeat(3,1fr)}}
@media (max-width:40rem){body>header,body>main,body>footer{padding-left:1rem;padding-right:1rem}body{font-size:14.5px}
.tiles{grid-template-columns:repeat(2,1fr)}}
@media print{:root{color-scheme:light}body{background:#fff;font-size:10pt}body>header,body>main,body>footer{max-width:none;padding-left:0;padding-right:0}
tr,figure{break-inside:avoid}h2,h3,h4{break-after:avoid}thead{display:table-header-group}.scroll{overflow:visible;background:none}
details::details-content{content-visibility:visible;display:block;height:auto}summary{display:none}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`
