// Owns `curator verify`: a proposal's file against the evidence (seed 002; curator notes 13, 16). Knows no check. Writes nothing.
// Invariant: leaves with 0 only when every check holds; a file that is no proposal at all is a wrong use that names file and line.
import { z } from 'zod';
import { parseJson } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { daysFlag, requiredText } from '../flags.ts';
import { printed } from '../printed.ts';

const input = z.object({
  proposalFile: requiredText('name it: --proposal-file FILE').describe(
    'File that `propose --format json --output` wrote',
  ),
  skill: z.string().min(1).optional().describe('It must be for this skill, and rest on its evidence'),
  days: daysFlag,
  format: z.enum(['text', 'json']).default('text').describe('text when absent'),
});

export function verifyCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator verify',
    summary: 'Check a proposal: grounded in evidence, harmless, for a person to approve',
    surfaces: ['cli'],
    input,
    examples: ['talaria curator verify --proposal-file proposal.json --skill release-notes'],
    async *run({ proposalFile, skill = null, days, format }, context): AsyncGenerator<CommandOutput> {
      const [
        { namedFile },
        { jsonFaultLine },
        { reportOf },
        { verifyProposal, proposalVerdictText },
        { openEvidence },
      ] = await Promise.all([
        import('../../proposal/skill-text.ts'),
        import('../../proposal/json-fault-line.ts'),
        import('../../proposal/report-of.ts'),
        import('../../verify/proposal.ts'),
        import('../../backfill/open-evidence.ts'),
      ]);
      const path = typedPath(proposalFile, { cwd: context.cwd, userHome: ground.places.userHome });
      const fix = 'Write one with `talaria curator propose --skill NAME --format json --output FILE`.';
      const text = namedFile(path);
      if (!text.ok) {
        yield wrongUse(text.reason, text.detail, fix);
        return;
      }
      const proposal = parseJson(text.value);
      if (!proposal.ok) {
        yield wrongUse(proposal.reason, `${path}:${jsonFaultLine(text.value)}: The file is no JSON.`, fix);
        return;
      }
      const { mind } = await openEvidence(ground, context.signal);
      const result = verifyProposal(proposal.value, reportOf(ground, mind, { days, skill }));
      yield* printed({ result, format, text: () => proposalVerdictText(result) });
      if (!result.passed) yield failed('proposal-not-verified', `The proposal fails: ${result.failures.join(', ')}.`);
    },
  });
}
