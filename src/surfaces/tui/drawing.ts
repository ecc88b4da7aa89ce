// Owns how blocks become lines of a given width: wrapped text, tables, the ring, gauges, sparklines. Knows no state and no terminal. Invariants: pure; no
// line is wider than asked for; nothing is cut but the last cell of a table, whose row is told in full where it is drilled into; below 60 columns nothing is.
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui';
import type { Paint } from '#surfaces/cli/terminal-text.ts';
import type { Block, Item, WindowModel } from './windows.ts';

export interface Drawn {
  readonly lines: readonly string[];
  /** Of the row that is chosen; -1: none is. */
  readonly chosenAt: number;
}

export function drawWindow({ blocks }: WindowModel, width: number, paint: Paint): Drawn {
  const lines: string[] = [];
  let chosenAt = -1;
  for (const block of blocks) {
    const drawn = drawBlock(block, width, paint);
    if (drawn.chosenAt >= 0) chosenAt = lines.length + drawn.chosenAt;
    lines.push(...drawn.lines);
  }
  return { lines, chosenAt };
}

type Of<Type extends Block['type']> = Extract<Block, { type: Type }>;

function drawBlock(block: Block, width: number, paint: Paint): Drawn {
  switch (block.type) {
    case 'line':
      return still(wrapped(block.text, width, toned(block.tone, paint)));
    case 'list':
      return still(drawList(block, width, paint));
    case 'table':
      return drawTable(block, width, paint);
    case 'ring':
      return still(drawRing(block, width, paint));
    case 'gauge':
      return still(drawGauge(block, width, paint));
    case 'spark':
      return still(drawSpark(block, width, paint));
  }
}

function still(lines: readonly string[]): Drawn {
  return { lines, chosenAt: -1 };
}

function toned(tone: Item['tone'], paint: Paint): (text: string) => string {
  return (text) => (tone ? paint(tone, text) : text);
}

/** Painted after it is wrapped: no line depends on the one before it. */
function wrapped(text: string, width: number, painted = (line: string) => line, indent = ''): readonly string[] {
  const lines = wrapTextWithAnsi(text, Math.max(1, width - indent.length));
  return lines.map((line, at) => painted(`${at === 0 ? '' : indent}${line}`));
}

function drawList({ title, items, none }: Of<'list'>, width: number, paint: Paint): readonly string[] {
  const head = ['', ...wrapped(title, width, (text) => paint('underline', text))];
  if (items.length === 0) return [...head, ...wrapped(none, width, (text) => paint('dim', text))];
  return [...head, ...items.flatMap(({ text, tone }) => wrapped(text, width, toned(tone, paint), '  '))];
}

const GAP = 2;
/** Below this many columns everything is a list. */
const NARROW = 60;
/** Of the last cell beside the others; where there are fewer it has a line of its own. */
const LEAST_LAST = 16;

function drawTable(table: Of<'table'>, width: number, paint: Paint): Drawn {
  const { columns, rows, chosen } = table;
  const widths = columns.map((name, at) => Math.max(...[name, ...rows.map((row) => row[at] ?? '')].map(visibleWidth)));
  const fixed = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP, GAP);
  const isList = fixed > width || width < NARROW;
  const inColumns = (row: readonly string[]) => columnsOf(row, { widths, left: width - fixed, paint });
  // What has a line of its own needs no heading.
  const lines = isList
    ? []
    : inColumns(columns)
        .slice(0, 1)
        .map((line) => paint('dim', `  ${line}`));
  let chosenAt = -1;
  for (const [at, row] of rows.entries()) {
    if (at === chosen) chosenAt = lines.length;
    const mark = at === chosen ? '›' : ' ';
    const painted = (line: string) => (at === chosen ? paint('cyan', line) : line);
    if (isList) lines.push(...wrapped(`${mark} ${listed(row, columns)}`, width, painted, '  '));
    else lines.push(...inColumns(row).map((line, below) => painted(`${below === 0 ? mark : ' '} ${line}`)));
  }
  return { lines, chosenAt };
}

function listed(row: readonly string[], columns: readonly string[]): string {
  return row.map((cell, at) => (at === 0 ? cell : `${columns[at]} ${cell}`)).join(' · ');
}

