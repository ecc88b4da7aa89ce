// Owns turning turn events into lines of text: the plain surface prints them as they are, the chat paints them.
// Knows no terminal. Invariant: a pure function; every line is safe to print.

import { plural } from '#base/text.ts';
import type { FileChange } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { AssistantMessage, ToolResultPart } from '#core/model/message.ts';
import { withFix } from '#surfaces/app/with-fix.ts';
import { formatBytes, formatCost, formatMs, oneLine, plain } from './terminal-text.ts';

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
