// Owns the commands over stored runs: `rlm runs`, `prune`, `show`, `replay`, `verify`, `resume`. What they do loads when one is typed. Invariant: listing,
// showing, replaying and verifying make no file and ask no model; a run that somebody works on is never removed nor gone on with. Exit codes of
// replay and verify: 0 the same or sound, 1 not, 2 nothing there, 3 it cannot be done any more.
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { listed, pruned, replayed, resumed, shown } from './stored-flags.ts';

const work = () => import('./stored-runs.ts');
const again = () => import('./done-again.ts');

async function* later<Module>(
  load: () => Promise<Module>,
  run: (module: Module) => AsyncGenerator<CommandOutput>,
): AsyncGenerator<CommandOutput> {
  yield* run(await load());
}

export function storedCommands(ground: Ground): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm runs',
      summary: 'List recursive runs, newest first',
      surfaces: ['cli', 'chat'],
      readOnly: true,
      input: listed,
      examples: ['talaria rlm runs', 'talaria rlm runs --kind ask --limit 5'],
      run: (asked) => later(work, ({ listRuns }) => listRuns(ground, asked)),
    }),
    defineCommand({
      name: 'rlm prune',
      summary: 'Remove recursive runs that are older than so many days',
      surfaces: ['cli'],
      input: pruned,
      examples: ['talaria rlm prune --older-than 30 --keep 20', 'talaria rlm prune --older-than 0 --dry-run'],
      run: (asked) => later(work, ({ pruneRuns }) => pruneRuns(ground, asked)),
    }),
    defineCommand({
      name: 'rlm show',
      summary: 'Show a recursive run: what is cited, what was refused and why, what was not read',
      surfaces: ['cli', 'chat'],
      input: shown,
      positional: ['run'],
      examples: [
        'talaria rlm show rlm_3f',
        'talaria rlm show rlm_3f --calls',
        'talaria rlm show rlm_3f --html run.html',
      ],
      run: (asked, { cwd }) => later(work, ({ showRun }) => showRun(ground, asked, cwd)),
    }),
    defineCommand({
      name: 'rlm replay',
      summary: 'Do a stored run again without a model and compare every event and the outcome',
      surfaces: ['cli'],
      input: replayed,
      positional: ['run'],
      examples: ['talaria rlm replay rlm_3f', 'talaria rlm replay run.json'],
      run: ({ run }, context) => later(again, ({ replayTarget }) => replayTarget(ground, run, context)),
    }),
    defineCommand({
      name: 'rlm verify',
      summary: 'Check that a run holds together: calls, events, hashes, links, claims within the evidence',
      surfaces: ['cli'],
      readOnly: true,
      input: replayed,
      positional: ['run'],
      examples: ['talaria rlm verify rlm_3f', 'talaria rlm verify run.json'],
      run: ({ run }, context) => later(again, ({ verifyTarget }) => verifyTarget(ground, run, context)),
    }),
    defineCommand({
      name: 'rlm resume',
      summary: 'Go on with a recursive run that was killed; calls that were answered are not asked again',
      surfaces: ['cli'],
      input: resumed,
      positional: ['run'],
      examples: ['talaria rlm resume rlm_3f'],
      run: (asked, { signal }) => later(again, ({ resumeStored }) => resumeStored(ground, asked, signal)),
    }),
  ];
}
