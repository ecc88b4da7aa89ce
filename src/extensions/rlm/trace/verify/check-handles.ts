// Owns whether the answer of `rlm ask` rests on its handles: each cited one is there, each handle on what it names, hashes of code and output
// hold, and what a check of the caller says of each. Pure but for that check. Issue: computed handles give the same bytes again.
import type { AskOutcome, Handle } from '../../ask/ask-outcome.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { textHash } from '../text-hash.ts';
import { type Problem, problem } from './problem.ts';

/** Looks at one handle, or at the quotation `sentence N`, with what the run read or ran; a sentence: what is wrong. */
export type HandleCheck = (of: { readonly id: string }) => string | null;

export interface HandleGround {
  readonly calls: readonly CallRecord[];
  readonly check?: HandleCheck | undefined;
}

export function checkHandles(outcome: AskOutcome, { calls, check }: HandleGround): readonly Problem[] {
  const known = new Set(outcome.handles.map(({ id }) => id));
  // A sub-call that was an ask of its own has no record: the calls in it begin with its id.
  const callIds = new Set(calls.flatMap(({ call_id }) => [call_id, ...asksAbove(call_id)]));
  return [
    ...checkSentences(outcome, known),
    ...outcome.sentences.flatMap((_, at) => {
      const where = `sentence ${at + 1}`;
      const found = check?.({ id: where }) ?? null;
      return found === null ? [] : [problem('handle-wrong', where, found)];
    }),
    ...outcome.handles.flatMap((handle) => {
      const where = `handle ${handle.id}`;
      const found = check?.(handle) ?? null;
      return [
        ...checkHandle(handle, { known, callIds }),
        ...(found === null ? [] : [problem('handle-wrong', where, found)]),
      ];
    }),
  ];
}

function asksAbove(call_id: string): readonly string[] {
  const parts = call_id.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

function checkSentences({ sentences, verdict }: AskOutcome, known: ReadonlySet<string>): readonly Problem[] {
  const cited = sentences.filter(({ grade }) => grade !== 'not-supported');
  const problems = cited.flatMap(({ text, handles, grade, place, model }) => {
    const where = `sentence "${text.slice(0, 40).toWellFormed()}"`;
    const missing = grade === 'quoted' ? [] : handles.filter((id) => !known.has(id));
    const isBare =
      grade === 'quoted' ? place === null : handles.length === 0 || (grade === 'supported' && model === '');
    const none = isBare
      ? [problem('claim-without-evidence', where, `It is ${grade}, and names nothing that says so.`)]
      : [];
    return [...none, ...missing.map((id) => problem('handle-missing', where, `There is no handle ${id}.`))];
  });
  if ((verdict === 'answered') === cited.length > 0) return problems;
  return [
    ...problems,
    problem(
      'verdict-unfounded',
      'the verdict',
      `It is ${verdict}, with ${cited.length} sentences that are quoted, supported or computed.`,
    ),
  ];
}

interface Known {
  readonly known: ReadonlySet<string>;
  readonly callIds: ReadonlySet<string>;
}

const WHOLE = 'context';

function checkHandle(handle: Handle, { known, callIds }: Known): readonly Problem[] {
  const where = `handle ${handle.id}`;
  const missing = (ids: readonly string[]): readonly Problem[] =>
    ids
      .filter((id) => id !== WHOLE && !known.has(id))
      .map((id) => problem('handle-missing', where, `It rests on ${id}, which is not there.`));
  switch (handle.kind) {
    case 'span':
      return [];
    case 'child':
      return [
        ...missing([handle.over]),
        ...(callIds.has(handle.call_id)
          ? []
          : [problem('evidence-call', where, `There is no call ${handle.call_id}.`)]),
      ];
    case 'computed':
      return [
        ...missing(handle.inputs),
        ...(handle.code_hash === textHash(handle.code)
          ? []
          : [problem('handle-hash', where, 'Its code is another now.')]),
        ...(handle.output_hash === textHash(handle.output)
          ? []
          : [problem('handle-hash', where, 'Its output is another now.')]),
      ];
  }
}
