// Owns `rlm memory`: what operational memory holds, what that makes the code do, what was refused. Reads the file, changes nothing.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { plural } from '#base/text.ts';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { MemoryFile } from '../memory/memory-file.ts';
import type { MemoryReport } from '../memory/memory-report.ts';
import type { RlmGround } from '../rlm-ground.ts';

const MOST_ROWS = 40;

export function memoryCommands(ground: RlmGround): readonly AnyCommand[] {
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
  { places }: RlmGround,
  store: string | undefined,
  { cwd }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const [{ defaultMemoryPath, readMemoryFile }, { memoryReport }] = await Promise.all([
    import('../memory/memory-file.ts'),
    import('../memory/memory-report.ts'),
  ]);
  const path =
    store === undefined ? defaultMemoryPath(places.home) : typedPath(store, { cwd, userHome: places.userHome });
  const file = readMemoryFile(path);
  if (!file.exists && store !== undefined) {
    yield failed('memory-missing', `there is no file ${path}`, 'Name a file that a run with --memory-mode write made.');
    return;
  }
  const report = memoryReport(file);
  yield { type: 'line', text: headLine(file) };
  yield* tables(report);
  yield* refusedLines(report);
  yield { type: 'data', value: { path, ...report } as unknown as JsonValue };
}

function headLine({ path, exists, records, rejected_count, passed_over }: MemoryFile): string {
  if (!exists) return `Nothing is remembered yet (${path}). Memory is off unless --memory-mode says otherwise.`;
  const older = passed_over > 0 ? `, ${passed_over} older passed over` : '';
  return `${path}: ${plural(records.length, 'record')} used, ${plural(rejected_count, 'line')} refused${older}. Memory is never evidence.`;
}

function* tables(report: MemoryReport): Generator<CommandOutput> {
  if (report.groups.length === 0) return;
  const any = (text: string | null) => text ?? 'any';
  yield {
    type: 'table',
    columns: ['task', 'kind', 'family', 'category', 'recommendation', 'count', 'confidence'],
    rows: report.groups
      .slice(0, MOST_ROWS)
      .map((group) => [
        group.task,
        group.kind,
        any(group.family_id),
        any(group.fixture_category),
        group.recommendation,
        String(group.count),
        group.mean_confidence.toFixed(2),
      ]),
  };
  yield* more(report.groups.length);
  if (report.effects.length === 0) return;
  yield { type: 'line', text: 'What the code does with it:' };
  yield {
    type: 'table',
    columns: ['task', 'family', 'category', 'effect'],
    rows: report.effects
      .slice(0, MOST_ROWS)
      .map((effect) => [effect.task, any(effect.family_id), any(effect.fixture_category), effect.does.join('; ')]),
  };
  yield* more(report.effects.length);
  if (report.family_order.length > 1)
    yield { type: 'line', text: `Families for the synthesis, steadiest first: ${report.family_order.join(', ')}` };
}

function* more(count: number): Generator<CommandOutput> {
  if (count > MOST_ROWS) yield { type: 'line', text: `… and ${count - MOST_ROWS} more rows (--json shows all)` };
}

function* refusedLines({ rejected, rejected_count }: MemoryReport): Generator<CommandOutput> {
  const shown = rejected.slice(0, MOST_ROWS);
  for (const { line, reason, detail } of shown)
    yield { type: 'line', text: `refused line ${line}: ${reason} (${detail})` };
  if (rejected_count > shown.length)
    yield { type: 'line', text: `… and ${rejected_count - shown.length} more refused lines` };
}
