// Owns the commands about one SKILL.md: `curator propose`, a dry run for a reviewer, `verify`, a proposal's file against the evidence, and `skill-
// validate`, the built-in verifier (seed 002; curator notes 13, 14, 16).
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { parseJson } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, failed, wrongUse } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { OutputRefusal, Proposal } from '../proposal.ts';
import { curatorCommand, flag, pathReader, printed, printedText } from './flags.ts';

const proposeInput = z.object({
  skill: flag.required('name it: --skill NAME').describe('Name of the skill'),
  skillFile: z.string().optional().describe("Its SKILL.md; the library's text when absent"),
  days: flag.daysBack,
  format: flag.markdownOrJson.describe('markdown when absent'),
  output: flag.text('Also write it to this file, outside the home and every skills folder'),
  force: flag.on('With --output: also over a file that is no proposal'),
  draftWithModel: flag.on('Let the configured model draft the change, for review'),
  modelTimeout: z.number().default(180).describe('Seconds that the model may take; 180'),
});

export function proposeCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator propose',
    summary: 'Propose a change of a skill from its evidence; nothing is applied',
    input: proposeInput,
    examples: [
      'talaria curator propose --skill release-notes',
      'talaria curator propose --skill release-notes --draft-with-model --format json --output proposal.json',
    ],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const { namedFile, noSuchSkill, outputFile } = await import('../proposal.ts');
      const at = pathReader(ground, context);
      const given = asked.skillFile === undefined ? undefined : namedFile(at(asked.skillFile));
      if (given?.ok === false)
        return yield wrongUse(given.reason, given.detail, 'Name the SKILL.md, or leave --skill-file out.');
      const unknown = given ? undefined : await noSuchSkill(ground, asked.skill, context.signal);
      if (unknown) return yield unknown;
      const { home, skills } = ground.places;
      const guarded = async () => [skills, ...(await ground.open()).externalSkills, home];
      const output = asked.output ? outputFile(at(asked.output), await guarded(), asked.force) : undefined;
      if (output?.ok === false) return yield wrongUse(output.reason, output.detail, FIXES[output.reason]);
      const proposal = await propose(ground, asked, given?.value, context.signal);
      yield* shown(proposal, asked.format, output?.value);
    },
  });
}

/** `output`: absolute path of the file that it is also written to. */
async function* shown(proposal: Proposal, format: 'markdown' | 'json', output: string | undefined) {
  const { proposalMarkdown } = await import('../proposal.ts');
  const text = () => proposalMarkdown(proposal);
  yield* printed(proposal, format, text);
  if (output !== undefined) atomicWrite(output, `${printedText(proposal, format, text)}\n`);
  const { model_draft: draft } = proposal;
  if (draft?.executed === false)
    yield failed('no-draft', `No draft was made: ${draft.error}`, 'The proposal stands without it.');
}

/** `given`: the text of the file that was named; undefined: the library has the skill, or nobody. */
async function propose(
  ground: Ground,
  { skill, days, draftWithModel: isDrafted, modelTimeout }: z.infer<typeof proposeInput>,
  given: string | undefined,
  signal: AbortSignal,
): Promise<Proposal> {
  const [{ openEvidence }, { DAY_MS, ledgerReader, reportOf }, { failuresOf }, { eventTime }, proposals] =
    await Promise.all([
      import('../backfill/ensure-evidence.ts'),
      import('../report.ts'),
      import('../block/failures.ts'),
      import('#mind/evidence/ledger/event-rows.ts'),
      import('../proposal.ts'),
    ]);
  const { mind } = await openEvidence(ground, signal);
  await mind.skills.ready(signal);
  const text = given ?? mind.skills.get(skill)?.text ?? '';
  const report = reportOf(ground, mind, { days, skill });
  const since = eventTime(ground.clock.now() - report.filters.days * DAY_MS);
  const failures = failuresOf({ rows: ledgerReader(mind.evidence()).failures({ since, skill }), text });
  const proposal = proposals.buildProposal({ skill, skillText: text, report, failures });
  if (!isDrafted) return proposal;
  const timeoutMs = Math.min(3600, Math.max(1, modelTimeout)) * 1000;
  const question = { prompt: proposal.draft_prompt, timeoutMs };
  return proposals.withModelDraft(proposal, await proposals.draftWithModel(mind, ground, question, signal));
}

