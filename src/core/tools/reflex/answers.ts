// Owns the fixed texts of these rules in English, and how a result is quoted with its source (reflex 7).
// Invariant: what a tool said is quoted, never retold.

import { plural } from '#base/text.ts';
import type { ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';

/** The result of a command under `$ command · exit 0 · 12 ms`. */
export function quoteCommand(command: string, result: ToolResultPart): ReflexStep {
  const { exitCode, ms, refused, spill } = result.observed;
  if (refused !== undefined)
    return {
      type: 'say',
      text: 'It was not run.',
      quotes: [{ source: `$ ${command} · ${refused}`, text: result.text }],
    };
  const exit = exitCode === undefined ? '' : ` · exit ${exitCode}`;
  const rest = spill === undefined ? '' : ` · whole output in ${spill}`;
  return {
    type: 'say',
    text: '',
    quotes: [{ source: `$ ${command}${exit} · ${Math.round(ms)} ms${rest}`, text: result.text }],
  };
}

/** A result as it is, under a name of its source. */
export function quoteResult(source: string, result: ToolResultPart): ReflexStep {
  const quote: ReflexQuote = { source, text: result.text };
  return { type: 'say', text: result.isError ? 'That failed.' : '', quotes: [quote] };
}

export function countLine(count: number, noun: string, where: string): string {
  return `${plural(count, noun)} ${where}.`;
}

/** Shell quoting for a path that the owner named. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_@%+=:,./~-]+$/u.test(text) && !text.startsWith('-')
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A path, quoted when a line would otherwise not read it as one. */
export function spokenPath(path: string): string {
  return /^[\p{L}\p{N}_@+~./-]+$/u.test(path) ? path : `"${path}"`;
}

export function joinPath(folder: string | undefined, path: string): string {
  if (folder === undefined || folder === '' || folder === '.' || /^[/~]/.test(path)) return path;
  return `${folder.replace(/\/+$/, '')}/${path.replace(/^\.\//, '')}`;
}
