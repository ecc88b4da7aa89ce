// Owns how a page looks: light and dark, narrow and wide, on paper. One text of CSS; knows no content.
// Invariant: it names no address, and every colour of text on its ground has a contrast of at least 4.5 to 1.

const COLOURS = `:root{color-scheme:light dark;
--ground:#fcfcfa;--card:#f4f3ef;--ink:#1d1f21;--dim:#5d6166;--edge:#dcdad3;--link:#1a56a8;
--good:#17653a;--good-ground:#e6f3ea;--bad:#a3211b;--bad-ground:#fbeae8;--mixed:#7a5200;--mixed-ground:#faf1dc;
--quote:#efe7cf;--lit:#ffd54d;--lit-ink:#1d1f21}
@media (prefers-color-scheme:dark){:root{
--ground:#17191c;--card:#1f2226;--ink:#e4e3df;--dim:#a0a4aa;--edge:#363a40;--link:#8ab8f5;
--good:#7fd09e;--good-ground:#1b2e23;--bad:#f29a92;--bad-ground:#38201f;--mixed:#e3bd6c;--mixed-ground:#332a18;
--quote:#3a3523;--lit:#e8b923;--lit-ink:#17191c}}`;

const TEXT = `*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;font-weight:650;margin:.2rem 0 1rem;text-wrap:balance}
h2{font-size:1.15rem;font-weight:650;margin:0 0 .8rem}
h3{font-size:.95rem;font-weight:650;margin:1.2rem 0 .5rem}
p{margin:0 0 .6rem}ul,ol{margin:0 0 .6rem;padding-inline-start:1.4rem}li{margin:.15rem 0}
code,pre,.line{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.85em}
a{color:var(--link)}
blockquote{margin:.3rem 0;padding-inline-start:.8rem;border-inline-start:3px solid var(--edge)}
.dim,.hint{color:var(--dim)}.hint{font-size:.9rem}
.cut{color:var(--mixed);font-style:italic;font-size:.9em}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
:target{scroll-margin-top:1rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}`;

const HEAD = `.page{max-width:58rem;margin:0 auto}
main{padding:1.2rem clamp(1rem,4vw,2.5rem) 4rem}
section{margin:0 0 1.6rem;padding-top:1.3rem;border-top:1px solid var(--edge)}
.brand{color:var(--dim);font-size:.85rem;margin:0}.brand span{color:var(--ink);font-weight:650;margin-inline-end:.4rem}
.verdict{padding:.7rem 1rem;border-radius:.5rem;border-inline-start:4px solid;margin:0 0 1.2rem}
.verdict p{margin:0}.verdict p+p{margin-top:.3rem;color:var(--ink)}
.verdict.good,.state.good{color:var(--good);background:var(--good-ground)}
.verdict.bad,.state.bad{color:var(--bad);background:var(--bad-ground)}
.verdict.mixed,.state.mixed{color:var(--mixed);background:var(--mixed-ground)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.7rem 1.2rem;margin:0 0 1.2rem}
dt{color:var(--dim);font-size:.8rem}dd{margin:0;font-variant-numeric:tabular-nums}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;margin:0 0 1.4rem;font-size:.9rem}
.count{color:var(--dim);font-weight:400;font-size:.85em;font-variant-numeric:tabular-nums}`;

const CLAIMS = `.claims{padding-inline-start:1.7rem}.claims>li{margin:0 0 .9rem;padding-inline-start:.2rem}
.claims>li::marker{color:var(--dim);font-variant-numeric:tabular-nums}.claims p{margin:0 0 .25rem}
li:target>p:first-child{background:var(--quote);box-shadow:0 0 0 4px var(--quote);border-radius:2px}
.handles{display:flex;flex-wrap:wrap;gap:.3rem}
.handle{display:inline-block;max-width:100%;padding:0 .45rem;border:1px solid var(--edge);border-radius:.9rem;background:var(--card);
font-size:.8rem;line-height:1.5;text-decoration:none;color:var(--link)}
a.handle:hover{border-color:var(--link)}.handle .where{color:var(--dim)}.handle.unknown{color:var(--dim);border-style:dashed}
.summary{background:var(--card);border-radius:.5rem;padding:.2rem 1rem .6rem;margin-top:1.2rem}.summary h3{margin-top:.6rem}
.refusals{list-style:none;padding:0}.refusals>li{border-inline-start:3px solid var(--bad);padding:.1rem 0 .1rem .9rem;margin:0 0 1rem}
.claims>li.not-supported{border-inline-start:3px solid var(--bad);padding-inline-start:.7rem}.not-supported .grade{color:var(--bad)}
.supported .grade{color:var(--dim)}.quoted .grade{color:var(--good)}.refusals p{margin:.15rem 0}.reason{font-size:.95rem}.code{color:var(--bad);font-weight:650}.cited{font-size:.85rem}`;

