// Owns what `golem trial` shows: the table of a trial, its gates, and each part of the mind left out in turn. Knows no world.
import type { JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import { type CommandContext, type CommandOutput, failed, line, wrongUse } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { ABLATIONS, type Ablation } from '../mind/mind-ground.ts';
import { runCodingTrial } from './coding-trial.ts';
import { runSimTrial, type TrialReport } from './sim-trial.ts';
import { measureRow } from './statistics.ts';

const SIMULATED =
  'The world is simulated: seeded incidents, eight actions, and no model answers. What is real is the golem: its records, its skills, its testament.';
const PLANTED =
  'The repositories are made for the trial, and the faults in them are planted. What is real: files, git, commands, exit codes, and the golem.';

export async function* runTrial(
  ground: Ground,
  asked: {
    readonly world: 'sim' | 'coding';
    readonly seeds?: number | undefined;
    readonly ablate?: string | undefined;
    readonly model?: string | undefined;
    readonly library?: boolean;
  },
  { signal, progress }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const { world, seeds = world === 'sim' ? 3 : 2, ablate, model, library } = asked;
  const wrong = misuse(asked);
  if (wrong !== undefined) return yield wrong;
  const run = (without: readonly Ablation[]) =>
    (world === 'sim' ? runSimTrial : runCodingTrial)(ground, {
      ...{ seeds, without: new Set(without), signal, progress, library, model: model || undefined },
    });
  yield line(world === 'sim' ? SIMULATED : PLANTED);
  if (ablate !== undefined) return yield* ablated(run, ablate === 'all' ? ABLATIONS : [ablate as Ablation]);
  const report = await run([]);
  const columns = [plural(seeds, 'seed'), 'mean', '95 % of the draws', 'must hold', ''];
  yield { type: 'table', columns, rows: report.measures.map(measureRow) };
  const judged = report.measures.some(({ holds }) => holds !== undefined);
  if (!judged) yield line('Gates are judged from 30 seeds on in sim, from 10 on in coding and with --library.');
  yield { type: 'data', value: report as unknown as JsonValue };
  if (report.missed.length > 0) yield failed('gate-missed', `These gates were missed: ${report.missed.join('; ')}`);
}

function misuse({ world, ablate, model, library }: Parameters<typeof runTrial>[1]) {
  const parts = [...ABLATIONS, 'all'];
  if (ablate !== undefined && !parts.includes(ablate))
    return wrongUse('no-such-part', `${ablate} is no part of the mind.`, `Take one of: ${parts.join(', ')}.`);
  if (model !== undefined && world === 'sim')
    return wrongUse('no-model-here', 'No model answers in the world sim.', 'Take the world coding.');
  if (!library || world === 'sim') return undefined;
  return wrongUse('no-library-here', 'Kits of a library are tried in the world sim.', 'Take the world sim.');
}

/** Told, not judged. */
async function* ablated(
  run: (without: readonly Ablation[]) => Promise<TrialReport>,
  parts: readonly Ablation[],
): AsyncGenerator<CommandOutput> {
  const whole = await run([]);
  const all: { readonly without: string; readonly report: TrialReport }[] = [{ without: 'nothing', report: whole }];
  for (const part of parts) all.push({ without: part, report: await run([part]) });
  yield {
    type: 'table',
    columns: ['without', ...all.map(({ without }) => without)],
    rows: whole.measures.map(({ name }, at) => [
      name,
      ...all.map(({ report }) => report.measures[at]?.mean.toFixed(3) ?? ''),
    ]),
  };
  yield { type: 'data', value: all as unknown as JsonValue };
}
