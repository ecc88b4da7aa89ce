// Owns the one or two sentences by which a peer that was summed up by rule is introduced to others (R4.42): what its introducer said, then
// what was found besides. Pure. Invariant: quotes alone, and empty when nothing is known, so that the stored context is used.
import { shortLine } from '../answer/short-lines.ts';
import { SUMMARY_CAPS, type SummaryAnswer } from '../summary/summary-shape.ts';

const LONGEST_INTRODUCTION = 220;

export function summaryText(introduction: string, found: Omit<SummaryAnswer, 'summary_text'>): string {
  const context = shortLine(introduction, LONGEST_INTRODUCTION);
  const known = context.toLowerCase();
  const part = (label: string, lines: readonly string[]): string => {
    const added = lines.filter((line) => !known.includes(line.toLowerCase()));
    return added.length === 0 ? '' : `${label}: ${added.join('; ')}.`;
  };
  const parts = [part('Needs', found.needs), part('Offers', found.offers), part('Knows', found.expertise)];
  return shortLine([ended(context), ...parts].filter((text) => text !== '').join(' '), SUMMARY_CAPS.text);
}

function ended(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`;
}
