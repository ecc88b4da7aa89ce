// Owns how many tokens a prompt may have, with its reply, when nobody says: what those who will answer read at once, within bounds. Asks
// nobody. Invariant: rules, programs and models named by a family count as the usual window; equal models, equal number.
import { readRlmConfig } from '../rlm-config.ts';
import type { RlmMind } from '../rlm-ground.ts';

export const USUAL_WINDOW = 8_192;

/** More is not filled: the middle of a longer prompt is read badly, and citations become coarse. */
export const LARGEST_DEFAULT_WINDOW = 32_768;

export type WindowMind = Pick<RlmMind, 'answering' | 'window' | 'config'>;

/** `families`: as asked for; empty: the default. `least`: what the prompts of the caller need. */
export function defaultWindow(
  mind: WindowMind,
  { families, least }: { readonly families: readonly string[]; readonly least: number },
): number {
  const isDefault = families.every((family) => family === 'default');
  const isReplaced = Object.hasOwn(readRlmConfig(mind).families, 'default');
  if (!isDefault || isReplaced || mind.answering() === 'T0') return USUAL_WINDOW;
  const smallest = Math.min(mind.window('T1'), mind.window('T2'));
  return Math.max(least, Math.min(LARGEST_DEFAULT_WINDOW, Math.floor(smallest)));
}
