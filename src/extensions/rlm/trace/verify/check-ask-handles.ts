// Owns looking at the handles of a stored ask with its context: a quotation stands where its place says, code gives the same bytes again.
// Reads the context and runs the code in the sandbox. Invariant: without the context nothing is called sound or wrong.
import { oneLine } from '#base/text.ts';
import type { AskOutcome, Handle } from '../../ask/ask-outcome.ts';
import type { ContextSource } from '../../repl/context-source.ts';
import type { SourcePlace } from '../../run/run-outcome.ts';
import type { HandleCheck } from './check-handles.ts';

/** @throws TalariaError as the source and the sandbox */
export async function checkAskHandles(
  { handles, sentences }: Pick<AskOutcome, 'handles' | 'sentences'>,
  source: ContextSource,
  signal: AbortSignal,
): Promise<HandleCheck> {
  const { checkComputed } = await import('../../repl/check-computed.ts');
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const found = new Map<string, string>();
  for (const handle of handles) {
    const detail =
      handle.kind === 'computed'
        ? (await checkComputed(handle, (id) => byId.get(id), { source, signal })).detail
        : spanDetail(handle, source);
    if (detail !== null) found.set(handle.id, detail);
  }
  for (const [at, { place, text }] of sentences.entries()) {
    const detail = place === null ? null : placeDetail(place, source, (said) => oneLine(said) === text);
    if (detail !== null) found.set(`sentence ${at + 1}`, detail);
  }
  return ({ id }) => found.get(id) ?? null;
}

function spanDetail(handle: Handle, source: ContextSource): string | null {
  if (handle.kind !== 'span') return null;
  const { place, quote } = handle;
  // A span that goes on into the next file is placed in its first.
  return placeDetail(place, source, (said, isEnd) => said === quote || (isEnd && quote.startsWith(said)));
}

function placeDetail(
  { source_path, start_byte, end_byte }: SourcePlace,
  source: ContextSource,
  isSaid: (text: string, isEnd: boolean) => boolean,
): string | null {
  const file = source.files.find(({ path }) => path === source_path);
  if (file === undefined) return 'The context has no such file.';
  const { text } = source.slice(file.start_byte + start_byte, file.start_byte + end_byte);
  return isSaid(text, file.start_byte + end_byte === file.end_byte) ? null : 'Its place says something else.';
}
