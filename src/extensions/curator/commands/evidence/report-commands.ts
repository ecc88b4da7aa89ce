// Owns `curator report` and `curator analyze` (curator notes 5, 16): the same report, of all skills or of one. Reads only.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { noSuchSkill } from '../../proposal/skill-text.ts';
import { daysInput, formatInput, requiredText } from '../flags.ts';

export function reportCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator report',
    summary: 'Report the recorded evidence: counts, top skills and tools, recent calls',
    surfaces: ['cli'],
    readOnly: true,
    input: z.object({ days: daysInput(7), format: formatInput }),
    examples: ['talaria curator report', 'talaria curator report --days 30 --format json'],
    run: (asked, { signal }) => printReport(ground, { ...asked, skill: null }, signal),
  });
}

export function analyzeCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator analyze',
    summary: 'Report the evidence of one skill',
    surfaces: ['cli'],
    readOnly: true,
    input: z.object({
      skill: requiredText('name it: --skill NAME').trim().min(1, 'name it: --skill NAME').describe('Name of the skill'),
      days: daysInput(30),
      format: formatInput,
    }),
    examples: ['talaria curator analyze --skill release-notes --days 90'],
    run: (asked, { signal }) => printReport(ground, asked, signal),
  });
}

interface Asked {
  readonly days: number;
  readonly skill: string | null;
  readonly format: 'markdown' | 'json';
}

async function* printReport(
  ground: CuratorGround,
  { days, skill, format }: Asked,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const [{ openEvidence }, { buildReport }, { ledgerReader }, { reportMarkdown }, { dumpJson }] = await Promise.all([
    import('../../backfill/open-evidence.ts'),
    import('../../report/build-report.ts'),
    import('../../report/ledger-reader.ts'),
    import('../../report/report-markdown.ts'),
    import('../../text/dump-json.ts'),
  ]);
  const { mind, told } = await openEvidence(ground, signal);
  const question = { dbPath: ground.places.evidenceDatabase, days, skill, now: ground.clock.now() };
  const report = buildReport(ledgerReader(mind.evidence()), question);
  const unknown = skill === null ? undefined : await noSuchSkill(ground, skill, signal);
  if (unknown) {
    yield unknown;
    return;
  }
  const result = told === undefined ? report : { ...report, notes: [told] };
  if (told !== undefined && format !== 'json') yield { type: 'line', text: told };
  yield { type: 'line', text: format === 'json' ? dumpJson(result) : reportMarkdown(report).trimEnd() };
  yield { type: 'data', value: result as unknown as JsonValue };
}
