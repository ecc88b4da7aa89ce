// Owns what one step of a recorded procedure is, a call or words for a person or a model, and the form of steps in SKILL.md that a person
// reads and a rule replays: a numbered list, each item a verb and its words in code. Knows no skill and no tool's insides.
// Invariants: reading what was written gives the same steps; an item in any other form is words, never a guess at a call.
import { type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { normalizeText } from '#base/text.ts';

export interface CallStep {
  readonly kind: 'call';
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface WordStep {
  readonly kind: 'words';
  readonly text: string;
}

export type Step = CallStep | WordStep;

/** `{host}` in any text of a step; `${HOME}` and what programs use in braces is none. */
const PARAMETER = /(?<![$\w'])\{([a-z][a-z0-9_-]{0,40})\}/g;

export function parametersOf(steps: readonly Step[]): readonly string[] {
  const names = steps.flatMap((step) => (step.kind === 'call' ? namesIn(step.arguments) : []));
  return [...new Set(names)];
}

export function fillStep(step: CallStep, values: Readonly<Record<string, string>>): CallStep {
  const filled = Object.entries(step.arguments).map(([key, value]) => [
    key,
    typeof value === 'string'
      ? value.replace(PARAMETER, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : whole))
      : value,
  ]);
  return { ...step, arguments: Object.fromEntries(filled) as JsonObject };
}

function namesIn(data: JsonObject): readonly string[] {
  return Object.values(data).flatMap((value) =>
    typeof value === 'string' ? [...value.matchAll(PARAMETER)].map(([, name = '']) => name) : [],
  );
}

export function renderSteps(steps: readonly Step[]): string {
  return steps.map((step, index) => `${index + 1}. ${renderStep(step)}`).join('\n');
}

/** One item without its number; further lines are indented. */
export function renderStep(step: Step): string {
  if (step.kind === 'words') return step.text;
  const plain = plainForm(step);
  return plain ?? `Call \`${step.tool}\` with ${code(plainJson(step.arguments))}`;
}

/** Text that stays as it is in a file that is normalised when it is written. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' && normalizeText(value) === value && !/[^\P{Cc}\n]|[\u2028\u2029]/u.test(value);
}

/** JSON of the same value whose characters no normalisation touches. */
function plainJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  return isPlain(text)
    ? text
    : text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The readable form of the tools that nearly all procedures are made of; undefined when an argument would be lost. */
function plainForm({ tool, arguments: given }: CallStep): string | undefined {
  const { command, workdir, path, content, pattern, ...rest } = given;
  if (Object.keys(rest).length > 0 || !Object.values(given).every(isPlain)) return undefined;
  const has = (...names: readonly string[]) =>
    Object.keys(given).length === names.filter((name) => typeof given[name] === 'string').length;
  if (tool === 'terminal' && has('command', 'workdir') && typeof command === 'string')
    return command.includes('\n')
      ? runBlock(command, workdir)
      : `Run ${code(command)}${place('in the folder', workdir)}`;
  if (tool === 'read_file' && has('path') && typeof path === 'string') return `Read ${code(path)}`;
  if (tool === 'search_files' && has('pattern', 'path') && typeof pattern === 'string')
    return `Find ${code(pattern)}${place('in', path)}`;
  if (tool === 'write_file' && has('path', 'content') && typeof path === 'string' && typeof content === 'string')
    return `Write ${code(path)} with${fenced(content)}`;
  return undefined;
}

function place(words: string, value: unknown): string {
  return typeof value === 'string' ? ` ${words} ${code(value)}` : '';
}

/** A fence closes with a line of its own, so that no folder can stand behind it. */
function runBlock(command: string, workdir: unknown): string | undefined {
  return workdir === undefined ? `Run${fenced(command)}` : undefined;
}

function code(text: string): string {
  return text.includes('`') || text.includes('\n') ? `\`\`\` ${plainJson(text)} \`\`\`` : `\`${text}\``;
}

function fenced(text: string): string {
  const mark = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const lines = text.split('\n').map((line) => `   ${line}`.trimEnd());
  return `:\n\n   ${mark}\n${lines.join('\n')}\n   ${mark}`;
}

export interface StepItem {
  readonly step: Step;
  /** The whole item as it stands, number and further lines included. */
  readonly source: string;
}

/** The items under `## Steps`, else those of the first numbered list. */
export function readSteps(markdown: string): readonly StepItem[] {
  const lines = sectionLines(markdown);
  const items: string[][] = [];
  let mark: string | undefined;
  for (const line of lines) {
    const begins = mark === undefined && /^\d{1,3}[.)]\s+\S/.test(line);
    const belongs = items.length > 0 && (mark !== undefined || line.trim() === '' || /^\s{2,}\S/.test(line));
    if (begins) items.push([line]);
    else if (belongs) items.at(-1)?.push(line);
    else if (items.length > 0) break;
    if (items.length > 0) mark = fenceAfter(line, mark);
  }
  return items.map((item) => {
    const source = item.join('\n').trimEnd();
    return { step: readStep(source.replace(/^\d{1,3}[.)]\s+/, '')), source };
  });
}

/** The fence that is open behind the line. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const found = /^\s*(`{3,})\s*\w*$/.exec(line)?.[1];
  if (found === undefined) return open;
  return open === undefined ? found : found === open ? undefined : open;
}

function sectionLines(markdown: string): readonly string[] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => /^#{1,4}\s+(?:steps|procedure|how to)\b/i.test(line));
  const rest = lines.slice(start + 1);
  const end = start < 0 ? -1 : rest.findIndex((line) => /^#{1,3}\s/.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

const SPAN = '(?:`([^`\\n]+)`|``` ("(?:[^"\\\\]|\\\\.)*") ```)';
const RUN = new RegExp(`^(?:Run|Execute)\\s+${SPAN}(?:\\s+in the folder\\s+${SPAN})?\\.?$`, 'i');
const READ = new RegExp(`^Read\\s+${SPAN}\\.?$`, 'i');
const FIND = new RegExp(`^Find\\s+${SPAN}(?:\\s+in\\s+${SPAN})?\\.?$`, 'i');
const WRITE = new RegExp(`^Write\\s+${SPAN}\\s+with:?\\s*\\n([\\s\\S]*)$`, 'i');
const RUN_BLOCK = /^(?:Run|Execute):?\s*\n([\s\S]*)$/i;
const CALL = new RegExp(`^Call\\s+${SPAN}\\s+with\\s+${SPAN}$`, 'i');

function readStep(text: string): Step {
  return readCall(text) ?? { kind: 'words', text };
}

function readCall(text: string): CallStep | undefined {
  const run = RUN.exec(text);
  if (run) return callOf('terminal', { command: span(run, 1), workdir: span(run, 3) });
  const read = READ.exec(text);
  if (read) return callOf('read_file', { path: span(read, 1) });
  const find = FIND.exec(text);
  if (find) return callOf('search_files', { pattern: span(find, 1), path: span(find, 3) });
  return readBlock(text) ?? readJsonCall(text);
}

function readBlock(text: string): CallStep | undefined {
  const write = WRITE.exec(text);
  const content = write && unfenced(write[3] ?? '');
  if (write && content !== undefined) return callOf('write_file', { path: span(write, 1), content: content ?? '' });
  const run = RUN_BLOCK.exec(text);
  const command = run && unfenced(run[1] ?? '');
  return typeof command === 'string' ? callOf('terminal', { command }) : undefined;
}

function readJsonCall(text: string): CallStep | undefined {
  const call = CALL.exec(text);
  const given = call && parseJsonObject(span(call, 3) ?? '');
  return call && given?.ok ? callOf(span(call, 1) ?? '', given.value) : undefined;
}

/** Of one span the plain or the quoted group matched. */
function span(match: RegExpExecArray, group: number): string | undefined {
  const quoted = match[group + 1];
  if (quoted === undefined) return match[group];
  const parsed = parseJsonObject(`{"text":${quoted}}`);
  return parsed.ok && typeof parsed.value.text === 'string' ? parsed.value.text : undefined;
}

function unfenced(text: string): string | undefined {
  const fence = /^\s*(`{3,})\w*\n([\s\S]*)\n\s*\1\s*$/.exec(text);
  return fence?.[2]
    ?.split('\n')
    .map((line) => line.replace(/^ {1,3}/, ''))
    .join('\n');
}

function callOf(tool: string, given: Readonly<Record<string, string | undefined>> | JsonObject): CallStep | undefined {
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as JsonObject;
  return tool === '' || Object.keys(known).length === 0 ? undefined : { kind: 'call', tool, arguments: known };
}
