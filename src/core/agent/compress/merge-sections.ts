// Owns joining an earlier summary with a new one, line by line, and cutting the whole to its budget. Pure.
// Invariant: no line is ever reworded: a summary is not summarised. What is cut is cut whole, and the section says how much. Seed 001 chapter 14.
import { ellipsize, estimateTokens } from '#base/text.ts';
import { EXACT, type SectionName, type Sections, WORDED } from './summary.ts';
import { isValueKind } from './summary-text.ts';

/** Which end of a section gives way, and the share of the summary that it may take before others have given up theirs. */
interface SectionRule {
  readonly cut: 'oldest' | 'middle' | 'last';
  readonly share: number;
}

const RULES: Readonly<Record<SectionName, SectionRule>> = {
  Goal: { cut: 'middle', share: 0.08 },
  Done: { cut: 'oldest', share: 0.17 },
  'Active state': { cut: 'oldest', share: 0.08 },
  Open: { cut: 'oldest', share: 0.08 },
  Decisions: { cut: 'oldest', share: 0.1 },
  Files: { cut: 'oldest', share: 0.08 },
  Tasks: { cut: 'last', share: 0.08 },
  Said: { cut: 'middle', share: 0.08 },
  Errors: { cut: 'oldest', share: 0.05 },
  Paths: { cut: 'last', share: 0.06 },
  Links: { cut: 'last', share: 0.03 },
  Ids: { cut: 'last', share: 0.05 },
  Names: { cut: 'last', share: 0.03 },
  Values: { cut: 'last', share: 0.03 },
};

const NAMES: readonly SectionName[] = [...WORDED, ...EXACT];
const LINE_LIMIT = { least: 120, most: 400 };

/** `closed`: lines of the earlier `Open` that are settled now. */
export function mergeSections(earlier: Sections, fresh: Sections, closed: ReadonlySet<string> = new Set()): Sections {
  const merged: Partial<Record<SectionName, readonly string[]>> = {};
  for (const name of NAMES) {
    const old = earlier[name] ?? [];
    const lines = fresh[name] ?? [];
    merged[name] = mergeLines(name, name === 'Open' ? old.filter((line) => !closed.has(line)) : old, lines);
  }
  return merged;
}

function mergeLines(name: SectionName, old: readonly string[], fresh: readonly string[]): readonly string[] {
  if (name === 'Active state' || name === 'Tasks') return unique(fresh.length > 0 ? fresh : old);
  if (isValueKind(name)) return unique(interleave(fresh, old));
  return joinLeftOut(unique([...old, ...fresh]));
}

function interleave(first: readonly string[], second: readonly string[]): readonly string[] {
  const mixed: string[] = [];
  for (let i = 0; i < Math.max(first.length, second.length); i += 1)
    mixed.push(...first.slice(i, i + 1), ...second.slice(i, i + 1));
  return mixed;
}

function unique(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}

/** Cuts to `budget` tokens. What a section leaves of its share goes to the others, in their order. */
export function fitSections(sections: Sections, budget: number): Sections {
  const limit = Math.min(LINE_LIMIT.most, Math.max(LINE_LIMIT.least, Math.floor(budget / 5)));
  const lines = NAMES.map((name) => (sections[name] ?? []).map((line) => ellipsize(line, limit)));
  const needs = lines.map((all) => sizeOf(all));
  const room = needs.map((need, i) => Math.min(need, budget * RULES[NAMES[i] as SectionName].share));
  let spare = budget - room.reduce((sum, one) => sum + one, 0);
  for (const [i, need] of needs.entries()) {
    const more = Math.min(spare, need - (room[i] ?? 0));
    room[i] = (room[i] ?? 0) + more;
    spare -= more;
  }
  const fitted = NAMES.map((name, i) => [name, cutLines(lines[i] ?? [], room[i] ?? 0, RULES[name].cut)] as const);
  return Object.fromEntries(fitted.filter(([, kept]) => kept.length > 0));
}

function cutLines(all: readonly string[], room: number, cut: SectionRule['cut']): readonly string[] {
  if (sizeOf(all) <= room) return all;
  if (cut === 'last') return all.slice(0, countFitting(all, room - HEADING_TOKENS));
  const lines = all.filter((line) => !LEFT_OUT.test(line));
  const spared = room - HEADING_TOKENS - LEFT_OUT_TOKENS;
  const first = cut === 'middle' && lineTokens(lines[0] ?? '') <= spared / 2 ? lines.slice(0, 1) : [];
  const newestFirst = lines.slice(first.length).reverse();
  const count = countFitting(newestFirst, spared - lineTokens(first[0] ?? ''));
  const shown = [...first, ...newestFirst.slice(0, count).reverse()];
  return shown.length === 0 ? [] : withLeftOut(shown, leftOut(all) + lines.length - shown.length);
}

function countFitting(lines: readonly string[], room: number): number {
  let used = 0;
  let count = 0;
  for (const line of lines) {
    used += lineTokens(line);
    if (used > room) return count;
    count += 1;
  }
  return count;
}

const HEADING_TOKENS = 4;

/** Heading and line breaks counted in. */
function sizeOf(lines: readonly string[]): number {
  return lines.length === 0 ? 0 : lines.reduce((sum, line) => sum + lineTokens(line), HEADING_TOKENS);
}

function lineTokens(line: string): number {
  return estimateTokens(line) + 1;
}

const LEFT_OUT = /^… (\d+) lines left out here$/;
const LEFT_OUT_TOKENS = 9;

function leftOut(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(LEFT_OUT.exec(line)?.[1] ?? 0), 0);
}

function withLeftOut(lines: readonly string[], gone: number): readonly string[] {
  return gone > 0 ? [`… ${gone} lines left out here`, ...lines] : lines;
}

function joinLeftOut(lines: readonly string[]): readonly string[] {
  return withLeftOut(
    lines.filter((line) => !LEFT_OUT.test(line)),
    leftOut(lines),
  );
}
