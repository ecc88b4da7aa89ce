// Owns what the recorded calls of a skill say to its owner: which program failed with which first line, how often, when last, in which step, and the
// call that worked afterwards (issue 12).

import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { comparePoints, cutPoints, firstPoints } from '#base/text/code-points.ts';
import { oneLine } from '#base/text.ts';
import { programName, unwrapCommand } from '#core/tools/risk/call.ts';
import { lexScript } from '#core/tools/risk/lex-script.ts';
import { stepOf } from '#mind/skills/format/skill-text.ts';
import { innerText } from '../mine.ts';
import { type EvidenceRow, LEDGER_ORDER, type SkillCounts } from '../report.ts';
import { inlineText } from '../text.ts';

/** Rows as callers have them: a field that is missing is empty. */
export type BlockRow = Partial<EvidenceRow>;

export interface Failure {
  readonly program: string;
  readonly error: string;
  readonly times: number;
  readonly last: ShownCall;
  /** Where the command stands in the skill; absent: it does not, or before any step. */
  readonly step?: string;
  /** The first call of the same program, later in the same session, that went well. */
  readonly worked?: ShownCall;
}

export interface ShownCall {
  readonly at: string;
  readonly tool: string;
  /** The command; of a tool that runs none its arguments. */
  readonly text: string;
}

/** They keep the agent's own books: what they say of a skill is no evidence of it. */
const OWN_TOOLS: ReadonlySet<string> = new Set([
  ...['skills_list', 'skill_view', 'skill_manage', 'memory', 'session_search', 'todo', 'clarify'],
  ...['curator_evidence_report', 'recursive_read'],
]);
/** They change the shell or end it; what failed stands before them. */
const SHELL_WORDS: ReadonlySet<string> = new Set([
  ...['cd', 'pushd', 'popd', 'set', 'export', 'exit', 'return', 'true', 'false'],
]);
const LONGEST = 160;
/** No name is longer; more of it would be evidence, not a name. */
const LONGEST_NAME = 80;
const LOOKED_AT = 4000;

export interface FailureQuestion {
  /** Calls of one skill that failed and, of their sessions, those that went well. */
  readonly rows: readonly BlockRow[];
  /** SKILL.md as it stands: in it steps are looked up. */
  readonly text?: string;
  /** The answer, when somebody asked before. */
  readonly failures?: readonly Failure[];
}

export function failuresOf({ rows, text = '', failures }: FailureQuestion): readonly Failure[] {
  if (failures !== undefined) return failures;
  const calls = rows.filter((row) => !OWN_TOOLS.has(String(row.tool_name))).map(readCall);
  const failed = calls.filter(({ row }) => row.is_error).toSorted(newestFirst);
  const groups = Map.groupBy(failed, ({ program, error }) => JSON.stringify([program, error]));
  const fine = Map.groupBy(
    calls.filter(({ row }) => !row.is_error).toSorted((a, b) => newestFirst(b, a)),
    ({ row, program }) => JSON.stringify([row.session_id, program]),
  );
  const workedAfter = (call: Call) =>
    fine.get(JSON.stringify([call.row.session_id, call.program]))?.find((later) => isLater(later, call))?.shown;
  return [...groups.values()]
    .toSorted((a, b) => b.length - a.length || newestFirst(a[0], b[0]))
    .flatMap((group) => {
      const [newest] = group;
      if (newest === undefined) return [];
      const { program, error, shown, command } = newest;
      const step = command === '' ? '' : safeText(stepOf(text, command) ?? '');
      const worked = group.map(workedAfter).find((call) => call !== undefined);
      const found = { ...(step === '' ? {} : { step }), ...(worked === undefined ? {} : { worked }) };
      return [{ program, error, times: group.length, last: shown, ...found }];
    });
}

type Call = ReturnType<typeof readCall>;

/** `command`: as it was typed; empty: the tool runs none. */
function readCall(row: BlockRow) {
  const given = argumentsOf(row.args_json);
  const command = typeof given.command === 'string' ? given.command : '';
  const tool = String(row.tool_name ?? '');
  const text = safeText(command === '' ? (row.args_json ?? '') : command);
  const shown: ShownCall = { at: safeName(row.created_at), tool: safeName(tool), text };
  const program = safeName((command === '' ? '' : programOf(command)) || tool);
  return { row, command, program, shown, error: safeText(firstLine(row.result_preview)) };
}

