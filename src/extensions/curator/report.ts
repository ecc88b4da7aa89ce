// Owns the evidence report (seed 002, steps 1 and 2; curator notes 5): its rows and counts out of evidence.sqlite, as data and as Markdown.
import type { Database } from '#base/database/connection.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import {
  countEventsSince,
  countToolEvents,
  type EventWindow,
  failedToolEvents,
  newestToolEvents,
  newestTurnEvents,
  type ToolEventRow,
  tallySkills,
  tallyTools,
} from '#mind/evidence/ledger/event-report.ts';
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import { epochOf, type Instant, inlineCode, inlineText } from './text.ts';

/** Where a row stands in the ledger, which no report, block or JSON prints: of two rows of one second the larger is the newer. */
export const LEDGER_ORDER: unique symbol = Symbol('order in the ledger');

export type EvidenceRow = Omit<ToolEventRow, 'id'> & { readonly [LEDGER_ORDER]?: number };
export type SkillTally = { readonly skill_name: string; readonly event_count: number; readonly errors: number };
/** The three counts that a managed block shows. */
export type SkillCounts = {
  readonly tool_events: number;
  readonly skill_events: number;
  readonly error_events: number;
};
type EvidenceSummary = SkillCounts & {
  readonly turn_events: number;
  readonly session_events: number;
  readonly skills: readonly SkillTally[];
  readonly tools: readonly { readonly tool_name: string; readonly event_count: number; readonly errors: number }[];
};
export type EvidenceReader = ReturnType<typeof ledgerReader>;
export type EvidenceReport = ReturnType<typeof buildReport>;

const MOST_FAILED = 500;

export function ledgerReader(database: Database, options: CompatOptions = {}) {
  const inOrder = ({ id, ...row }: ToolEventRow): EvidenceRow => ({ ...row, [LEDGER_ORDER]: id });
  return {
    /** Counts of the window; `skills` and `tools` by events, then by name, at most `top` of each. Turns and sessions are those of every skill. */
    summary(window: EventWindow, top: number): EvidenceSummary {
      const { events: tool_events, errors: error_events, ofSkills } = countToolEvents(database, window, options);
      const skills = tallySkills(database, window, { top, ...options });
      const tools = tallyTools(database, window, { top, ...options });
      return {
        ...{ tool_events, error_events, skill_events: ofSkills },
        turn_events: countEventsSince(database, 'turn_events', window.since),
        session_events: countEventsSince(database, 'session_events', window.since),
        skills: skills.map(({ name: skill_name, events, errors }) => ({ skill_name, event_count: events, errors })),
        tools: tools.map(({ name: tool_name, events, errors }) => ({ tool_name, event_count: events, errors })),
      };
    },
    evidence: (window: EventWindow, limit: number): readonly EvidenceRow[] =>
      newestToolEvents(database, window, { limit, ...options }).map(inOrder),
    /** The newest calls that failed, 500 at most, and those of the same sessions and tools that went well afterwards. */
    failures: (window: EventWindow): readonly EvidenceRow[] =>
      failedToolEvents(database, window, { limit: MOST_FAILED, ...options }).map(inOrder),
    turns: ({ since }: EventWindow, limit: number) =>
      newestTurnEvents(database, since, limit).map((row) => ({ ...row })),
  };
}

export const DAY_MS = 86_400_000;
const LONGEST_DAYS = 3650;
const MOST_ROWS = 20;
const MOST_TURNS = 10;

interface ReportQuestion {
  readonly dbPath: string;
  /** Clamped to 1..3650; `longest` narrows it (365 for the agent's tool). */
  readonly days: number;
  readonly longest?: number;
  readonly skill?: string | null;
  readonly now: Instant;
}

export function buildReport(reader: EvidenceReader, question: ReportQuestion) {
  const { dbPath, longest = LONGEST_DAYS, skill = null, now } = question;
  const days = Math.min(longest, Math.max(1, Math.trunc(question.days)));
  const window = { since: eventTime(epochOf(now) - days * DAY_MS), skill };
  return {
    title: 'Curator evidence report',
    read_only: true,
    db_path: dbPath,
    filters: { days, skill },
    summary: reader.summary(window, MOST_ROWS),
    skill_evidence: reader.evidence(window, MOST_ROWS).map(plainRow) as readonly EvidenceRow[],
    recent_turns: reader.turns(window, MOST_TURNS),
    recommendation_policy: {
      v0_1: 'report_only',
      mutation: 'not_supported',
      next_steps: [
        'Read the failing rows of the most used skills first.',
        'Draft a change with `propose` and check it with `verify`.',
        'Apply only what was reviewed, through the guarded apply with its hash, backup and verification.',
      ],
    },
  };
}

/** A report is plain data, in its order already. */
function plainRow({ [LEDGER_ORDER]: _order, ...row }: EvidenceRow): EvidenceRow {
  return row;
}

export function reportOf(
  { places, clock }: Pick<Ground, 'places' | 'clock'>,
  mind: Pick<Mind, 'evidence'>,
  asked: Pick<ReportQuestion, 'days' | 'longest' | 'skill'>,
): EvidenceReport {
  return buildReport(ledgerReader(mind.evidence()), { dbPath: places.evidenceDatabase, now: clock.now(), ...asked });
}

const SHOWN_ROWS = 10;

export function reportMarkdown({ title, db_path, filters, summary, skill_evidence }: EvidenceReport): string {
  const { skills, tools } = summary;
  return `${[
    `# ${title}`,
    '',
    `- Window: last ${filters.days} day(s)`,
    `- Skill filter: ${filters.skill === null ? 'all' : inlineCode(filters.skill)}`,
    `- Evidence DB: ${inlineCode(db_path)}`,
    '- No mutation: this report changes nothing.',
    '',
    '## Summary',
    ...countLines(summary),
    '',
    '## Top skills',
    ...(skills.length > 0
      ? skills.map((row) => tallyLine(row.skill_name, row))
      : ['- No skill events in this window.']),
    '',
    '## Top tools',
    ...(tools.length > 0 ? tools.map((row) => tallyLine(row.tool_name, row)) : ['- No tool events in this window.']),
    '',
    '## Recent skill/tool evidence',
    ...(skill_evidence.length > 0
      ? skill_evidence.slice(0, SHOWN_ROWS).map(evidenceLine)
      : ['- No evidence in this window.']),
    '',
    '## Interpretation policy',
    '- Counts are signals for a reviewer, not verdicts.',
    '- Nothing here is applied; changes pass the guarded apply.',
  ].join('\n')}\n`;
}

export function countLines(counts: Omit<EvidenceSummary, 'skills' | 'tools'>): readonly string[] {
  return [
    `- Tool events: ${counts.tool_events}`,
    `- Skill-related events: ${counts.skill_events}`,
    `- Error-like events: ${counts.error_events}`,
    `- Turn events: ${counts.turn_events}`,
    `- Session-end events: ${counts.session_events}`,
  ];
}

function tallyLine(name: string, { event_count, errors }: Pick<SkillTally, 'event_count' | 'errors'>): string {
  return `- ${inlineCode(name)}: ${event_count} event(s), ${errors} error-like`;
}

function evidenceLine(row: EvidenceRow): string {
  const mark = row.is_error ? '⚠' : '✓';
  const [skill, session] = [row.skill_name, row.session_id].map((name) => (name ? inlineCode(name) : '-'));
  return `- ${mark} ${inlineText(row.created_at)} ${inlineCode(row.tool_name)} skill ${skill} session ${session}`;
}
