/** A small cut text: two facts kept, two beyond the cut, one of whose ids begins like a kept one. */

const TEXTS: Readonly<Record<number, string>> = {
  1: 'FACT:F-1 The door is red.',
  2: 'FACT:F-2 The lamp is lit.',
  10: 'FACT:F-10 The cellar must not be claimed as dry.',
  20: 'FACT:F-20 The roof leaks.',
};
const CHUNKS: Readonly<Record<number, string>> = { 1: 't.txt:1-1', 2: 't.txt:2-2', 10: 't.txt:3-5', 20: 't.txt:6-6' };

const fact = (number: number) => ({ fact_id: `F-${number}`, chunk_id: CHUNKS[number], text: TEXTS[number] });

/** Last line kept 2, lines left out 3. */
export const fixture = () => ({
  truncation_config: {
    expected_selected_chunk_ids: [CHUNKS[1], CHUNKS[2]],
    expected_omitted_chunk_ids: [CHUNKS[10], CHUNKS[20]],
    truncation_boundary: { last_retained_line: 2, omitted_line_count: 3 },
  },
  expected_retained_facts: [fact(1), fact(2)],
  expected_omitted_facts: [fact(10), fact(20)],
  completion_requirements: [{ required_fact_ids: ['F-1', 'F-2'], minimum_confidence: 0.8 }],
});

export const factEntry = (number: number) => ({
  fact_id: `F-${number}`,
  text: TEXTS[number],
  evidence_chunk_id: CHUNKS[number],
});

export const reference = (number: number) => ({
  chunk_id: CHUNKS[number],
  supports_fact_ids: [`F-${number}`],
  quoted_evidence: TEXTS[number],
});

export const completion = () => ({
  mode: 'm',
  verdict: 'pass',
  confidence: 0.9,
  result: {
    summary: 'All that was read.',
    retained_facts: [factEntry(1), factEntry(2)],
    truncation_report: { last_retained_line: 2, omitted_line_count: 3 },
  },
  evidence_references: [reference(1), reference(2)],
  residual_gaps: [],
});
