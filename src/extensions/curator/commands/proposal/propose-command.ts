// Owns `curator propose`: a dry run for a reviewer (seed 002; curator notes 13, 16). Knows no rule of a proposal. Invariants: writes nothing but
// the file that was asked for, wholly or not at all; the result is printed before anything can fail on it.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import type { Result } from '#base/result.ts';
import { type Failure, failed, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { OutputRefusal } from '../../proposal/output-file.ts';
import type { Proposal } from '../../verify/proposal.ts';
import { daysFlag, requiredText } from '../flags.ts';
import { printed, printedText } from '../printed.ts';

const input = z.object({
  skill: requiredText('name it: --skill NAME').describe('Name of the skill'),
  skillFile: z.string().optional().describe("Its SKILL.md; the library's text when absent"),
  days: daysFlag,
  format: z.enum(['markdown', 'json']).default('markdown').describe('markdown when absent'),
  output: z.string().min(1).optional().describe('Also write it to this file, outside the home and every skills folder'),
  force: z.boolean().default(false).describe('With --output: also over a file that is no proposal'),
  draftWithModel: z.boolean().default(false).describe('Let the configured model draft the change, for review'),
  modelTimeout: z.number().default(180).describe('Seconds that the model may take; 180'),
});

type ProposeInput = z.infer<typeof input>;

export function proposeCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator propose',
    summary: 'Propose a change of a skill from its evidence; nothing is applied',
    surfaces: ['cli'],
    input,
    examples: [
      'talaria curator propose --skill release-notes',
      'talaria curator propose --skill release-notes --draft-with-model --format json --output proposal.json',
    ],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const given = await givenText(ground, asked, context);
      if ('exitCode' in given) {
        yield given;
        return;
      }
      const { writeOutput } = await import('../../proposal/output-file.ts');
      const place = { cwd: context.cwd, userHome: ground.places.userHome };
      const output = await outputOf(ground, asked, place);
      if (output?.ok === false) {
        yield wrongUse(output.reason, output.detail, FIXES[output.reason]);
        return;
      }
      const proposal = await propose(ground, { asked, given: given.text }, context);
      const { proposalMarkdown } = await import('../../verify/proposal.ts');
      const shown = { result: proposal, format: asked.format, text: () => proposalMarkdown(proposal) };
      yield* printed(shown);
      if (output) writeOutput(output.value, printedText(shown));
      const draft = proposal.model_draft;
      if (draft?.executed === false)
        yield failed('no-draft', `No draft was made: ${draft.error}`, 'The proposal stands without it.');
    },
  });
}

/** The text of the file that was named; undefined: the library has the skill. */
async function givenText(
  ground: CuratorGround,
  { skill, skillFile }: ProposeInput,
  { cwd, signal }: CommandContext,
): Promise<{ readonly text: string | undefined } | Failure> {
  const { namedFile, noSuchSkill } = await import('../../proposal/skill-text.ts');
  if (skillFile === undefined) return (await noSuchSkill(ground, skill, signal)) ?? { text: undefined };
  const read = namedFile(typedPath(skillFile, { cwd, userHome: ground.places.userHome }));
  if (read.ok) return { text: read.value };
  return wrongUse(read.reason, read.detail, 'Name the SKILL.md, or leave --skill-file out.');
}

interface Asked {
  readonly asked: ProposeInput;
  readonly given: string | undefined;
}

async function propose(ground: CuratorGround, { asked, given }: Asked, context: CommandContext): Promise<Proposal> {
  const [{ skillText }, { failuresIn, reportOf }, { buildProposal, withModelDraft }, { openEvidence }] =
    await Promise.all([
      import('../../proposal/skill-text.ts'),
      import('../../proposal/report-of.ts'),
      import('../../verify/proposal.ts'),
      import('../../backfill/open-evidence.ts'),
    ]);
  const { mind } = await openEvidence(ground, context.signal);
  const text = given ?? (await skillText(mind, asked.skill, context.signal));
  const report = reportOf(ground, mind, { days: asked.days, skill: asked.skill });
  const failures = failuresIn(ground, mind, { report, text });
  const proposal = buildProposal({ skill: asked.skill, skillText: text, report, failures });
  if (!asked.draftWithModel) return proposal;
  const { draftWithModel } = await import('../../proposal/draft-with-model.ts');
  const timeoutMs = Math.min(3600, Math.max(1, asked.modelTimeout)) * 1000;
  const question = { prompt: proposal.draft_prompt, timeoutMs, clock: ground.clock };
  return withModelDraft(proposal, await draftWithModel(mind, question, context.signal));
}

/** Absent: no file was asked for. */
async function outputOf(
  ground: CuratorGround,
  { output, force }: Pick<ProposeInput, 'output' | 'force'>,
  place: { readonly cwd: string; readonly userHome: string },
): Promise<Result<string, OutputRefusal> | undefined> {
  if (output === undefined) return undefined;
  const [{ outputFile }, { externalSkills }] = await Promise.all([
    import('../../proposal/output-file.ts'),
    ground.open(),
  ]);
  const { home, skills } = ground.places;
  return outputFile({ path: typedPath(output, place), guarded: [skills, ...externalSkills, home], force });
}

const FIXES: Readonly<Record<OutputRefusal, string>> = {
  'output-guarded': 'Name a file elsewhere; skills are written by `talaria curator apply`.',
  'no-such-folder': 'Make it, or name another file.',
  'not-a-file': 'Name a file.',
  'output-exists': 'Name another file, or add --force to write over it.',
  'file-not-readable': 'Name another file.',
};
