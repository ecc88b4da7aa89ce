// Owns reading a procedure out of what was done: the calls that worked, in order, dead ends left out; that the same calls were made again;
// and the one word for what a command does: `build` for `sh build.sh` and for `npm run build`. Pure; knows no store and no shell.
// Invariant: every step is a call that ran and succeeded, with exactly its arguments; a run is given back only if it was made so often.
import { canonicalJson } from '#base/json.ts';
import type { Message } from '#core/model/message.ts';
import { type DoneCall, succeeded, textArgument, workCalls } from '../counters/done-calls.ts';
import { ownerWords, splitTurns } from '../counters/split-turns.ts';
import type { CallStep } from './steps.ts';

export interface Trace {
  readonly steps: readonly CallStep[];
  /** The call behind each step. */
  readonly calls: readonly DoneCall[];
  /** Calls that failed and were not made again with success. */
  readonly deadEnds: readonly DoneCall[];
  /** The owner's lines of the turns with calls, in order. */
  readonly lines: readonly TraceLine[];
}

export interface TraceLine {
  readonly text: string;
  /** Place in the messages. */
  readonly at: number;
  /** A call of its turn succeeded. */
  readonly worked: boolean;
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
