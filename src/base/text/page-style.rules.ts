// Owns how every page of Talaria looks: light and dark, narrow and wide, on paper. One text of CSS; knows no content.
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
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:60rem;margin:0 auto;padding:1.2rem clamp(1rem,4vw,2.5rem) 4rem}
h1{font-size:1.5rem;line-height:1.25;font-weight:650;margin:.2rem 0 1rem}
h2{font-size:1.15rem;font-weight:650;margin:0 0 .8rem}
h3{font-size:.95rem;font-weight:650;margin:1.2rem 0 .5rem}
p{margin:0 0 .6rem}ul,ol{margin:0 0 .6rem;padding-inline-start:1.4rem}li{margin:.15rem 0}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.85em}
a{color:var(--link)}
blockquote{margin:.3rem 0;padding-inline-start:.8rem;border-inline-start:3px solid var(--edge)}
section{margin:0 0 1.6rem;padding-top:1.3rem;border-top:1px solid var(--edge)}
dt{color:var(--dim);font-size:.8rem}dd{margin:0;font-variant-numeric:tabular-nums}
.dim,.hint{color:var(--dim)}.hint,.cited{font-size:.9rem}
.cut{color:var(--mixed);font-style:italic;font-size:.9em}
.count{color:var(--dim);font-weight:400;font-size:.85em}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
:target{scroll-margin-top:20vh}`;

const HEAD = `.brand{color:var(--dim);font-size:.85rem;margin:0}.brand span{color:var(--ink);font-weight:650;margin-inline-end:.4rem}
.verdict{padding:.7rem 1rem;border-radius:.5rem;border-inline-start:4px solid;margin:0 0 1.2rem}
.verdict p{margin:0}.verdict p+p{margin-top:.3rem;color:var(--ink)}
.good{color:var(--good);background:var(--good-ground)}
.bad{color:var(--bad);background:var(--bad-ground)}
.mixed{color:var(--mixed);background:var(--mixed-ground)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.7rem 1.2rem;margin:0 0 1.2rem}
.record{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;margin:0 0 1.4rem;font-size:.9rem}`;

const TABLES = `.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9rem;overflow-wrap:break-word}
th{text-align:start;font-weight:600;color:var(--dim);font-size:.8rem}
th,td{padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--edge);vertical-align:top}
.figure{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap;color:var(--dim)}
details{margin:.25rem 0}summary{cursor:pointer}
pre{margin:.4rem 0 .8rem;padding:.7rem .9rem;background:var(--card);border:1px solid var(--edge);border-radius:.4rem;
max-height:28rem;overflow:auto;white-space:pre-wrap;unicode-bidi:plaintext}
.state{display:inline-block;padding:0 .5rem;border-radius:.9rem;font-size:.78rem}
@media (max-width:40rem){.record{grid-template-columns:1fr}}
@media print{pre{max-height:none}nav{display:none}}`;

export const PAGE_STYLE = [COLOURS, TEXT, HEAD, TABLES].join('\n');
