// Owns how the result of a command reads: output without terminal codes, then what is worth knowing about its end.
// Knows no process. Invariant: the text alone tells whether the command worked.
import { stripVTControlCharacters } from 'node:util';
import type { ProcessResult } from '#base/process.ts';
import type { ToolOutput } from '#core/agent/tool.ts';
import { programName } from '../risk/call.ts';
import { lexScript } from '../risk/lex-script.ts';

/** Colours and cursor moves gone; a line that was drawn again and again is shown as it was last. */
export function plainOutput(text: string): string {
  const plain = text.includes('\u001b') ? stripVTControlCharacters(text) : text;
  if (!plain.includes('\r') && !plain.includes('\b')) return plain.trimEnd();
  return plain.replaceAll('\r\n', '\n').split('\n').map(lastDrawing).join('\n').trimEnd();
}

function lastDrawing(line: string): string {
  const body = line.replace(/\r+$/, '');
  const last = body.slice(body.lastIndexOf('\r') + 1);
  return last.split('\b').reduce((before, after) => before.slice(0, -1) + after);
}

/** Programs for which 1 is an answer (nothing found, different, false) and no failure. */
const ANSWERS_WITH_ONE = /^(?:.*[|;&]\s*)?(?:grep|egrep|fgrep|rg|diff|cmp|test|\[|pgrep|which)(?:\s[^|;&]*)?$/s;

export function isFailed(command: string, { ended, signal, exitCode }: ProcessResult): boolean {
  const isAnswer = exitCode === 1 && ANSWERS_WITH_ONE.test(command.trim());
  return ended !== 'exit' || signal !== undefined || (exitCode !== 0 && !isAnswer);
}

export interface EndedCommand {
  readonly command: string;
  readonly result: ProcessResult;
  readonly seconds: number;
  /** What walls did. */
  readonly notes?: readonly string[];
  readonly isEnclosed?: boolean;
}

export function commandOutput(ended: EndedCommand): ToolOutput {
  const { command, result, notes = [] } = ended;
  const { exitCode, output } = result;
  const lines = [...endNotes(ended), ...notes];
  const text = [plainOutput(output.text), ...lines].filter((part) => part !== '').join('\n');
  const failed = isFailed(command, result);
  return {
    text: text === '' ? '(no output)\n[exit 0]' : text,
    ...(failed ? { isError: true } : {}),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(output.spill === undefined ? {} : { spill: output.spill }),
    ...(output.spillBytes === undefined ? {} : { spillBytes: output.spillBytes }),
    ...(output.truncated ? { totalBytes: output.totalBytes } : {}),
  };
}

/** Walls end what is left before anybody can see it: the words tell that something may have been. */
function leftNote({ command, result, isEnclosed }: EndedCommand): readonly string[] {
  if (!isEnclosed)
    return result.leftovers ? ['[processes that it left running were ended; use background: true to keep one]'] : [];
  const { commands } = lexScript(command);
  const leaves = commands.findLastIndex(
    ({ background, words }) => background || /^(?:nohup|setsid|disown)$/.test(programName(words[0]?.text ?? '')),
  );
  const waits = commands.findLastIndex(({ words }) => words.length === 1 && words[0]?.text === 'wait');
  return result.ended === 'exit' && leaves > waits
    ? ['[whatever it left running was ended with it; use background: true for a server]']
    : [];
}

function endNotes(command: EndedCommand): readonly string[] {
  const { result, seconds } = command;
  const { ended, exitCode, signal, output } = result;
  const notes: string[] = [];
  if (result.error !== undefined) notes.push(result.error);
  if (ended === 'timeout')
    notes.push(`[ended after its time-out of ${seconds} s; give a longer timeout, or background: true]`);
  if (ended === 'aborted') notes.push('[stopped on request]');
  if (ended === 'too-much-output') notes.push(`[ended: its output passed ${output.totalBytes} bytes]`);
  if (ended === 'exit' && signal !== undefined) notes.push(`[ended by ${signal}]`);
  if (ended === 'exit' && exitCode !== undefined && exitCode !== 0) notes.push(`[exit ${exitCode}]`);
  notes.push(...leftNote(command));
  if (output.spillError !== undefined) notes.push(`[the whole output could not be saved: ${output.spillError}]`);
  return notes;
}
