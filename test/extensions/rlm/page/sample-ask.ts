// A small ask as the engine would leave it: a span with a claim in it, a computed value, one sentence that nothing supports.
import type { AskOutcome } from '#extensions/rlm/outcome.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import { type RunEvent, textHash } from '#extensions/rlm/trace/run-record.ts';
import type { JsonObject } from '#public/talaria.ts';
import { RUN_ID, STARTED, sampleCall, sampleEvent } from './sample-run.ts';

const QUOTE = 'The port is 4711.\nThe owner is the north office.\nNobody else has a key.';

const BARE = { place: null, why: '', model: '' } as const;

export function sampleAskOutcome(parts: Partial<AskOutcome> = {}): AskOutcome {
  const place = {
    source_path: 'notes.txt',
    start_line: 12,
    end_line: 14,
    start_byte: 300,
    end_byte: 300 + QUOTE.length,
  };
  return {
    schema_version: 'talaria.rlm.ask.v2',
    run_id: RUN_ID,
    question: 'Which port is it, and how many lines name a key?',
    verdict: 'answered',
    run_state: 'completed',
    detail: null,
    sentences: [
      {
        ...BARE,
        text: 'The port is 4711.',
        handles: ['s1'],
        grade: 'quoted',
        place: { ...place, end_line: 12, end_byte: 317 },
      },
      { ...BARE, text: 'One line names a key.', handles: ['k1'], grade: 'computed' },
      {
        ...BARE,
        text: 'The north office owns it.',
        handles: ['c1'],
        grade: 'supported',
        why: 'The lines say so.',
        model: 'm/n',
      },
      { ...BARE, text: 'It was changed in 1999.', handles: [], grade: 'not-supported', why: 'it cites nothing' },
    ],
    handles: [
      { kind: 'span', id: 's1', place, quote: QUOTE },
      { kind: 'child', id: 'c1', call_id: 'ask:sub:001:001', text: 'The owner is the north office.', over: 's1' },
      {
        kind: 'computed',
        id: 'k1',
        code: 'compute([s1], ([text]) => text.split("key").length - 1)',
        code_hash: textHash('code'),
        inputs: ['s1'],
        output: '1',
        output_hash: textHash('1'),
      },
    ],
    gaps: [],
    bytes_read: 70,
    bytes_total: 120_000,
    steps: 2,
    totals: { calls: 2, input_tokens: null, output_tokens: null, cost: null },
    ...parts,
  };
}

function sampleStep(seq: number): RunEvent {
  const handles = [
    { id: 's1', kind: 'span', hash: textHash('s1') },
    { id: 's9', kind: 'span', hash: textHash('s9') },
  ];
  const data = {
    step: 1,
    code: 'print(context.find("port"))',
    output: '300',
    cut: 12,
    failure: null,
    variables: [],
    handles,
  };
  return { ...sampleEvent(seq, 'rlm.state.committed', data), node_id: 'rlm_node_ask_root_001' };
}

export function sampleAsk(parts: Partial<AskOutcome> = {}): RunRecord {
  const outcome = sampleAskOutcome(parts);
  const calls = [
    sampleCall('ask:root:001', {
      mode: 'repl_root',
      rlm_node_id: 'rlm_node_ask_root_001',
      completion: '```js\nprint(context.find("port"))\n```',
    }),
    sampleCall('ask:sub:001:001', { mode: 'repl_sub', parent_call_id: 'ask:root:001', completion: '{"claims":[]}' }),
  ];
  const row = {
    run_id: RUN_ID,
    kind: 'ask' as const,
    request: { question: outcome.question },
    root: '/somewhere',
    sources: [{ path: 'notes.txt', bytes: 120_000, hash: textHash('x') }],
    started_at: STARTED,
    ended_at: STARTED + 2_400,
    state: outcome.run_state,
    outcome: outcome as unknown as JsonObject,
    state_hash: textHash('outcome'),
    owner: null,
  };
  return { row, events: [sampleEvent(1, 'rlm.run.started'), sampleStep(2)], calls, textOf: () => undefined };
}