const TABLES = `.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9rem;overflow-wrap:break-word}
th{text-align:start;font-weight:600;color:var(--dim);font-size:.8rem}
th,td{padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--edge);vertical-align:top}
.figure{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap;color:var(--dim)}
.evidence td:not([dir]){white-space:nowrap}.evidence .handle{white-space:normal}
.evidence td[dir]{overflow-wrap:anywhere;min-width:14rem}
.events td:nth-child(3){white-space:nowrap}.hashes td{font-size:.8rem}
.record{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}
details{margin:.25rem 0}summary{cursor:pointer}
pre{margin:.4rem 0 .8rem;padding:.7rem .9rem;background:var(--card);border:1px solid var(--edge);border-radius:.4rem;
max-height:28rem;overflow:auto;white-space:pre-wrap;tab-size:2;unicode-bidi:plaintext}
td details pre{max-height:14rem;min-width:14rem}`;

const TREE = `.steps{list-style:none;padding:0}.steps>li{margin:0 0 1.2rem}.steps .handles{display:inline}
.tree,.tree ul{list-style:none;padding:0;margin:0}
.tree ul{margin-inline-start:.45rem;padding-inline-start:1rem;border-inline-start:1px solid var(--edge)}
.tree li{margin:.35rem 0}.node>summary{padding:.1rem 0}.node[open]{padding-bottom:.4rem}
.state{display:inline-block;padding:0 .5rem;border-radius:.9rem;font-size:.78rem;line-height:1.55}
.ids{font-size:.85rem;margin:.2rem 0 .4rem}
.call{padding:.35rem 0 .35rem .9rem;border-inline-start:3px solid var(--edge);margin:.3rem 0}
.call p{margin:0 0 .2rem}.call-line{font-size:.92rem}.failure{color:var(--bad)}
.call:target{border-inline-start-color:var(--lit)}`;

const SOURCES = `.sources{padding:1.2rem clamp(1rem,4vw,2.5rem) 4rem;border-top:1px solid var(--edge);background:var(--card)}
.block{border-top:1px solid var(--edge);padding-top:.9rem;margin:0 0 1.2rem}
.block h3{margin:0 0 .4rem;font-size:.9rem}
.refs{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:.8rem;margin:0 0 .6rem}.refs li{margin:0;max-width:100%}.refs .handles{display:inline}
.lines{background:var(--ground);border:1px solid var(--edge);border-radius:.4rem;padding:.4rem 0;overflow:hidden}
.line{display:grid;grid-template-columns:3.6rem 1fr;line-height:1.6}
.bare .line{grid-template-columns:1fr;padding-inline-start:.8rem}.bare .number{display:none}
.number{color:var(--dim);text-align:end;padding-inline-end:.9rem;user-select:none;font-variant-numeric:tabular-nums}
.line code{font-size:1em;white-space:pre-wrap;padding-inline-end:.7rem;min-width:0;unicode-bidi:plaintext}
.skipped{color:var(--dim);font-size:.75rem;padding:.15rem 0 .15rem 3.6rem;margin:.2rem 0;border-block:1px dashed var(--edge)}
.skipped:first-child{border-top:0;margin-top:0}
mark{background:var(--quote);color:inherit;border-radius:2px;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.anchor{scroll-margin-block:30vh 20vh}`;

const NARROW = `@media (max-width:40rem){
.evidence thead{position:absolute;clip-path:inset(50%)}
.evidence,.evidence tbody,.evidence tr,.evidence td{display:block;border:0;padding:0}
.evidence tr{padding:.6rem 0;border-bottom:1px solid var(--edge)}
.evidence td[dir]{margin:.25rem 0}.evidence td:not([dir]){display:inline-block;margin-inline-end:.6rem}
.record{grid-template-columns:1fr}.record dd{margin-bottom:.4rem}}`;

const WIDE = `@media (min-width:68rem){
.paned{max-width:none;margin:0}.paned main{width:54vw;max-width:60rem;margin-inline-start:max(0px,54vw - 60rem)}
.paned .sources{position:fixed;inset-block:0;inset-inline-end:0;width:46vw;overflow-y:auto;border-top:0;border-inline-start:1px solid var(--edge)}
nav li:has(a[href="#sources"]){display:none}}
@media print{.sources{position:static!important;width:auto!important}.paned main{width:auto!important;margin:0!important}
pre{max-height:none}nav{display:none}}`;

export const PAGE_STYLE = [COLOURS, TEXT, HEAD, CLAIMS, TABLES, TREE, SOURCES, NARROW, WIDE].join('\n');
