// Owns the joining of units to wholes: the prose of a section, the code of a fence or file. Knows no rule.
// Invariant: linear; a whole is bounded, the next one overlaps it, and every line keeps its number and its guard.
import type { Unit, UnitKind } from './unit.ts';

const WHOLE_LIMIT = 12_000;
const OVERLAP = 30;

/** Wholes of two units at least, or of one that stands alone; units come in the order of the text. */
export function joinUnits(units: readonly Unit[]): readonly Unit[] {
  const wholes: Unit[] = [];
  const programs = new Map<number, Unit[]>();
  let passage: Unit[] = [];
  let block = -1;
  for (const unit of units) {
    if (unit.kind === 'code') {
      const known = programs.get(unit.block);
      if (known === undefined) programs.set(unit.block, [unit]);
      else known.push(unit);
      continue;
    }
    if (unit.block !== block && !programs.has(unit.block)) {
      joinInto(wholes, passage, 'passage');
      passage = [];
    }
    block = unit.block;
    passage.push(unit);
  }
  joinInto(wholes, passage, 'passage');
  for (const program of programs.values()) joinInto(wholes, program, 'program');
  return wholes;
}

function joinInto(wholes: Unit[], parts: readonly Unit[], kind: UnitKind): void {
  let from = 0;
  while (from < parts.length) {
    const starts: { offset: number; line: number; guarded: boolean }[] = [];
    const texts: string[] = [];
    let length = 0;
    let at = from;
    for (; at < parts.length && (length < WHOLE_LIMIT || at === from); at += 1) {
      const part = parts[at] as Unit;
      for (const { offset, line } of part.starts) starts.push({ offset: length + offset, line, guarded: part.guarded });
      texts.push(part.text);
      length += part.text.length + 1;
    }
    wholes.push({ kind, text: texts.join('\n'), starts, block: parts[from]?.block ?? 0, guarded: false, depth: 0 });
    from = at < parts.length ? at - Math.min(OVERLAP, (at - from) >> 1) : at;
  }
}
