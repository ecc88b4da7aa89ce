// Owns what reaches a terminal as text: safe of escape sequences, and one table of turn event → lines, which the plain surface prints as they are
// and the chat paints. Knows no terminal. Invariants: output of `plain` holds no control character but newline and tab; every line is safe to print.

import type { Refusal } from '#base/result.ts';
import { spellUnseen } from '#base/text/unseen.ts';
import { plural } from '#base/text.ts';
import type { FileChange } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { AssistantMessage, ToolResultPart } from '#core/model/message.ts';
import type { OpenRefusal } from '#surfaces/app/app.ts';
import { withFix } from '#surfaces/app/wording.ts';

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: end

export function plain(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(ESCAPES, '').replace(CONTROLS, '');
}

/** `text` with all of it to be seen: what a person says yes to must not hide in what a terminal or an eye passes over. */
export function visible(text: string): string {
  return spellUnseen(text.replace(/\r\n/g, '\n'), (point) => {
    const code = point.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** First line of `text`, safe, at most `max` characters. */
export function oneLine(text: string, max = 200): string {
  const line = plain(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}

export type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow' | 'cyan' | 'italic' | 'underline' | 'strike';

export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** With `colour` false every style is the identity (NO_COLOR, TERM=dumb, no terminal). */
export function createPaint(colour: boolean): Paint {
  if (!colour) return (_style, text) => text;
  return (style, text) => `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`;
}

export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function formatCost(cost: number | null): string {
  if (cost === null) return 'cost unknown';
  return cost === 0 ? '$0' : `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export interface EventLine {
  /** `answer`: Markdown of a language model. `output`: text that is shown as it is. */
  readonly kind: 'tool' | 'result' | 'diff' | 'error' | 'notice' | 'answer' | 'output' | 'end';
  readonly text: string;
}

/** What it answers quotes files and results of tools. */
const REFLEX = 'reflex/1';

/** What `model` answers is Markdown, and not a quotation that a backtick or a blank line is part of. */
export function writesMarkdown(model: string): boolean {
  return model !== REFLEX;
}

/** Lines for one event; most events have none. */
export function eventLines(event: TurnEvent): readonly EventLine[] {
  switch (event.type) {
    case 'tool-start':
      return [{ kind: 'tool', text: oneLine(event.summary, 300) }];
    case 'file-change':
      return changeLines(event);
    case 'tool-end':
      return [resultLine(event.result)];
    case 'message':
      return event.message.role === 'assistant' ? answerLines(event.message) : [];
    case 'model-retry':
      return [
        notice(
          `${event.model}: ${event.reason}; trying again${event.delayMs > 0 ? ` in ${formatMs(event.delayMs)}` : ''}`,
        ),
      ];
    case 'model-fallback':
      return [notice(`${event.from}: ${event.reason}; ${event.to} answers`)];
    case 'hook-failed':
      return [notice(`${event.hook} failed at ${event.at}: ${event.error}`)];
    case 'approval':
      return approvalLines(event);
    case 'steer':
      return [notice(`you: ${event.text}`)];
    case 'notice':
      return [notice(event.text)];
    case 'prefix-break':
      return [
        notice(
          event.reason === 'compression' ? 'the conversation was compressed' : 'the tool-calling strategy changed',
        ),
      ];
    case 'turn-end':
      return endLines(event);
    case 'turn-start':
    case 'step-start':
    case 'step-end':
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-output':
      return [];
  }
}

/** The same for a command that the owner typed: what it printed stands there as it is, and nobody says anything about it. */
export function commandLines(event: TurnEvent): readonly EventLine[] {
  if (event.type === 'tool-end') {
    const { result } = event;
    if (result.observed.refused) return [resultLine(result)];
    return [{ kind: 'output', text: plain(result.text) }, factsLine(result)];
  }
  return event.type === 'turn-end' && event.outcome === 'done' ? [] : eventLines(event);
}

function notice(text: string): EventLine {
  return { kind: 'notice', text: oneLine(text, 400) };
}

/** `ok · exit 0 · 12 lines · 35 ms`, or the first line of what went wrong. */
export function resultLine(result: ToolResultPart): EventLine {
  const { refused } = result.observed;
  if (refused) return { kind: 'error', text: `not run (${refused}): ${oneLine(result.text)}` };
  const { kind, text } = factsLine(result);
  return { kind, text: result.isError ? `${text} · ${oneLine(result.text)}` : text };
}

function factsLine({ text, isError, observed: { exitCode, ms, bytes, spill } }: ToolResultPart): EventLine {
  const facts = [
    exitCode === undefined ? undefined : `exit ${exitCode}`,
    plural(plain(text).split('\n').length, 'line'),
    formatBytes(bytes),
    formatMs(ms),
    spill === undefined ? undefined : 'whole output kept in a file',
  ].filter((fact) => fact !== undefined);
  return isError
    ? { kind: 'error', text: `failed · ${facts.join(' · ')}` }
    : { kind: 'result', text: `ok · ${facts.join(' · ')}` };
}

/** A new file and one that is gone have nothing to compare: `/diff` shows them whole. */
function changeLines({ path, kind, added, removed, diff, more, unkept }: FileChange): readonly EventLine[] {
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : ''].filter((count) => count !== '');
  const lines = kind === 'changed' ? diff.split('\n') : [];
  return [
    { kind: 'result', text: [`${kind} ${oneLine(path)}`, ...counts].join(' ') },
    ...lines.map((text) => ({ kind: 'diff', text: plain(text) }) as const),
    ...(more > 0 && kind === 'changed'
      ? [{ kind: 'diff', text: `… ${plural(more, 'more line')}: /diff last` } as const]
      : []),
    ...(unkept === undefined ? [] : [notice(`/undo cannot bring ${path} back: ${unkept}`)]),
  ];
}

function answerLines({ model, parts, cut }: AssistantMessage): readonly EventLine[] {
  const text = plain(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));
  if (text.trim() === '') return [];
  const end = cut === undefined ? '' : `\n[${CUTS[cut]}]`;
  return writesMarkdown(model)
    ? [{ kind: 'answer', text: text.trim() + end }]
    : [{ kind: 'output', text: withoutEdges(text) + end }];
}

/** Without blank lines around it; how far its first line is set in stays. */
export function withoutEdges(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

const CUTS = {
  aborted: 'stopped here',
  length: 'cut off at the length limit of the model',
  failed: 'the connection broke here',
} as const;

/** Answers that are worth a line; a denial is said by the result of the call. */
const APPROVED: Readonly<Partial<Record<Extract<TurnEvent, { type: 'approval' }>['decision'], string>>> = {
  always: 'allowed from now on',
  remembered: 'allowed before',
};

function approvalLines(event: Extract<TurnEvent, { type: 'approval' }>): readonly EventLine[] {
  const what = APPROVED[event.decision];
  return what === undefined ? [] : [notice(`${what}: ${event.preview} (${event.reason})`)];
}

function endLines(event: Extract<TurnEvent, { type: 'turn-end' }>): readonly EventLine[] {
  const facts = `${plural(event.steps, 'step')} · ${event.model} · ${formatMs(event.ms)} · ${formatCost(event.cost)}`;
  if (event.outcome === 'done') return [{ kind: 'end', text: facts }];
  if (event.outcome === 'failed')
    return [
      { kind: 'error', text: withFix(failureText(event), '/retry sends it again.') },
      { kind: 'end', text: `failed · ${facts}` },
    ];
  if (event.outcome === 'length')
    return [notice('say "go on" for the rest, or ask for less at once'), { kind: 'end', text: `cut off · ${facts}` }];
  const what = event.outcome === 'aborted' ? 'stopped on request' : `stopped (${event.stopped ?? 'a limit'})`;
  return [{ kind: 'end', text: `${what} · ${facts}` }];
}

function failureText(event: Extract<TurnEvent, { type: 'turn-end' }>): string {
  const { error } = event;
  if (!error) return event.outcome;
  return oneLine(withFix(error.message, error.fix), 600);
}

export interface OpenProblem {
  readonly code: OpenRefusal;
  readonly message: string;
  readonly fix: string;
}

const FIXES: Readonly<Record<OpenRefusal, string>> = {
  'no-such-session': '',
  'owned-elsewhere':
    'Close it there, read it with `talaria sessions show ID`, or go on with a copy: `talaria sessions fork ID`.',
  'session-exists': 'Go on with it: --resume ID. A new one needs another id.',
  'model-unknown': 'See `talaria models`.',
  'unknown-toolset': 'See `talaria tools`.',
  'toolset-circle': 'Mend `toolsets` in config.yaml.',
};

export function openProblem({ reason, detail }: Refusal<OpenRefusal>): OpenProblem {
  return { code: reason, message: detail, fix: FIXES[reason] };
}
