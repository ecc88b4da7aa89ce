// Owns `curator auto-run` (curator notes 8.1, 16): flags with the original's names and defaults. Knows no run.
// Invariant: the printed result comes first, what kept it from writing after it.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { type Failure, failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { verifyFlags } from '../flags.ts';
import { editKept, missingFolderNote, printed } from '../printed.ts';
import { emptyPattern, patternFlags } from '../skill-patterns.ts';

const on = (what: string) => z.boolean().default(false).describe(what);
const path = (what: string) => z.string().min(1).optional().describe(what);

const input = z.object({
  days: z.number().default(7).describe('Days of evidence that count, 1 to 3650'),
  skillsDir: path("Folder of the skills; only the home's own is ever written"),
  backupDir: path('Where a copy of each backup goes'),
  maxSkills: z.number().default(3).describe('Skills that one run may write, 1 to 25'),
  minEvidence: z.number().default(2).describe('Events that make a skill eligible, 1 to 1000'),
  semanticCandidates: on('Order eligible skills by the embedding model'),
  rerankCandidates: on('And the best of them by the reranker'),
  applyLowRisk: on('Write; only together with --approve-auto-apply'),
  approveAutoApply: on('Your approval of what this run writes'),
  protectCoreSkills: z.boolean().default(true).describe('Write skills with names of core skills too'),
  ...patternFlags,
  ...verifyFlags,
  variants: z.number().default(1).describe('Variants of the note to choose from, 1 to 4'),
  requireRestoreDrill: on('Write only after a passed restore drill of the last write'),
  restoreDrillStateFile: path('Where applies and drills are remembered'),
  format: z.enum(['markdown', 'json']).default('markdown'),
});

export function autoRunCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator auto-run',
    summary: 'Plan, and with both write flags make, small notes of evidence in skills that the agent made',
    surfaces: ['cli'],
    input,
    examples: ['talaria curator auto-run', 'talaria curator auto-run --apply-low-risk --approve-auto-apply'],
    async *run(asked, { cwd, signal }): AsyncGenerator<CommandOutput> {
      const empty = emptyPattern(asked);
      if (empty) {
        yield empty;
        return;
      }
      const [mind, { runAutoRun }, { autoRunExit }, { runSettings }, { planMarkdown }, { createRank }] =
        await Promise.all([
          ground.open(),
          import('../../run/auto-run.ts'),
          import('../../run/run-outcome.ts'),
          import('../../run/run-settings.ts'),
          import('../../plan/plan-markdown.ts'),
          import('../../search/create-rank.ts'),
        ]);
      const flags = withPaths(asked, { cwd, userHome: ground.places.userHome });
      const done = await runAutoRun({ ground, mind, rank: createRank(ground, mind) }, flags, signal);
      if (!done.ok) {
        yield refused(done.reason, done.detail, 'Nothing was written; try again later.');
        return;
      }
      const { value: run } = done;
      const note = missingFolderNote(flags.skillsDir);
      const result = note === undefined ? run : { ...run, note };
      const text = () => (note === undefined ? planMarkdown(run) : `${planMarkdown(run)}\n${note}`);
      yield* printed({ result, format: asked.format, text });
      const code = autoRunExit(run, runSettings(ground, flags));
      if (code !== 0) yield ending(code, run.candidates);
    },
  });
}

type Asked = z.infer<typeof input>;
const PATHS = ['skillsDir', 'backupDir', 'verifyCwd', 'restoreDrillStateFile'] as const;

function withPaths(asked: Asked, place: { readonly cwd: string; readonly userHome: string }): Asked {
  const typed = PATHS.flatMap((key) => {
    const value = asked[key];
    return value === undefined ? [] : [[key, typedPath(value, place)] as const];
  });
  return { ...asked, ...Object.fromEntries(typed) };
}

interface Candidate {
  readonly reason: string | null;
  readonly apply_result?: { readonly applied: boolean; readonly reason: string; readonly archive_path?: string } | null;
}

/** What was tried, or held back for the moment, speaks first; without any the reasons of the skipped. */
function reasonsOf(candidates: readonly Candidate[]): readonly string[] {
  const tried = candidates.flatMap(({ reason, apply_result: result }) => {
    if (result) return result.applied ? [] : [result.reason];
    return reason === 'restore-drill-required' ? [reason] : [];
  });
  return [...new Set(tried.length > 0 ? tried : candidates.flatMap(({ reason }) => reason ?? []))];
}

function ending(code: 1 | 3, candidates: readonly Candidate[]): Failure {
  const reasons = reasonsOf(candidates);
  const [first = 'refused'] = reasons;
  const why = reasons.join(', ');
  const archived = candidates.flatMap(({ apply_result: result }) => result?.archive_path ?? []);
  return code === 1
    ? failed(
        first,
        `Not everything could be written: ${why}.`,
        archived.length > 0 ? editKept(archived) : 'What failed stands as it was before.',
      )
    : refused(first, `Nothing was written: ${why}.`, FIXES[first] ?? 'See reason and apply_result of the candidates.');
}

const FIXES: Readonly<Record<string, string>> = {
  'auto-approval-required': 'Add --approve-auto-apply.',
  'restore-drill-required': 'Run `talaria curator restore-drill --manifest …` for the last apply.',
};
