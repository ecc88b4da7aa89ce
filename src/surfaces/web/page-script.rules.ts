// Owns what a browser gets beside the pages: the style of the dashboard, and its one script. Knows no page but the ids `live`, `stream` and `box`.
// Invariants: every page is read and used without the script; it asks nobody but its own server, and puts in nothing but that server's markup.
import { PAGE_STYLE } from '#base/text/page-style.rules.ts';

export const STYLE = `${PAGE_STYLE}
.top{border-bottom:1px solid var(--edge);padding:.6rem clamp(1rem,4vw,2.5rem) 0;max-width:60rem;margin:0 auto}.top nav{margin-inline:-.55rem}.top nav ul{margin:.25rem 0 .4rem;gap:.1rem}.top nav a{display:block;padding:.2rem .55rem;border-radius:.4rem;text-decoration:none}.top nav a:hover{background:var(--card)}.top nav a[aria-current]{color:var(--ground);background:var(--link)}form{display:flex;flex-wrap:wrap;gap:.3rem .5rem;align-items:center}form.inline{display:inline-flex;margin:0 .4rem .3rem 0}label{flex-basis:100%;font-size:.85rem;color:var(--dim)}input,textarea{flex:1 1 12rem;min-width:0;max-width:100%;font:inherit;color:inherit;background:var(--card);border:1px solid var(--dim);border-radius:.4rem;padding:.4rem .6rem}textarea{flex-basis:100%;min-height:5rem;resize:vertical}button{font:inherit;font-size:.9rem;color:var(--ink);background:var(--card);border:1px solid var(--dim);border-radius:.4rem;padding:.3rem .8rem;margin:.2rem 0;cursor:pointer}button:hover{border-color:var(--link)}form.wide>button:only-of-type{color:var(--ground);background:var(--link);border-color:var(--link)}section{padding-top:1rem;margin-bottom:1.3rem}h2{font-size:1.05rem;margin-bottom:.6rem}form[role=search]{margin-bottom:1rem}time{white-space:nowrap}.told:is(.good,.mixed,.bad){display:inline-block;min-width:3rem;text-align:center;margin-inline-end:.4rem;border-radius:.9rem;font-size:.78rem}
.said,.lines{white-space:pre-wrap;unicode-bidi:plaintext;margin:.2rem 0 .6rem}.message{border-inline-start:3px solid var(--edge);padding-inline-start:.8rem;margin:0 0 1rem}.message.user{border-color:var(--link)}.message h3{display:inline;margin:0 .4rem 0 0;color:var(--dim);font-weight:400;font-size:.8rem}.message img{max-width:100%;max-height:20rem;height:auto}.tag{font-size:.72rem;border:1px solid var(--edge);border-radius:.8rem;padding:0 .45rem;color:var(--dim);margin-inline-end:.3rem}.tag.foreign{color:var(--mixed);border-color:currentColor}.added{color:var(--good)}.removed{color:var(--bad)}.question{padding:.7rem 1rem;border-inline-start:4px solid var(--mixed);background:var(--card);margin:0 0 1rem}.chart{width:100%;height:auto;max-height:12rem}.chart .all{fill:var(--link)}.chart .part{fill:var(--mixed)}.chart line{stroke:var(--edge)}.chart text{fill:var(--dim);font-size:8px}.learning{color:var(--mixed);font-weight:600}
.lines strong{display:inline-block;margin-top:.8rem}.scroll+.scroll{margin-top:1.2rem}@media (max-width:40rem){.top nav a{padding-inline:.4rem}.top nav{margin-inline:-.4rem}thead{display:block;position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--edge)}td{display:grid;grid-template-columns:6.5rem 1fr;gap:.6rem;padding:.1rem 0;border:0;overflow-wrap:anywhere}td::before{content:attr(data-label);color:var(--dim);font-size:.85em}td:empty{display:none}.chart text{display:none}}#stream{white-space:pre-wrap}#stream:empty{display:none}`;

/** Takes part in nothing that a form cannot do: it fetches the page again when something changed, and shows an answer while it comes. */
export const SCRIPT = `'use strict';
(() => {
  const live = document.getElementById('live'); if (!live || !window.EventSource) return;
  const session = live.dataset.session, stream = document.getElementById('stream') || document.createElement('pre');
  const isTyping = () => live.contains(document.activeElement) && /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
  let timer, kept = 0; const soon = (ms) => { clearTimeout(timer); timer = setTimeout(load, ms); };
  const swap = (next) => {
    const open = new Map([...live.querySelectorAll('details[id]')].map((one) => [one.id, one.open]));
    const isLow = innerHeight + scrollY >= document.body.scrollHeight - 80;
    live.replaceChildren(...next.childNodes);
    for (const one of live.querySelectorAll('details[id]')) if (open.has(one.id)) one.open = open.get(one.id);
    if (session && isLow) scrollTo(0, document.body.scrollHeight);
  };
  async function load() {
    if (isTyping()) return soon(1500);
    const shown = kept;
    try {
      const answer = await fetch(location.href, { headers: { 'x-part': 'live' } });
      if (answer.redirected) return location.reload();
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('live');
      if (!next || isTyping()) return soon(1500);
      swap(next); stream.textContent = stream.textContent.slice(shown); kept = Math.max(0, kept - shown);
    } catch { soon(3000); }
  }
  const source = new EventSource('/live' + (session ? '?session=' + encodeURIComponent(session) : ''));
  source.onopen = () => soon(250);
  source.addEventListener('changed', ({ data }) => { if (JSON.parse(data).kept) kept = stream.textContent.length; soon(250); });
  source.addEventListener('text', (event) => { stream.textContent += JSON.parse(event.data).text; });
  source.addEventListener('fresh', () => { stream.textContent = ''; kept = 0; });
  document.getElementById('box')?.addEventListener('keydown', ({ key, ctrlKey, metaKey, target }) => {
    if (key === 'Enter' && (ctrlKey || metaKey)) target.form.requestSubmit();
  });
})();
`;
