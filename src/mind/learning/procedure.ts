// Owns recorded procedures: what one step is, a call or words; the form of steps in SKILL.md that a person reads and a rule replays; reading a
// procedure out of what was done; that the same calls were made again; the one word for what a command does.
import { canonicalJson, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { normalizeText } from '#base/text.ts';
import type { Message } from '#core/model/message.ts';
import { type DoneCall, succeeded, textArgument } from '#mind/memory/kept-entries.ts';
import { ownerWords, splitTurns, workCalls } from './read-turns.ts';

export interface CallStep {
  readonly kind: 'call';
  readonly tool: string;
  readonly arguments: JsonObject;
}

export type Step =
  | CallStep
  | {
      readonly kind: 'words';
      readonly text: string;
    };

/** `{host}` in any text of a step; `${HOME}` and what programs use in braces is none. */
const PARAMETER = /(?<![$\w'])\{([a-z][a-z0-9_-]{0,40})\}/g;

export function parametersOf(steps: readonly Step[]): readonly string[] {
  const texts = steps.flatMap((step) => (step.kind === 'call' ? Object.values(step.arguments) : []));
  const names = texts.flatMap((text) => (typeof text === 'string' ? [...text.matchAll(PARAMETER)] : []));
  return [...new Set(names.map(([, name = '']) => name))];
}

export function fillStep(step: CallStep, values: Readonly<Record<string, string>>): CallStep {
  const fill = (whole: string, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : whole);
  const filled = Object.entries(step.arguments).map(([key, value]) => {
    return [key, typeof value === 'string' ? value.replace(PARAMETER, fill) : value];
  });
  return { ...step, arguments: Object.fromEntries(filled) as JsonObject };
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
  const { command = '', workdir, path = '', content, pattern = '' } = given as Readonly<Record<string, string>>;
  if (!Object.values(given).every(isPlain)) return undefined;
  const has = (names: string, needed: string) =>
    Object.keys(given).every((name) => names.split(' ').includes(name)) && typeof given[needed] === 'string';
  if (tool === 'terminal' && has('command workdir', 'command')) return runForm(command, workdir);
  if (tool === 'read_file' && has('path', 'path')) return `Read ${code(path)}`;
  if (tool === 'search_files' && has('pattern path', 'pattern'))
    return `Find ${code(pattern)}${place('in', given.path as string | undefined)}`;
  if (tool === 'write_file' && has('path content', 'path') && content !== undefined)
    return `Write ${code(path)} with${fenced(content)}`;
  return undefined;
}

/** A fence closes with a line of its own, so that no folder can stand behind it. */
function runForm(command: string, workdir: string | undefined): string | undefined {
  if (!command.includes('\n')) return `Run ${code(command)}${place('in the folder', workdir)}`;
  return workdir === undefined ? `Run${fenced(command)}` : undefined;
}

function place(words: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${words} ${code(value)}`;
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

export interface Trace {
  readonly steps: readonly CallStep[];
  /** The call behind each step. */
  readonly calls: readonly DoneCall[];
  /** Calls that failed and were not made again with success. */
  readonly deadEnds: readonly DoneCall[];
  /** The owner's lines of the turns with calls, in order. */
  readonly lines: readonly {
    readonly text: string;
    /** Place in the messages. */
    readonly at: number;
    /** A call of its turn succeeded. */
    readonly worked: boolean;
  }[];
}

const MOST_STEPS = 25;

export function traceOf(messages: readonly Message[]): Trace {
  const done = workCalls(messages);
  const worked = done.filter(succeeded);
  const calls = worked
    .filter((one, index) => index === 0 || keyOf(one) !== keyOf(worked[index - 1] as DoneCall))
    .slice(-MOST_STEPS);
  const keys = new Set(worked.map(keyOf));
  const deadEnds = done.filter((one) => !succeeded(one) && !keys.has(keyOf(one)));
  return { steps: calls.map(stepOf), calls, deadEnds, lines: linesOf(messages) };
}

export function stepOf({ call }: DoneCall): CallStep {
  return { kind: 'call', tool: call.name, arguments: call.arguments };
}

/** Equal for calls that do the same. */
function keyOf({ call }: DoneCall): string {
  return `${call.name} ${canonicalJson(call.arguments)}`;
}

/** A step in a few words: the command, the path. */
export function shortStep({ tool, arguments: given }: CallStep): string {
  const text = textArgument(given, 'command') || textArgument(given, 'path') || textArgument(given, 'pattern');
  return tool === 'terminal' ? `$ ${text}` : `${tool} ${text}`.trim();
}

function linesOf(messages: readonly Message[]): Trace['lines'] {
  let at = 0;
  return splitTurns(messages).flatMap((turn) => {
    const place = at;
    at += turn.length;
    const text = ownerWords(turn[0]);
    const calls = workCalls(turn);
    return text !== '' && calls.length > 0 ? [{ text, at: place, worked: calls.some(succeeded) }] : [];
  });
}

const TIMES = 3;
const SHORTEST = 2;
const LONGEST = 12;

/** The longest run of calls at the end that occurs three times or more; undefined when there is none, or when it is not at its end yet. */
export function repeatedCalls(calls: readonly DoneCall[]): readonly DoneCall[] | undefined {
  const keys = calls.map(keyOf);
  for (let size = Math.min(LONGEST, Math.floor(keys.length / TIMES)); size >= SHORTEST; size -= 1) {
    const last = keys.slice(-size);
    const places = new Set(last).size > 1 ? placesOf(keys, last) : [];
    if (places.length >= TIMES) return goesOn(keys, last, places) ? undefined : calls.slice(-size);
  }
  return undefined;
}

/** The longest run, its newest time, of calls that did the same before: the same commands, or the same program on something else. */
export function repeatedRun(calls: readonly DoneCall[]): readonly DoneCall[] | undefined {
  const keys = calls.map((done) => actWord(stepOf(done)) || keyOf(done));
  for (let size = Math.min(LONGEST, Math.floor(keys.length / 2)); size >= SHORTEST; size -= 1) {
    const at = keys.findLastIndex((_key, start) => isAgain(keys, keys.slice(start, start + size), { start, size }));
    if (at < 0) continue;
    const run = keys.slice(at, at + size);
    const isOpen = at + size === keys.length && goesOn(keys, run, placesOf(keys, run));
    return isOpen ? undefined : calls.slice(at, at + size);
  }
  return undefined;
}

function isAgain(
  keys: readonly string[],
  run: readonly string[],
  at: { readonly start: number; readonly size: number },
) {
  return run.length === at.size && new Set(run).size > 1 && placesOf(keys.slice(0, at.start), run).length > 0;
}

/** Where the run begins, newest first, without overlapping. */
function placesOf(keys: readonly string[], run: readonly string[]): readonly number[] {
  const places: number[] = [];
  for (let at = keys.length - run.length; at >= 0; ) {
    const found = run.every((key, index) => keys[at + index] === key);
    if (found) places.push(at);
    at -= found ? run.length : 1;
  }
  return places;
}

/** Each time before, the same call followed: the owner is in the middle of something longer. */
function goesOn(keys: readonly string[], run: readonly string[], [, ...earlier]: readonly number[]): boolean {
  const next = new Set(earlier.map((at) => keys[at + run.length]));
  return next.size === 1 && !next.has(run[0]);
}

const LOOKS =
  /^(?:cat|ls|ll|wc|head|tail|less|more|grep|rg|find|fd|echo|pwd|stat|file|du|df|cksum|sha\d*sum|md5sum|which|env|date|tree|diff|sleep|cd|true|test|printf)$/;
/** Programs that run another one, or a file. */
const RUNNERS =
  /^(?:sudo|doas|time|nohup|env|npx|bunx|sh|bash|zsh|dash|node|deno|bun|python3?|ruby|perl|php|uv|poetry|pipenv|bundle|exec)$/;
/** Programs whose first word says what they do. */
const MANY =
  /^(?:npm|pnpm|yarn|make|just|task|rake|git|gh|glab|docker|podman|kubectl|helm|cargo|go|dotnet|gradle|gradlew|mvn|terraform|tofu|pulumi|ansible|systemctl|apt|apt-get|brew|pip3?|gem|composer|mix|aws|gcloud|az|fly|vercel|netlify|wrangler)$/;

/** Empty when the step only looks. */
export function actWord({ tool, arguments: given }: CallStep): string {
  if (tool === 'write_file' || tool === 'patch') return stem(textArgument(given, 'path'));
  const words = textArgument(given, 'command')
    .trim()
    .split(/\s+/)
    .filter((word) => !/^[A-Z_]+=/.test(word));
  return wordOf(words);
}

function wordOf([head = '', ...rest]: readonly string[]): string {
  const program = stem(head);
  const next = rest.find((word) => !word.startsWith('-')) ?? '';
  if (LOOKS.test(program)) return '';
  if (RUNNERS.test(program) && next !== '') return wordOf(rest.slice(rest.indexOf(next)));
  if (!MANY.test(program) || next === '') return program;
  const after = rest.slice(rest.indexOf(next) + 1).find((word) => !word.startsWith('-'));
  return stem(next === 'run' && after !== undefined ? after : next);
}

function stem(word: string): string {
  const name = word.replace(/["'`]/g, '').split('/').at(-1) ?? '';
  return name.toLowerCase().replace(/\.[a-z0-9]{1,5}$/, '');
}
