// Owns `curator status`, also what `curator` alone shows (curator notes 16): where the evidence lies, how much there is, what may write.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround, CuratorMind } from '../../curator-ground.ts';
import { daysInput } from '../flags.ts';

const SHOWN_SKILLS = 5;
const ALL_DAYS = 3650;

export function statusCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator status',
    summary: 'Show how much evidence there is, and on which skills',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({ days: daysInput(ALL_DAYS) }),
    examples: ['talaria curator', 'talaria curator --days 7'],
    async *run({ days }, { signal }): AsyncGenerator<CommandOutput> {
      const [{ openEvidence }, { keptAsideLine }, { buildReport }, { ledgerReader }, { inlineText }] =
        await Promise.all([
          import('../../backfill/open-evidence.ts'),
          import('../../backfill/kept-aside.ts'),
          import('../../report/build-report.ts'),
          import('../../report/ledger-reader.ts'),
          import('../../text/inline-text.ts'),
        ]);
      const { mind, told } = await openEvidence(ground, signal);
      if (told !== undefined) yield { type: 'line', text: told };
      const { clock, places } = ground;
      const dbPath = places.evidenceDatabase;
      const { filters, summary } = buildReport(ledgerReader(mind.evidence()), { dbPath, days, now: clock.now() });
      const { tool_events, turn_events, session_events, error_events, skills } = summary;
      yield { type: 'line', text: `Evidence: ${dbPath}` };
      const aside = told === undefined ? keptAsideLine(dbPath) : undefined;
      if (aside !== undefined) yield { type: 'line', text: aside };
      yield {
        type: 'line',
        text: `Last ${filters.days} days: tool calls ${tool_events} (failed ${error_events}), turns ${turn_events}, session ends ${session_events}`,
      };
      yield {
        type: 'line',
        text: 'Mode: reads and reports; `curator auto-run` writes only with --apply-low-risk and --approve-auto-apply.',
      };
      for (const text of await unattended(ground, mind)) yield { type: 'line', text };
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

/** What runs while nobody looks on, and when it ran last. */
async function unattended(ground: CuratorGround, mind: CuratorMind): Promise<readonly string[]> {
  const [{ installedTimer }, { scheduleSchema }, { lastRunFile, readLastRun }] = await Promise.all([
    import('../../timer/timer-places.ts'),
    import('../../schedule/schedule-config.ts'),
    import('../../schedule/schedule-job.ts'),
  ]);
  const { timer_path: timer, plist_path: plist } = installedTimer(ground);
  const { schedule, write } = mind.config('curator', scheduleSchema);
  const last = readLastRun(lastRunFile(ground.places.home));
  const ran = last === undefined ? '' : `; last run ${isoTime(last.at)}${last.failed ? ', not finished' : ''}`;
  return [
    `Timer of this machine: ${timer ?? plist ?? 'none'}`,
    `Schedule inside Talaria: ${schedule === 'off' ? 'off' : `${schedule}, ${write ? 'writes' : 'only plans'}`}${ran}`,
  ];
}
