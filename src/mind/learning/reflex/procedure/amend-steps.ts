// Owns what a correction makes of the steps of a skill, as a patch of its text: old and new words of the step list. Pure.
// Invariant: steps that the correction does not name stay as they are; the numbers stay in order.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Step } from './step.ts';
import { renderStep, type StepItem } from './step-text.ts';
import { shortStep } from './trace.ts';

export type Amendment =
  | {
      readonly kind: 'add';
      readonly command: string;
      readonly at?: { readonly side: 'before' | 'after'; readonly step: number };
    }
  | { readonly kind: 'skip'; readonly step: number }
  | { readonly kind: 'replace'; readonly old: string; readonly command: string };

export interface StepPatch {
  readonly oldString: string;
  readonly newString: string;
  /** The step that is new, in words; empty when one went. */
  readonly added: string;
}

export function amendSteps(items: readonly StepItem[], amendment: Amendment): Result<StepPatch, 'no-such-step'> {
  const bodies = items.map(({ source }) => source.replace(/^\d{1,3}[.)]\s+/, ''));
  const changed = change(items, bodies, amendment);
  if (changed === undefined) return refuse('no-such-step', 'There is no such step.');
  const oldString = items.map(({ source }) => source).join('\n');
  const newString = changed.map((body, index) => `${index + 1}. ${body}`).join('\n');
  return ok(smallest(oldString, newString, addedBy(amendment)));
}

function change(
  items: readonly StepItem[],
  bodies: readonly string[],
  amendment: Amendment,
): readonly string[] | undefined {
  switch (amendment.kind) {
    case 'add':
      return inserted(bodies, amendment);
    case 'skip':
      return amendment.step >= 1 && amendment.step <= bodies.length && bodies.length > 1
        ? bodies.toSpliced(amendment.step - 1, 1)
        : undefined;
    case 'replace': {
      const at = findStep(items, amendment.old);
      return at < 0 ? undefined : bodies.with(at, runStep(amendment.command));
    }
  }
}

function inserted(
  bodies: readonly string[],
  { command, at }: Extract<Amendment, { kind: 'add' }>,
): readonly string[] | undefined {
  const place = at === undefined ? bodies.length : at.step - (at.side === 'before' ? 1 : 0);
  return place < 0 || place > bodies.length ? undefined : bodies.toSpliced(place, 0, runStep(command));
}

/** By its number, else the only one whose words hold these. */
function findStep(items: readonly StepItem[], words: string): number {
  const number = /^(?:the\s+)?step\s+(\d{1,2})$/i.exec(words.trim())?.[1];
  if (number !== undefined) return Number(number) <= items.length ? Number(number) - 1 : -1;
  const wanted = words
    .replace(/^[`"']|[`"']$/g, '')
    .trim()
    .toLowerCase();
  const found = items.flatMap(({ step, source }, index) =>
    textOf(step, source).toLowerCase().includes(wanted) ? [index] : [],
  );
  return found.length === 1 ? (found[0] ?? -1) : -1;
}

function textOf(step: Step, source: string): string {
  return step.kind === 'call' ? `${shortStep(step)} ${source}` : source;
}

function runStep(command: string): string {
  return renderStep({ kind: 'call', tool: 'terminal', arguments: { command } });
}

function addedBy(amendment: Amendment): string {
  return amendment.kind === 'skip' ? '' : runStep(amendment.command);
}

/** Lines that are equal at the beginning stay out of the patch, but for the last of them: it makes the place unique. */
function smallest(oldText: string, newText: string, added: string): StepPatch {
  const [before, after] = [oldText.split('\n'), newText.split('\n')];
  let same = 0;
  while (same < before.length - 1 && same < after.length - 1 && before[same] === after[same]) same += 1;
  const from = Math.max(0, same - (before[same] === after[same] ? 0 : 1));
  return { oldString: before.slice(from).join('\n'), newString: after.slice(from).join('\n'), added };
}
