/**
 * Accept from a summary only what its evidence says, and fill in a handle that was left out. `node examples/check-synthesis.ts`
 */
import { buildManifest, extractJson, repairMissingHandles, validateParentSynthesis } from 'talaria/rlm';

const entries = [
  { fact_id: 'F1', chunk_id: 'notes.txt:1-2', text: 'The depth cap is 5.' },
  { fact_id: 'F2', chunk_id: 'notes.txt:3-4', text: 'Repair happens at most once.' },
];
const manifest = buildManifest({ entries, required: ['F1', 'F2'] });
const childRecords = entries.map((entry) => ({ chunk_id: entry.chunk_id, output: { observed_facts: [entry] } }));

const replies = [
  'Here: {"result":{"facts":[{"fact_id":"F1","chunk_id":"notes.txt:1-2","text":"The depth cap is 5"},{"fact_id":"F2"}]}}',
  '{"result":{"facts":[{"fact_id":"F1","chunk_id":"notes.txt:1-2","text":"The depth cap is 50"},{"fact_id":"F3"}]}}',
  '{"result":{"summary":"All is well.","conclusions":["The depth cap is 7."]}}',
];
for (const reply of replies) {
  const found = extractJson(reply);
  if (!found.ok) continue;
  const { synthesis, repair } = repairMissingHandles({ manifest, synthesis: found.value, childRecords });
  const { accepted, rejected_claims } = validateParentSynthesis({ manifest, synthesis });
  const filled = repair.before_after_diff.map(({ path, after }) => `${path} = ${after}`);
  console.log(JSON.stringify({ accepted, filled, rejected: rejected_claims.map(({ detail }) => detail) }));
}
