// Owns `curator status`, also what `curator` alone shows (curator notes 16): where the evidence lies, how much there is, what may write.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { daysInput } from './evidence-input.ts';

const SHOWN_SKILLS = 5;
const ALL_DAYS = 3650;

export function statusCommand({ open, places, clock }: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator status',
    summary: 'Show how much evidence there is and which skills it speaks of',
    surfaces: ['cli', 'chat'],
    input: z.object({ days: daysInput(ALL_DAYS) }),
    examples: ['talaria curator', 'talaria curator --days 7'],
    async *run({ days }): AsyncGenerator<CommandOutput> {
      const [mind, { buildReport }, { ledgerReader }, { inlineText }] = await Promise.all([
        open(),
        import('../../report/build-report.ts'),
        import('../../report/ledger-reader.ts'),
        import('../../text/inline-text.ts'),
      ]);
      const dbPath = places.evidenceDatabase;
      const { filters, summary } = buildReport(ledgerReader(mind.evidence()), { dbPath, days, now: clock.now() });
      const { tool_events, turn_events, session_events, error_events, skills } = summary;
      yield { type: 'line', text: `Evidence: ${dbPath}` };
      yield {
        type: 'line',
        text: `Last ${filters.days} days: tool calls ${tool_events} (failed ${error_events}), turns ${turn_events}, session ends ${session_events}`,
      };
      yield {
        type: 'line',
        text: 'Mode: reads and reports; `curator auto-run` writes only with --apply-low-risk and --approve-auto-apply.',
      };
      const shown = skills.slice(0, SHOWN_SKILLS);
      if (shown.length > 0) {
        yield {
          type: 'table',
          columns: ['skill', 'calls', 'failed'],
          rows: shown.map((row) => [inlineText(row.skill_name).trim(), String(row.event_count), String(row.errors)]),
        };
      }
      if (tool_events + turn_events + session_events === 0) {
        yield {
          type: 'line',
          text: 'Nothing is recorded in that time. `talaria curator backfill-sessions` reads what sessions left.',
        };
      }
      const counts = { tool_events, error_events, turn_events, session_events, skills: shown };
      yield {
        type: 'data',
        value: { db_path: dbPath, days: filters.days, mode: 'report-only', ...counts } as unknown as JsonValue,
      };
    },
  });
}