const FIXES: Readonly<Record<OutputRefusal, string>> = {
  'output-guarded': 'Name a file elsewhere; skills are written by `talaria curator apply`.',
  'no-such-folder': 'Make it, or name another file.',
  'not-a-file': 'Name a file.',
  'output-exists': 'Name another file, or add --force to write over it.',
  'file-not-readable': 'Name another file.',
};

export function verifyCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator verify',
    summary: 'Check a proposal: grounded in evidence, harmless, for a person to approve',
    input: z.object({
      proposalFile: flag
        .required('name it: --proposal-file FILE')
        .describe('File that `propose --format json --output` wrote'),
      skill: flag.text('It must be for this skill, and rest on its evidence'),
      days: flag.daysBack,
      format: z.enum(['text', 'json']).default('text').describe('text when absent'),
    }),
    examples: ['talaria curator verify --proposal-file proposal.json --skill release-notes'],
    async *run({ proposalFile, skill = null, days, format }, context): AsyncGenerator<CommandOutput> {
      const [{ namedFile, verifyProposal, proposalVerdictText }, { reportOf }, { openEvidence }] = await Promise.all([
        import('../proposal.ts'),
        import('../report.ts'),
        import('../backfill/ensure-evidence.ts'),
      ]);
      const path = pathReader(ground, context)(proposalFile);
      const fix = 'Write one with `talaria curator propose --skill NAME --format json --output FILE`.';
      const text = namedFile(path);
      if (!text.ok) return yield wrongUse(text.reason, text.detail, fix);
      const proposal = parseJson(text.value);
      if (!proposal.ok) return yield wrongUse(proposal.reason, `${path}: The file is no JSON.`, fix);
      const { mind } = await openEvidence(ground, context.signal);
      const result = verifyProposal(proposal.value, reportOf(ground, mind, { days, skill }));
      yield* printed(result, format, () => proposalVerdictText(result));
      if (!result.passed) yield failed('proposal-not-verified', `The proposal fails: ${result.failures.join(', ')}.`);
    },
  });
}

export function skillValidateCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator skill-validate',
    summary: 'Check SKILL.md files: encoding, front matter, name, description, markers',
    readOnly: true,
    positional: ['paths...'],
    input: z.object({
      paths: z
        .array(z.string())
        .default([])
        .describe('Files or folders; HERMES_CURATOR_TARGET_PATH, or this folder, when absent'),
      format: z.enum(['json', 'text']).default('json').describe('json when absent'),
    }),
    examples: ['talaria curator skill-validate ~/.talaria/skills --format text'],
    async *run({ paths, format }, context): AsyncGenerator<CommandOutput> {
      const [{ skillFileTargets }, { skillFilesText, validateSkillFiles }] = await Promise.all([
        import('../skill-files.ts'),
        import('../block/structural-check.ts'),
      ]);
      const named = paths.filter((path) => path !== '');
      const fromVerifier = ground.variables.HERMES_CURATOR_TARGET_PATH ?? '';
      const fromEnvironment = named.length === 0 && fromVerifier !== '';
      const typed = named.length > 0 ? named : [fromEnvironment ? fromVerifier : '.'];
      const at = pathReader(ground, context);
      const result = validateSkillFiles(skillFileTargets(typed.map((path) => at(path))), fromEnvironment);
      yield* printed(result, format, () => skillFilesText(result));
      if (result.ok) return;
      const bad = result.results.filter(({ ok }) => !ok);
      const first = bad[0] === undefined ? 'no SKILL.md was found' : `${bad[0].path}: ${bad[0].errors.join(', ')}`;
      yield failed('skill-not-valid', `${bad.length} of ${result.checked} checked with faults: ${first}`);
    },
  });
}
