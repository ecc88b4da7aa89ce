// Owns turning turn events into lines of text: the plain surface prints them as they are, the chat paints them.
// Knows no terminal. Invariant: a pure function; every line is safe to print.

import { plural } from '#base/text.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Message, ToolResultPart } from '#core/model/message.ts';
import { withFix } from '#surfaces/app/with-fix.ts';
import { formatBytes, formatCost, formatMs, oneLine, plain } from './terminal-text.ts';

export interface EventLine {
  readonly kind: 'tool' | 'result' | 'error' | 'notice' | 'answer' | 'end';
  readonly text: string;
}

/** Lines for one event; most events have none. */
export function eventLines(event: TurnEvent): readonly EventLine[] {
  switch (event.type) {
    case 'tool-start':
      return [{ kind: 'tool', text: oneLine(event.summary, 300) }];
    case 'tool-end':
      return [resultLine(event.result)];
    case 'message':
      return answerLines(event.message);
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
      return [notice(`taken into account: ${event.text}`)];
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

function notice(text: string): EventLine {
  return { kind: 'notice', text: oneLine(text, 400) };
}

/** `ok · exit 0 · 12 lines · 35 ms`, or the first line of what went wrong. */
export function resultLine(result: ToolResultPart): EventLine {
  const { exitCode, ms, bytes, spill, refused } = result.observed;
  if (refused) return { kind: 'error', text: `not run (${refused}): ${oneLine(result.text)}` };
  const facts = [
    exitCode === undefined ? undefined : `exit ${exitCode}`,
    plural(plain(result.text).split('\n').length, 'line'),
    formatBytes(bytes),
    formatMs(ms),
    spill === undefined ? undefined : 'whole output kept in a file',
  ].filter((fact) => fact !== undefined);
  if (result.isError) return { kind: 'error', text: `failed · ${facts.join(' · ')} · ${oneLine(result.text)}` };
  return { kind: 'result', text: `ok · ${facts.join(' · ')}` };
}

function answerLines(message: Message): readonly EventLine[] {
  if (message.role !== 'assistant') return [];
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  if (text.trim() === '') return [];
  const cut = message.cut === undefined ? '' : `\n[${CUTS[message.cut]}]`;
  return [{ kind: 'answer', text: plain(text).trim() + cut }];
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

export function failureText(event: Extract<TurnEvent, { type: 'turn-end' }>): string {
  const { error } = event;
  if (!error) return event.outcome;
  return oneLine(withFix(error.message, error.fix), 600);
}