/** The last cell stands beside the others, or below them where there is no room. */
function columnsOf(
  row: readonly string[],
  { widths, left, paint }: { readonly widths: readonly number[]; readonly left: number; readonly paint: Paint },
): readonly string[] {
  const cells = row.slice(0, -1).map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - visibleWidth(cell) + GAP));
  const [line, last] = [cells.join(''), row.at(-1) ?? ''];
  if (left >= LEAST_LAST) return [(line + truncateToWidth(last, left, '…')).trimEnd()];
  const room = visibleWidth(line) + left - GAP;
  return last === '' ? [line.trimEnd()] : [line.trimEnd(), `  ${paint('dim', truncateToWidth(last, room, '…'))}`];
}

/** Columns of the ring as a ring; where there are fewer it is a list. */
const RING_WIDTH = 58;
const INSIDE = 36;

function drawRing({ steps, skills }: Of<'ring'>, width: number, paint: Paint): readonly string[] {
  const step = (at: number) => {
    const { name = '', isDone = false } = steps[at] ?? {};
    return isDone ? `● ${name}` : paint('dim', `○ ${name}`);
  };
  const injected = skills.length === 0 ? [paint('dim', 'no skill')] : skills.map((name) => paint('cyan', name));
  if (width < RING_WIDTH)
    return [
      ...wrapped(steps.map((_, at) => step(at)).join(' '), width),
      ...wrapped(`skill: ${injected.join(', ')}`, width),
    ];
  const middle = injected.map((text) => {
    const shown = truncateToWidth(text, INSIDE, '…');
    const space = INSIDE - visibleWidth(shown);
    return ' '.repeat(Math.floor(space / 2)) + shown + ' '.repeat(Math.ceil(space / 2));
  });
  const sides = Math.floor((middle.length - 1) / 2);
  return [
    `      ╭── ${step(0)} ── ${step(1)} ── ${step(2)} ──╮`,
    ...middle.map((text, at) => (at === sides ? `  ${step(8)} ${text} ${step(3)}` : `            ${text}`)),
    `      ╰ ${step(7)} ─ ${step(6)} ─ ${step(5)} ─ ${step(4)} ╯`,
  ];
}

const LABEL = 10;

function drawGauge({ label, share, text }: Of<'gauge'>, width: number, paint: Paint): readonly string[] {
  if (width < NARROW) return wrapped(`${label}: ${text}`, width, undefined, '  ');
  const bar = Math.min(40, Math.floor(width / 3));
  const full = Math.round(Math.max(0, Math.min(1, share)) * bar);
  const head = `${label.padEnd(LABEL)} ${paint('cyan', '█'.repeat(full))}${paint('dim', '░'.repeat(bar - full))} `;
  return wrapped(head + text, width, undefined, ' '.repeat(LABEL + 1));
}

function drawSpark({ label, values, text }: Of<'spark'>, width: number, paint: Paint): readonly string[] {
  if (width < NARROW) return wrapped(`${label}: ${text}`, width, undefined, '  ');
  const bar = Math.min(40, Math.floor(width / 3));
  return wrapped(`${label.padEnd(LABEL)} ${paint('cyan', braille(values, bar).padEnd(bar))} ${text}`, width);
}

/** Dots of the left and of the right column of a braille cell, from the bottom up. */
const DOTS = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
] as const;

/** `cells` characters, two values in each: means of the whole, so that an hour fits whatever its length. */
export function braille(values: readonly number[], cells: number): string {
  if (values.length === 0) return '';
  const count = Math.min(values.length, cells * 2);
  const means = Array.from({ length: count }, (_, at) => {
    const part = values.slice(Math.floor((at * values.length) / count), Math.floor(((at + 1) * values.length) / count));
    return part.reduce((sum, one) => sum + one, 0) / part.length;
  });
  const top = Math.max(...means);
  const heights = means.map((value) => (top <= 0 ? 1 : Math.max(1, Math.round((4 * value) / top))));
  return Array.from({ length: Math.ceil(count / 2) }, (_, cell) => {
    const dots = DOTS.flatMap((column, side) => column.slice(0, heights[2 * cell + side] ?? 0));
    return String.fromCodePoint(0x2800 + dots.reduce((sum, dot) => sum + dot, 0));
  }).join('');
}
