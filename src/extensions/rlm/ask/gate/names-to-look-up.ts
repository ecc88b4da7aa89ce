// Owns which names of an answer must be looked for in the context before it is judged: those of sentences that cite something computed
// over the whole context. Pure. Invariant: bounded, so that an answer of a thousand names costs no thousand searches.
import { type ExactTerm, readClaim } from '#mind/evidence/trace-guard/read-claim.ts';
import type { Handle } from '../ask-outcome.ts';
import type { CitingSentence } from './answer-sentences.ts';
import { WHOLE_CONTEXT } from './grounded-handles.ts';
import { bareNumber } from './number-values.ts';

const MOST_NAMES = 64;
const LONGEST = 4_000;

/** Each once, in the order of the answer. */
export function namesToLookUp(sentences: readonly CitingSentence[], handles: readonly Handle[]): readonly string[] {
  const overContext = overWholeContext(handles);
  const names = new Set<string>();
  for (const { text, handles: cited } of sentences) {
    if (text.length > LONGEST || !cited.some((id) => overContext.has(id))) continue;
    for (const term of readClaim(text).exact) if (!isNumberTerm(term)) names.add(nameOf(term));
  }
  return [...names].slice(0, MOST_NAMES);
}

/** Ids of what is computed over the whole, of what is over that, and of what a model read out of it. */
function overWholeContext(handles: readonly Handle[]): ReadonlySet<string> {
  const over = new Set([WHOLE_CONTEXT]);
  for (const handle of handles) if (isOver(handle, over)) over.add(handle.id);
  return over;
}

function isOver(handle: Handle, over: ReadonlySet<string>): boolean {
  if (handle.kind === 'computed') return handle.inputs.some((id) => over.has(id));
  return handle.kind === 'child' && over.has(handle.over);
}

function isNumberTerm({ keys }: ExactTerm): boolean {
  return keys.some((key) => bareNumber(key) !== undefined);
}

/** As it is looked for in the context. */
function nameOf({ shown }: ExactTerm): string {
  return shown.replace(/['’]s?$/u, '');
}
