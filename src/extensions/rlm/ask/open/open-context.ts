// Owns opening the context of an ask: a file, a folder, a text, what is piped in; and opening it again for a run that named it. Makes no call.
// Invariant: what is piped in lies in a folder of the run's own below the home; a context that has changed since is refused, never read.
import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ContextSource } from '../../repl/context-source.ts';
import { type ContextRefusal, createFileSource, type FileSourceOptions } from '../../repl/source/file-source.ts';
import { spoolInput } from '../../repl/source/spool-input.ts';
import { textSource } from '../../repl/source/text-source.ts';
import type { RunRow } from '../../trace/run-row.ts';
import type { SkippedSource } from '../ask-request.ts';

/** `path` is absolute. A text is held in memory; who keeps a run keeps it in the trace. */
export type AskContext =
  | { readonly path: string; readonly root: string; readonly leaveOut?: (file: string) => boolean }
  | { readonly text: string }
  | { readonly input: AsyncIterable<Uint8Array | string> };

export interface OpenedContext {
  readonly source: ContextSource;
  /** Absolute; stamps are relative to it. */
  readonly root: string;
  readonly skipped: readonly SkippedSource[];
  /** File in which piped input is kept; null: none was. */
  readonly spooled: string | null;
}

export interface ContextPlace {
  readonly home: string;
  readonly run_id: string;
}

/** How what was piped in is named in stamps and places. */
const PIPED = '-';

export function contextFolder({ home, run_id }: ContextPlace): string {
  return join(home, 'rlm', 'contexts', run_id);
}

export async function openContext(
  context: AskContext,
  place: ContextPlace,
  signal: AbortSignal,
): Promise<Result<OpenedContext, ContextRefusal>> {
  if ('text' in context) return fromText(context.text);
  if ('input' in context) return fromInput(context.input, place, signal);
  const { path, leaveOut } = context;
  const root = await rootOf(context);
  const options: FileSourceOptions = { root, signal, ...(leaveOut === undefined ? {} : { leaveOut }) };
  const opened = await createFileSource(path, options);
  if (!opened.ok) return opened;
  return ok({ ...opened.value, root, spooled: null });
}

function fromText(text: string): Result<OpenedContext, 'context-empty'> {
  if (text.trim() === '') return refuse('context-empty', 'the text is empty');
  return ok({ source: textSource(text), root: '', skipped: [], spooled: null });
}

async function fromInput(
  input: AsyncIterable<Uint8Array | string>,
  place: ContextPlace,
  signal: AbortSignal,
): Promise<Result<OpenedContext, ContextRefusal>> {
  const root = contextFolder(place);
  const spooled = await spoolInput(input, root, signal);
  if (!spooled.ok) return spooled;
  const { path } = spooled.value;
  const opened = await createFileSource(path, { root, name: PIPED, signal });
  return opened.ok ? ok({ ...opened.value, root, spooled: path }) : opened;
}

/** The folder that was given holds it, else its own: a place is told as short as it stays clear. */
async function rootOf({ path, root }: { readonly path: string; readonly root: string }): Promise<string> {
  const way = relative(root, path);
  if (way !== '' && !way.startsWith('..') && !isAbsolute(way)) return root;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : dirname(path);
}

/** @throws TalariaError `context-changed` when a source is gone or another now */
export async function reopenContext(
  row: Pick<RunRow, 'root' | 'sources'>,
  signal: AbortSignal,
): Promise<ContextSource> {
  const { root, sources } = row;
  if (root === '') throw changed('it was a text that nobody kept');
  const [only] = sources;
  const outside = sources.find(({ path }) => relative(root, join(root, path)).startsWith('..'));
  if (outside !== undefined) throw changed(`${outside.path} leads out of its folder`);
  const isPiped = sources.length === 1 && only?.path === PIPED;
  const opened = isPiped
    ? await createFileSource(join(root, `${only?.hash.replace('sha256:', '')}.txt`), { root, name: PIPED, signal })
    : await createFileSource(
        sources.map(({ path }) => path),
        { root, signal },
      );
  if (!opened.ok) throw changed(opened.detail);
  const { source } = opened.value;
  const other = sources.find((stamp, at) => source.stamps[at]?.hash !== stamp.hash);
  if (other === undefined && source.stamps.length === sources.length) return source;
  source.close();
  throw changed(`${other?.path ?? root} is not what it was`);
}

function changed(detail: string): TalariaError {
  const fix = 'Ask again: the run that read it stays as a record.';
  return new TalariaError(`The context of the run cannot be read again: ${detail}.`, { code: 'context-changed', fix });
}
