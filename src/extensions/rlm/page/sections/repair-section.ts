// Owns the repair block in words: what was missing, what was filled in, and what the gate said then.
import type { RepairBlock } from '../../repair/repair-block.ts';
import type { RunOutcome } from '../../run/run-outcome.ts';
import { shortText } from '../markup/cut-text.ts';
import { counted } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import { reasonWords } from '../parts/page-words.ts';
import type { Section } from '../parts/section.ts';

const MOST = 200;

/** Nothing to tell of a synthesis that was accepted as it came. */
export function repairSection({ repair }: RunOutcome): Section | null {
  if (repair === null || (repair.initial_accept && !repair.repair_attempted)) return null;
  const body = repair.repair_attempted ? tried(repair) : notTried(repair);
  return { id: 'repair', title: 'Repair', count: null, body };
}

function tried({ before_after_diff, repair_accept, repair_failure_reason }: RepairBlock): Html {
  const rows = before_after_diff.slice(0, MOST).map(
    ({ path, before, after }) => html`<tr><td><code>${shortText(path, 200)}</code></td><td>${before}</td>
<td><code><bdi>${shortText(after, 200)}</bdi></code></td></tr>
`,
  );
  const end = repair_accept
    ? html`With it the gate accepted the synthesis.`
    : html`The gate refused it all the same: <code>${repair_failure_reason ?? 'unknown'}</code>.`;
  const many = before_after_diff.length > MOST && html`<p class="cut">Only the first ${MOST} are shown.</p>`;
  return html`<p>The synthesis left out where ${counted(before_after_diff.length, 'quotation')} stood. The controller filled that in
from what the children of this run reported, without asking a model, and changed nothing else. ${end}</p>
<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Field</th><th scope="col">Was</th><th scope="col">Filled in</th></tr></thead>
<tbody>${rows}</tbody></table></div>${many}`;
}

function notTried({ initial_rejection_reasons, failure_reason }: RepairBlock): Html {
  const reasons = [...new Set<string>(initial_rejection_reasons)].map(
    (reason) => html`<li><code class="code">${reason}</code> ${reasonWords(reason)}</li>`,
  );
  return html`<p>Nothing was repaired: only handles that were left out can be filled in, and only when the children of this run know
them. Why not here: <code>${failure_reason ?? 'unknown'}</code>. The gate had said:</p><ul>${reasons}</ul>`;
}
