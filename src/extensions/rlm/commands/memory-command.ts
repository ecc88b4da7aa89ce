// Owns `rlm memory`: what operational memory holds, what that makes the code do, what was refused. Reads the file, changes nothing.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { MemoryFile } from '../memory/memory-file.ts';

const MOST_ROWS = 40;

export function memoryCommands(ground: Ground): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm memory',
      summary: 'What recursive runs remember of how to ask, what it makes them do, what was refused',
      surfaces: ['cli'],
      input: z.object({
        store: z.string().min(1).optional().describe('Memory file; default rlm/memory.jsonl of the home'),
      }),
      examples: ['talaria rlm memory', 'talaria rlm memory --store ./memory.jsonl'],
      run: (asked, context) => run(ground, asked.store, context),
    }),
  ];
}

async function* run(
  { places: { home, userHome } }: Ground,
  store: string | undefined,
  { cwd }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const [{ defaultMemoryPath, readMemoryFile }, { memoryReport }] = await Promise.all([
    import('../memory/memory-file.ts'),
    import('../memory/memory-report.ts'),
  ]);
  const path = store === undefined ? defaultMemoryPath(home) : typedPath(store, { cwd, userHome });
  const file = readMemoryFile(path);
  if (!file.exists && store !== undefined)
    return yield failed(
      'memory-missing',
      `there is no file ${path}`,
      'Name a file that a run with --memory-mode write made.',
    );
  const report = memoryReport(file);
  const any = (text: string | null) => text ?? 'any';
  yield { type: 'line', text: headLine(file) };
  yield* table(
    ['task', 'kind', 'family', 'category', 'recommendation', 'count', 'confidence'],
    report.groups.map(({ task, kind, family_id, fixture_category, recommendation, count, mean_confidence }) => {
      const place = [any(family_id), any(fixture_category)];
      return [task, kind, ...place, recommendation, String(count), mean_confidence.toFixed(2)];
    }),
  );
  yield* table(
    ['task', 'family', 'category', 'what the code does with it'],
    report.effects.map(({ task, family_id, fixture_category, does }) => {
      return [task, any(family_id), any(fixture_category), does.join('; ')];
    }),
  );
  if (report.family_order.length > 1)
    yield { type: 'line', text: `Families for the synthesis, steadiest first: ${report.family_order.join(', ')}` };
  yield* table(
    ['refused line', 'reason', 'detail'],
    report.rejected.map(({ line, reason, detail }) => [String(line), reason, detail]),
  );
  yield { type: 'data', value: { path, ...report } as unknown as JsonValue };
}

function headLine({ path, exists, records, rejected_count, passed_over }: MemoryFile): string {
  if (!exists) return `Nothing is remembered yet (${path}). Memory is off unless --memory-mode says otherwise.`;
  const older = passed_over > 0 ? `, ${passed_over} older passed over` : '';
  return `${path}: ${plural(records.length, 'record')} used, ${plural(rejected_count, 'line')} refused${older}. Memory is never evidence.`;
}

/** Nothing when there are no rows. */
function* table(columns: readonly string[], rows: readonly (readonly string[])[]): Generator<CommandOutput> {
  if (rows.length > 0) yield { type: 'table', columns, rows: rows.slice(0, MOST_ROWS) };
  if (rows.length > MOST_ROWS)
    yield { type: 'line', text: `… and ${rows.length - MOST_ROWS} more rows (--json shows all)` };
}