/** Also of arguments that were too long to be kept whole. */
function argumentsOf(json: unknown): JsonObject {
  const read = parseJsonObject(String(json ?? ''));
  const given = read.ok ? read.value : {};
  const start = typeof given.preview === 'string' ? /"command":("(?:[^"\\]|\\.)*)/.exec(given.preview)?.[1] : undefined;
  if (start === undefined) return given;
  const cut = parseJsonObject(`{"command":${start}"}`);
  return cut.ok ? cut.value : {};
}

/** The last one that ran: with `;` and `|` its end is the end of all, with `&&` it is the one that the others were for. */
function programOf(command: string): string {
  const programs = lexScript(command).commands.flatMap(({ words }) => {
    const name = programName(unwrapCommand(words).words[0]?.text ?? '');
    return name === '' || SHELL_WORDS.has(name) ? [] : [name];
  });
  return programs.at(-1) ?? '';
}

/** But for lines in which a runner repeats the command; an end alone, when nothing was said. */
function firstLine(preview: string | null | undefined): string {
  const lines = innerText(firstPoints(String(preview ?? ''), LOOKED_AT)).split(/[\r\n]+/);
  return lines.find((line) => /\S/.test(line) && !/^[>$] /.test(line)) ?? '';
}

/** Of one time as in the ledger; plain data behind that by content. */
function newestFirst(a: Call | undefined, b: Call | undefined): number {
  const [left, right] = [a?.row ?? {}, b?.row ?? {}];
  return (
    comparePoints(String(right.created_at ?? ''), String(left.created_at ?? '')) ||
    (right[LEDGER_ORDER] ?? 0) - (left[LEDGER_ORDER] ?? 0) ||
    comparePoints(contentOf(left), contentOf(right))
  );
}

function contentOf({ session_id, tool_name, args_json, result_preview }: BlockRow): string {
  return JSON.stringify([session_id, tool_name, args_json, result_preview]);
}

function isLater({ row }: Call, { row: failed }: Call): boolean {
  const [time, before] = [String(row.created_at ?? ''), String(failed.created_at ?? '')];
  return time === before ? (row[LEDGER_ORDER] ?? 0) > (failed[LEDGER_ORDER] ?? 0) : time > before;
}

/** The door takes such a mark in a new text for a sign that the text is not what was meant. */
const TAKEN_OUT = /\[redacted:[\w-]{1,40}\]/g;

function safeText(text: string): string {
  const plain = inlineText(firstPoints(text, LOOKED_AT)).replace(TAKEN_OUT, '(secret left out)');
  return cutPoints(oneLine(plain), LONGEST);
}

/** One line, no mark of Markdown that could begin anything. */
export function safeName(name: unknown): string {
  const plain = inlineText(firstPoints(String(name ?? ''), LOOKED_AT)).replaceAll('`', "'");
  return cutPoints(plain.trim(), LONGEST_NAME);
}

/** The counts of a window as a block of ours says them: of errors those that it speaks of. */
export function countsOf(summary: Partial<SkillCounts>, failures: readonly Failure[]): Partial<SkillCounts> {
  return { ...summary, error_events: failures.reduce((sum, { times }) => sum + times, 0) };
}

/** Two or three lines each, for a fence. Time and tool stand before each call: by them `forget` finds the note again. */
export function failureLines(failures: readonly Failure[]): readonly string[] {
  return failures.flatMap(({ program, error, times, last, step, worked }) => [
    `- ${error.startsWith(`${program}: `) ? '' : `${program}: `}${error || '(said nothing)'} (${times === 1 ? 'once' : `${times} times`}${step === undefined ? '' : `, in ${step}`})`,
    `  last: ${last.at} ${last.tool} error: ${last.text}`,
    ...(worked === undefined ? [] : [`  worked afterwards: ${worked.at} ${worked.tool} ok: ${worked.text}`]),
  ]);
}
