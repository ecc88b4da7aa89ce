// Owns how what only a run's page has looks: claims, handles, the tree and its calls. Knows no content.
// Invariant: as that of the style of all pages, which comes before it.

export const RUN_STYLE = `.claims>li{margin:0 0 .9rem}.claims p{margin:0 0 .25rem}
.handles{display:inline-flex;flex-wrap:wrap;gap:.3rem;max-width:100%}
.handle{display:inline-block;max-width:100%;padding:0 .45rem;border:1px solid var(--edge);border-radius:.9rem;background:var(--card);
font-size:.8rem;line-height:1.5;text-decoration:none;color:var(--link)}
a.handle:hover{border-color:var(--link)}.handle .where{color:var(--dim)}.handle.unknown{color:var(--dim);border-style:dashed}
.summary{background:var(--card);border-radius:.5rem;padding:.2rem 1rem .6rem;margin-top:1.2rem}
.refusals,.evidence,.steps,.tree{list-style:none;padding:0}
.refusals>li,.claims>li.not-supported{border-inline-start:3px solid var(--bad);padding-inline-start:.9rem;margin:0 0 1rem}
.code,.failure,.not-supported .grade{color:var(--bad)}.quoted .grade{color:var(--good)}
mark{background:var(--quote);color:inherit;border-radius:2px}
.node{margin:.35rem 0}.d1{margin-inline-start:1rem}.d2{margin-inline-start:2rem}.d3{margin-inline-start:3rem}
.d4{margin-inline-start:4rem}.d5{margin-inline-start:5rem}
.call{padding:.35rem 0 .35rem .9rem;border-inline-start:3px solid var(--edge);margin:.3rem 0}
.call p{margin:0 0 .2rem}.call:target{border-inline-start-color:var(--lit)}
@media (max-width:40rem){.node{margin-inline-start:0}}
:target mark,.claims>li:target>p:first-child{background:var(--lit);color:var(--lit-ink)}`;
