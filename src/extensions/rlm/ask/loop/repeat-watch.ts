// Owns noticing that a root model does the same again: the same code with the same output. Knows no model. Pure but for what it has seen.
// Invariant: the second time is told, the third ends the ask.
import { oneLine } from '#base/text.ts';

export type Repeat = { readonly kind: 'new' } | { readonly kind: 'told' | 'end'; readonly steps: readonly number[] };

export class RepeatWatch {
  readonly #seen = new Map<string, number[]>();

  see(step: number, code: string, output: string): Repeat {
    const key = JSON.stringify([oneLine(code), output]);
    const steps = [...(this.#seen.get(key) ?? []), step];
    this.#seen.set(key, steps);
    if (steps.length === 1) return { kind: 'new' };
    return { kind: steps.length === 2 ? 'told' : 'end', steps };
  }
}
