// Owns `rlm show`: one stored run as text, as a page, as a file of its own. Knows no layout. Invariant: a file that is there is only replaced
// when that was asked for, and then whole.
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../rlm-ground.ts';
import type { RunRecord } from '../trace/run-record.ts';

const file = z.string().min(1);
const input = z.object({
  run: z.string().min(1).describe('Id of a run, or its beginning'),
  events: z.boolean().default(false).describe('Also the events, in order'),
  calls: z.boolean().default(false).describe('Also the calls, one a line'),
  call: z.string().min(1).optional().describe('Only this call, with its prompt and reply whole'),
  html: file.optional().describe('Write a page that needs nothing else to this file'),
  export: file.optional().describe('Write the whole run as JSON to this file: `rlm replay` and `rlm verify` read it'),
  force: z.boolean().default(false).describe('Replace files that are there'),
});
type Asked = z.infer<typeof input>;

export function showCommands(ground: RlmGround): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm show',
      summary: 'Show a recursive run: what is cited, what was refused and why, what was not read',
      surfaces: ['cli', 'chat'],
      input,
      positional: ['run'],
      examples: [
        'talaria rlm show rlm_3f',
        'talaria rlm show rlm_3f --calls',
        'talaria rlm show rlm_3f --html run.html',
      ],
      run: (asked, context) => show(ground, asked, context),
    }),
  ];
}

async function* show(ground: RlmGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { findRecord, openStoreToRead } = await import('./stored/stored-run.ts');
  const store = openStoreToRead(ground);
  try {
    const record = findRecord(store, asked.run);
    if ('exitCode' in record) yield record;
    else if (asked.call !== undefined) yield* showCall(record, asked.call);
    else if (asked.html !== undefined || asked.export !== undefined)
      yield* writeFiles(ground, { record, asked }, context);
    else yield* showRun(record, asked);
  } finally {
    store.close();
  }
}

async function* showRun(record: RunRecord, { events, calls }: Asked): AsyncGenerator<CommandOutput> {
  const [{ runText }, { CALL_COLUMNS, callRow }, { eventLines }] = await Promise.all([
    import('../show/run-text.ts'),
    import('../show/call-lines.ts'),
    import('../show/event-lines.ts'),
  ]);
  yield { type: 'line', text: runText(record) };
  if (calls) yield { type: 'table', columns: CALL_COLUMNS, rows: record.calls.map(callRow) };
  if (events) yield { type: 'line', text: eventLines(record.events).join('\n') };
  yield {
    type: 'data',
    value: { row: record.row, events: record.events, calls: record.calls } as unknown as JsonValue,
  };
}

async function* showCall(record: RunRecord, typed: string): AsyncGenerator<CommandOutput> {
  const { callText } = await import('../show/call-lines.ts');
  const whole = record.calls.filter(({ call_id }) => call_id === typed);
  const found = whole.length > 0 ? whole : record.calls.filter(({ call_id }) => call_id.endsWith(typed));
  const [call, second] = found;
  if (call === undefined || second !== undefined) {
    const ids = (call === undefined ? record.calls : found).slice(0, 8).map(({ call_id }) => call_id);
    const code = call === undefined ? 'call-not-found' : 'call-ambiguous';
    yield refused(
      code,
      `${found.length} calls of ${record.row.run_id} are ${typed}.`,
      `Type one of: ${ids.join(', ')}`,
    );
    return;
  }
  yield { type: 'line', text: callText(call) };
  yield { type: 'data', value: call as unknown as JsonValue };
}

interface Writing {
  readonly record: RunRecord;
  readonly asked: Asked;
}

async function* writeFiles(
  { places }: RlmGround,
  { record, asked }: Writing,
  { cwd }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const [{ renderRunPage }, { exportRun }, { packContext }, { atomicWrite }] = await Promise.all([
    import('../page/render-run-page.ts'),
    import('../trace/export/export-run.ts'),
    import('../trace/export/packed-context.ts'),
    import('#base/atomic-write.ts'),
  ]);
  const packed = asked.export !== undefined && record.row.kind === 'ask' ? packContext(record.row) : null;
  if (packed?.ok === false)
    yield { type: 'line', text: `The context is not in it, so it replays only where that lies: ${packed.detail}.` };
  const wanted = [
    [asked.html, () => renderRunPage(record)],
    [asked.export, () => exportRun(record, packed?.ok ? packed.value : undefined)],
  ] as const;
  const written: string[] = [];
  for (const [typed, make] of wanted) {
    if (typed === undefined) continue;
    const path = typedPath(typed, { cwd, userHome: places.userHome });
    if (existsSync(path) && !asked.force) {
      yield refused('file-exists', `${path} is there already.`, 'Name another file, or replace it with --force.');
      return;
    }
    atomicWrite(path, make());
    written.push(path);
    yield { type: 'line', text: path };
  }
  yield { type: 'data', value: { written } };
}
