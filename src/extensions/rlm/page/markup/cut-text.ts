// Owns how much of long texts a page shows, one by one and all together. Knows no run.
// Invariant: what is not shown is counted where it would have stood; nothing is cut silently.
import { sliceText } from '#base/text.ts';
import { thousands } from './figures.ts';
import { type Html, html } from './html.ts';

/** What all the long texts of a page may still take, in characters. */
export interface TextBudget {
  left: number;
}

export interface CutText {
  readonly text: string;
  /** Characters that are not shown. */
  readonly cut: number;
}

/** The beginning, `most` characters or what the budget has left. */
export function cutText(text: string, most: number, budget?: TextBudget): CutText {
  const kept = sliceText(text, Math.max(0, Math.min(most, budget?.left ?? most)));
  if (budget) budget.left -= kept.length;
  return { text: kept, cut: text.length - kept.length };
}

export function cutNote(cut: number): Html | null {
  return cut === 0 ? null : html`<span class="cut">… ${thousands(cut)} more characters are not shown here</span>`;
}

/** A text within a line or a paragraph. */
export function shortText(text: string, most = 2_000): Html {
  const { text: kept, cut } = cutText(text, most);
  return cut === 0 ? html`${kept}` : html`${kept} ${cutNote(cut)}`;
}

/** The first of many, and a line that says how many there are beyond; `where`: the place that has them all. */
export function firstOf<T>(items: readonly T[], most: number): { readonly shown: readonly T[]; readonly left: number } {
  return { shown: items.slice(0, most), left: Math.max(0, items.length - most) };
}

export function leftNote(left: number, noun: string, where: string): Html | null {
  if (left === 0) return null;
  return html`<p class="cut">${thousands(left)} more ${noun}${left === 1 ? '' : 's'} not shown here: <code>${where}</code> has all of them.</p>`;
}
