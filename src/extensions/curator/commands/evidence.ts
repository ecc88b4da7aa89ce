// Owns the commands about the evidence: `curator status` (also what `curator` alone shows), `report`, `analyze`, `measure` and
// `backfill-sessions` (curator notes 4, 5, 16). All but the last only read.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, failed, line, refused } from '#core/agent/command-spec.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { scheduleSchema } from '../schedule-job.ts';
import { inlineText } from '../text.ts';
import { curatorCommand, flag, pathReader, printed, printedText } from './flags.ts';

const SHOWN_SKILLS = 5;
const ALL_DAYS = 3650;

export function statusCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator status',
    summary: 'Show how much evidence there is, and on which skills',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({ days: flag.days(ALL_DAYS) }),
    examples: ['talaria curator', 'talaria curator --days 7'],
    async *run({ days }, { signal }): AsyncGenerator<CommandOutput> {
      const [{ keptAsideLine, openEvidence }, { reportOf }] = await Promise.all([
        import('../backfill/ensure-evidence.ts'),
        import('../report.ts'),
      ]);
      const { mind, told } = await openEvidence(ground, signal);
      const { db_path, filters, summary } = reportOf(ground, mind, { days });
      const { tool_events, turn_events, session_events, error_events } = summary;
      const skills = summary.skills.slice(0, SHOWN_SKILLS);
      const isEmpty = tool_events + turn_events + session_events === 0;
      if (told !== undefined) yield line(told);
      yield line(`Evidence: ${db_path}`);
      const aside = told === undefined ? keptAsideLine(db_path) : undefined;
      if (aside !== undefined) yield line(aside);
      yield line(
        `Last ${filters.days} days: tool calls ${tool_events} (failed ${error_events}), turns ${turn_events}, session ends ${session_events}`,
      );
      yield line(
        'Mode: reads and reports; `curator auto-run` writes only with --apply-low-risk and --approve-auto-apply.',
      );
      for (const text of await unattended(ground, mind)) yield line(text);
      const rows = skills.map((row) => [
        inlineText(row.skill_name).trim(),
        String(row.event_count),
        String(row.errors),
      ]);
      if (rows.length > 0) yield { type: 'table', columns: ['skill', 'calls', 'failed'], rows };
      if (isEmpty)
        yield line('Nothing is recorded in that time. `talaria curator backfill-sessions` reads what sessions left.');
      const counts = { tool_events, error_events, turn_events, session_events, skills };
      yield { type: 'data', value: { db_path, days: filters.days, mode: 'report-only', ...counts } };
    },
  });
}

/** What runs while nobody looks on, and when it ran last. */
async function unattended(ground: Ground, mind: Mind): Promise<readonly string[]> {
  const [{ installedTimer }, { lastRunFile, readLastRun }] = await Promise.all([
    import('../timer-plan.ts'),
    import('../schedule-job.ts'),
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

export function reportCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator report',
    summary: 'Report the recorded evidence: counts, top skills and tools, recent calls',
    readOnly: true,
    input: z.object({ days: flag.days(7), format: flag.markdownOrJson }),
    examples: ['talaria curator report', 'talaria curator report --days 30 --format json'],
    run: (asked, { signal }) => printReport(ground, { ...asked, skill: null }, signal),
  });
}

export function analyzeCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator analyze',
    summary: 'Report the evidence of one skill',
    readOnly: true,
    input: z.object({
      skill: flag.name('name it: --skill NAME').describe('Name of the skill'),
      days: flag.days(30),
      format: flag.markdownOrJson,
    }),
    examples: ['talaria curator analyze --skill release-notes --days 90'],
    run: (asked, { signal }) => printReport(ground, asked, signal),
  });
}

async function* printReport(
  ground: Ground,
  {
    days,
    skill,
    format,
  }: { readonly days: number; readonly skill: string | null; readonly format: 'markdown' | 'json' },
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const [{ openEvidence }, { reportMarkdown, reportOf }, { noSuchSkill }] = await Promise.all([
    import('../backfill/ensure-evidence.ts'),
    import('../report.ts'),
    import('../proposal.ts'),
  ]);
  const { mind, told } = await openEvidence(ground, signal);
  const report = reportOf(ground, mind, { days, skill });
  const unknown = skill === null ? undefined : await noSuchSkill(ground, skill, signal);
  if (unknown) return yield unknown;
  if (told !== undefined && format !== 'json') yield line(told);
  const result = told === undefined ? report : { ...report, notes: [told] };
  yield line(printedText(result, format, () => reportMarkdown(report)));
  yield { type: 'data', value: result as JsonValue };
}

export function measureCommand({ open }: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator measure',
    summary: 'Show success rate and cost of a skill before and after each of its edits',
    readOnly: true,
    positional: ['skill'],
    input: z.object({
      skill: flag.name('name it: curator measure SKILL').describe('Name of the skill'),
      format: flag.textOrJson,
    }),
    examples: ['talaria curator measure release-notes'],
    async *run({ skill, format }): AsyncGenerator<CommandOutput> {
      const [mind, { MEASURE_COLUMNS, measurementRows, readMeasurement }] = await Promise.all([
        open(),
        import('../measure-skill.ts'),
      ]);
      const measured = readMeasurement(mind, skill);
      if (measured === undefined)
        return yield refused(
          'nothing-to-measure',
          `Neither a write nor a use of ${skill} is known.`,
          '`talaria skills list` shows the skills; a use counts when a turn reads a skill and then works.',
        );
      if (format === 'json') return yield* printed(measured);
      yield { type: 'table', columns: MEASURE_COLUMNS, rows: measurementRows(measured) };
      yield { type: 'data', value: measured };
    },
  });
}

export function backfillCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator backfill-sessions',
    summary: 'Fill the evidence in from stored sessions: ours, and those of hermes-agent where you say so',
    input: z.object({
      sessionsDir: z.string().optional().describe('Folder of session_*.json; a state.db beside it is read too'),
      hermesState: z.string().optional().describe("hermes-agent's state.db; a copy of it is read"),
      days: z.coerce.number().default(30).describe('Sessions of so many days, 1 to 3650'),
      limit: z.coerce.number().optional().describe('The newest so many of them'),
      format: flag.textOrJson,
    }),
    examples: [
      'talaria curator backfill-sessions --days 90',
      'talaria curator backfill-sessions --sessions-dir ~/.hermes/sessions',
    ],
    async *run({ sessionsDir, hermesState, days, limit, format }, context): AsyncGenerator<CommandOutput> {
      const { places, clock } = ground;
      const [mind, { backfillSessions, reportLines }] = await Promise.all([
        ground.open(),
        import('../backfill/backfill-sessions.ts'),
      ]);
      const at = pathReader(ground, context);
      const options = { days, limit, sessionsDir: at(sessionsDir), hermesState: at(hermesState) };
      const report = await backfillSessions({ mind, places, clock }, options, context.signal);
      yield* printed(report, format, () => reportLines(report).join('\n'));
      // What was named must have been there to be read.
      const fix = 'Name the folder that holds session_*.json.';
      const isRead = report.sources.some(({ source }) => source === 'hermes-database');
      if (sessionsDir !== undefined && report.missing)
        yield failed('sessions-missing', `there is no folder ${report.sessions_dir}`, fix);
      else if (hermesState !== undefined && !isRead)
        yield failed('hermes-state-unread', `${hermesState} was not read`, report.notes.join('; '));
    },
  });
}
