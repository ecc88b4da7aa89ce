// Owns looking at the handles of a stored ask with its context: a quotation stands where its place says, code gives the same bytes again.
// Reads the context and runs the code in the sandbox. Invariant: without the context nothing is called sound or wrong.
import type { AskOutcome, Handle } from '../../ask/ask-outcome.ts';
import type { ContextSource } from '../../repl/context-source.ts';
import type { HandleCheck } from './check-handles.ts';

/** @throws TalariaError as the source and the sandbox */
export async function checkAskHandles(
  { handles }: Pick<AskOutcome, 'handles'>,
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
  return ({ id }) => found.get(id) ?? null;
}

function spanDetail(handle: Handle, source: ContextSource): string | null {
  if (handle.kind !== 'span') return null;
  const { start_byte, end_byte } = handle.place;
  const file = source.files.find(({ path }) => path === handle.place.source_path);
  if (file === undefined) return 'The context has no such file.';
  const { text } = source.slice(file.start_byte + start_byte, file.start_byte + end_byte);
  // A span that goes on into the next file is placed in its first.
  const isSaid =
    text === handle.quote || (file.start_byte + end_byte === file.end_byte && handle.quote.startsWith(text));
  return isSaid ? null : 'Its place says something else.';
}
