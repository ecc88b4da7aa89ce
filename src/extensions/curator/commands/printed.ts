// Owns the two forms in which the curator's commands show a result: text for people, the original's JSON for programs (curator notes 16),
// and two sentences that several say. Knows no command. Invariant: `--format json` prints one JSON value and nothing else on the output.

import { existsSync } from 'node:fs';
import type { JsonValue } from '#base/json.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { dumpJson } from '../text/dump-json.ts';

export interface PrintedResult {
  readonly result: unknown;
  readonly format: 'json' | 'markdown' | 'text';
  /** Asked for unless the format is JSON. */
  readonly text: () => string;
}

/** The printed text, without a last line end. */
export function printedText({ result, format, text }: PrintedResult): string {
  return format === 'json' ? dumpJson(result) : text().trimEnd();
}

/** The lines, then the same as data for `--json`. */
export function* printed(shown: PrintedResult): Generator<CommandOutput, void, undefined> {
  yield { type: 'line', text: printedText(shown) };
  yield { type: 'data', value: shown.result as JsonValue };
}

/** `path`: absolute, or absent when none was named. */
export function missingFolderNote(path: string | undefined): string | undefined {
  return path === undefined || existsSync(path) ? undefined : `there is no folder ${path}`;
}

/** `archives`: absolute folders. */
export function editKept(archives: readonly string[]): string {
  return `The text from before the write stands again. What was edited while it was checked lies in ${archives.join(', ')}: take it from there.`;
}
