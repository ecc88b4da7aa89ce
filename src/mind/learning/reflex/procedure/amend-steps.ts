// Owns what a correction makes of the steps of a skill, as a patch of its text: old and new words of the step list. Pure.
// Invariant: steps that the correction does not name stay as they are; the numbers stay in order.
import { ok, type Result, refuse } from '#base/result.ts';
import { renderStep, type StepItem } from '../../procedure/steps.ts';

/** One more command at the end, or one step less. */
export type Amendment = { readonly command: string } | { readonly skip: number };

export interface StepPatch {
  readonly oldString: string;
  readonly newString: string;
  /** The step that is new, in words; empty when one went. */
  readonly added: string;
}

export function amendSteps(items: readonly StepItem[], amendment: Amendment): Result<StepPatch, 'no-such-step'> {
  const bodies = items.map(({ source }) => source.replace(/^\d{1,3}[.)]\s+/, ''));
  const added =
    'skip' in amendment
      ? ''
      : renderStep({ kind: 'call', tool: 'terminal', arguments: { command: amendment.command } });
  if ('skip' in amendment && (bodies.length < 2 || bodies[amendment.skip - 1] === undefined))
    return refuse('no-such-step', 'There is no such step.');
  const changed = 'skip' in amendment ? bodies.toSpliced(amendment.skip - 1, 1) : [...bodies, added];
  const before = items.map(({ source }) => source);
  const after = changed.map((body, index) => `${index + 1}. ${body}`);
  return ok({ ...smallest(before.join('\n'), after.join('\n')), added });
}

/** Lines that are equal at the beginning stay out of the patch, but for the last of them: it makes the place unique. */
function smallest(oldText: string, newText: string): Pick<StepPatch, 'oldString' | 'newString'> {
  const [before, after] = [oldText.split('\n'), newText.split('\n')];
  let same = 0;
  while (same < before.length - 1 && same < after.length - 1 && before[same] === after[same]) same += 1;
  const from = Math.max(0, same - (before[same] === after[same] ? 0 : 1));
  return { oldString: before.slice(from).join('\n'), newString: after.slice(from).join('\n') };
}
