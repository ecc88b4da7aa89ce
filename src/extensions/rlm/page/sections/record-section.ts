// Owns what makes a run checkable later: its id, the hashes of its sources and its state, the rules that its calls were given.
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { counted, size } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { foldedText } from '../parts/folded-text.ts';
import type { Section } from '../parts/section.ts';

const MOST = 200;

export function recordSection(ground: PageGround): Section {
  const { row } = ground;
  const body = html`<dl class="record">
<dt>Run</dt><dd><code>${row.run_id}</code></dd>
<dt>State hash</dt><dd><code>${row.state_hash ?? 'none: it has not ended'}</code></dd>
<dt>Replay</dt><dd><code>talaria rlm replay ${row.run_id}</code> reaches the same hash without a model.</dd>
<dt>Check</dt><dd><code>talaria rlm verify ${row.run_id}</code> follows the links of the trace.</dd>
</dl>
${sources(ground)}${foldedText(ground, 'Request', JSON.stringify(row.request))}${rules(ground)}${callHashes(ground)}`;
  return { id: 'record', title: 'Record', count: null, body };
}

function sources({ row, whole }: PageGround): Html {
  const { shown, left } = firstOf(row.sources, MOST);
  const rows = shown.map(
    ({ path, bytes, hash }) =>
      html`<tr><td><code><bdi>${shortText(path, 300)}</bdi></code></td><td class="figure">${size(bytes)}</td><td><code>${shortText(hash, 100)}</code></td></tr>
`,
  );
  return html`<h3>Sources</h3>
<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Path</th><th scope="col">Size</th><th scope="col">Hash</th></tr></thead><tbody>${rows}</tbody></table></div>
${leftNote(left, 'source', whole)}`;
}

/** What holds for every call of its kind; most calls share them. */
function rules(ground: PageGround): readonly Html[] {
  const texts = new Map(
    ground.calls.map(({ system_prompt_hash, system_prompt }) => [system_prompt_hash, system_prompt]),
  );
  return [...texts.values()]
    .slice(0, 12)
    .map((text, at) => foldedText(ground, `Rules ${at + 1} that calls were given`, text));
}

function callHashes({ calls, whole }: PageGround): Html | null {
  if (calls.length === 0) return null;
  const { shown, left } = firstOf(calls, MOST);
  const rows = shown.map(
    (
      { call_id, prompt_hash, response_hash },
      at,
    ) => html`<tr><td class="figure">${at + 1}</td><td><code>${shortText(call_id, 160)}</code></td>
<td><code>${prompt_hash}</code></td><td><code>${response_hash ?? 'no reply'}</code></td></tr>
`,
  );
  return html`<details><summary>Hashes of ${counted(calls.length, 'call')}</summary>
<div class="scroll" tabindex="0"><table class="hashes"><thead><tr><th scope="col">No.</th><th scope="col">Call</th><th scope="col">Input</th><th scope="col">Output</th></tr></thead>
<tbody>${rows}</tbody></table></div>${leftNote(left, 'call', whole)}</details>`;
}
