// Owns how much of a tool's output a model sees: what is over the cap goes whole into a file, the message keeps head and tail.
// Knows no tool. Invariant: nothing is lost (the spill file has every character) as long as the session may save more, and the preview
// says where it is and what is not there.
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { TalariaError } from '#base/errors.ts';
import { SPILL_FOLDER_BYTES, spillRoom } from '#base/process/spill-file.ts';
import { headTail } from '#base/text.ts';

/** Characters of one result that a model sees at most. */
export const RESULT_LIMIT = 50_000;
const PREVIEW = 1_500;
/** Share of a context window, in characters, that one result may show. */
const WINDOW_SHARE = 0.6;

/** Characters that one result may show to a model with a window of so many tokens. */
export function resultLimitFor(contextWindow: number): number {
  return Math.min(RESULT_LIMIT, Math.max(2_000, Math.floor(contextWindow * WINDOW_SHARE)));
}

export interface OutputCap {
  /** Characters this result may show. */
  readonly limit: number;
  readonly spillFolder: string;
  /** Call ids are unique in a session only. */
  readonly sessionId: string;
  readonly callId: string;
}

export interface CappedOutput {
  readonly text: string;
  readonly spill?: string;
}

export function capOutput(text: string, cap: OutputCap): CappedOutput {
  if (text.length <= cap.limit) return { text };
  const folder = join(cap.spillFolder, cap.sessionId);
  const spill = join(folder, `${cap.callId.replace(/[^\w-]/g, '_')}.txt`);
  if (Buffer.byteLength(text) > spillRoom(folder))
    throw new TalariaError(SPENT, { code: 'spill-full', fix: 'Start a new session.' });
  atomicWrite(spill, text);
  return { text: previewOf(text, cap.limit, { file: spill, size: `${text.length} characters` }), spill };
}

const SPENT = `the saved outputs of a session may take ${SPILL_FOLDER_BYTES / 1024 ** 2} MB`;

export interface Whole {
  readonly file: string;
  readonly size: string;
  /** Set when the file has no more than the start. */
  readonly savedBytes?: number | undefined;
}

/** A preview for output that is already in a file. */
export function previewOf(text: string, limit: number, { file, size, savedBytes }: Whole): string {
  const room = Math.max(200, Math.min(PREVIEW * 2, limit));
  const shown = headTail(text, Math.ceil(room / 2), Math.floor(room / 2));
  const what = savedBytes === undefined ? 'whole output' : `the first ${savedBytes} bytes, since ${SPENT}`;
  return `${shown}\n[${size} in all; ${what}: ${file} (read_file with offset, or search_files)]`;
}
