// Owns `rlm runs` and `rlm prune`: the list of stored runs, and removing old ones. Invariant: listing makes no file; a run that somebody works
// on is never removed, one that was killed only when that was asked for.
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../rlm-ground.ts';

const DAY = 86_400_000;

export function runsCommands(ground: RlmGround): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm runs',
      summary: 'List recursive runs, newest first',
      surfaces: ['cli', 'chat'],
      readOnly: true,
      input: z.object({
        limit: z.int().min(1).default(20).describe('So many at most; 20'),
        kind: z.enum(['run', 'ask', 'vanilla']).optional().describe('Only runs of this kind'),
      }),
      examples: ['talaria rlm runs', 'talaria rlm runs --kind ask --limit 5'],
      run: (asked) => listRuns(ground, asked),
    }),
    defineCommand({
      name: 'rlm prune',
      summary: 'Remove recursive runs that are older than so many days',
      surfaces: ['cli'],
      input: z.object({
        olderThan: z.number('type the days: --older-than DAYS').min(0).describe('Days since the run began'),
        keep: z.int().min(0).default(0).describe('The newest so many stay whatever their age'),
        killed: z.boolean().default(false).describe('Also runs that were killed and not gone on with'),
        dryRun: z.boolean().default(false).describe('Only say which'),
      }),
      examples: ['talaria rlm prune --older-than 30 --keep 20', 'talaria rlm prune --older-than 0 --dry-run'],
      run: (asked) => pruneRuns(ground, asked),
    }),
  ];
}

async function* listRuns(
  ground: RlmGround,
  { limit, kind }: { readonly limit: number; readonly kind?: 'run' | 'ask' | 'vanilla' | undefined },
): AsyncGenerator<CommandOutput> {
  const [{ openStoreToRead }, { RUN_COLUMNS, runListRow }] = await Promise.all([
    import('./stored/stored-run.ts'),
    import('../show/run-list.ts'),
  ]);
  const store = openStoreToRead(ground);
  try {
    const rows = store.list({ limit, ...(kind === undefined ? {} : { kind }) });
    if (rows.length === 0) yield { type: 'line', text: 'There are no runs yet: talaria rlm run TARGET makes one.' };
    else yield { type: 'table', columns: RUN_COLUMNS, rows: rows.map(runListRow) };
    yield { type: 'data', value: rows as unknown as JsonValue };
  } finally {
    store.close();
  }
}

interface Prune {
  readonly olderThan: number;
  readonly keep: number;
  readonly killed: boolean;
  readonly dryRun: boolean;
}

async function* pruneRuns(
  ground: RlmGround,
  { olderThan, keep, killed, dryRun }: Prune,
): AsyncGenerator<CommandOutput> {
  const { openTraceStore } = await import('../trace/open-trace-store.ts');
  const { contextFolder } = await import('../ask/open/open-context.ts');
  const { clock, places } = ground;
  const store = openTraceStore(places.home, { clock, readOnly: dryRun });
  try {
    for (const { message } of store.notices) yield { type: 'line', text: message };
    const gone = store.prune(clock.now() - olderThan * DAY, { keep, killed, dryRun });
    // What was piped into an ask lies beside the store.
    if (!dryRun)
      for (const run_id of gone)
        await rm(contextFolder({ home: places.home, run_id }), { recursive: true, force: true });
    const verb = dryRun ? 'would be removed' : 'removed';
    yield {
      type: 'line',
      text: `${plural(gone.length, 'run')} ${verb}${gone.length === 0 ? '.' : `: ${gone.join(', ')}`}`,
    };
    yield { type: 'data', value: { removed: [...gone], dry_run: dryRun } };
  } finally {
    store.close();
  }
}
