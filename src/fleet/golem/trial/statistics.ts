// Owns the arithmetic of a trial: means, paired differences with their intervals, gates, and how both are shown. Pure. Knows no golem.
// Invariant: the same numbers give the same interval, for the draws have a fixed seed.
import { seededRandom } from '#base/ids.ts';

const DRAWS = 10_000;
const SEED = 20_260_115;

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Percentile bootstrap over seeds: 95 % of the draws lie between `low` and `high`. */
function interval(values: readonly number[]) {
  const random = seededRandom(SEED);
  const count = values.length;
  const means = new Float64Array(DRAWS);
  for (let draw = 0; draw < DRAWS; draw += 1) {
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum += values[Math.floor(random() * count)] ?? 0;
    means[draw] = sum / count;
  }
  means.sort();
  return {
    mean: mean(values),
    low: means[Math.floor(DRAWS * 0.025)] ?? 0,
    high: means[Math.ceil(DRAWS * 0.975) - 1] ?? 0,
  };
}

type Bound = { readonly end: keyof ReturnType<typeof interval>; readonly is: '≥' | '≤'; readonly value: number };

export function least(value: number, end: Bound['end'] = 'low'): Bound {
  return { end, is: '≥', value };
}

export function most(value: number): Bound {
  return { end: 'high', is: '≤', value };
}

type Arms<Lived, Name extends string> = Readonly<Record<Name, { readonly lived: readonly Lived[] } | undefined>>;
/** An empty list leaves one out. */
type Count<Lived> = (one: Lived) => number | readonly number[];
/** As `slice` takes it. */
type Part = readonly [from?: number, to?: number];

/** Mean of what is counted of what an arm lived. */
export function counted<Lived, Name extends string>(arm: Name, count: Count<Lived>, part: Part = []) {
  return (arms: Arms<Lived, Name>) => mean((arms[arm]?.lived ?? []).slice(...part).flatMap(count));
}

/** The same, less that of the control. */
export function gained<Lived, Name extends string>(arm: Name, count: Count<Lived>, part?: Part) {
  const [of, ofControl] = [counted(arm, count, part), counted('control', count, part)];
  return (arms: Arms<Lived, Name | 'control'>) => of(arms) - ofControl(arms);
}

/** What is measured of the arms of one seed, and what must hold. */
export type Measured<Seed> = readonly [name: string, of: (arms: Seed) => number, must?: Bound];

export interface Measure extends ReturnType<typeof interval> {
  readonly name: string;
  /** What must hold; absent: it is only told. */
  readonly must?: string;
  /** Absent: not judged. */
  readonly holds?: boolean;
}

/** `judged` false: too few seeds to say. */
export function measure<Seed>([name, of, bound]: Measured<Seed>, all: readonly Seed[], judged: boolean): Measure {
  const found = interval(all.map((arms) => of(arms)).filter(Number.isFinite));
  if (bound === undefined) return { name, ...found };
  const { end, is, value } = bound;
  const must = `${{ low: 'lower end', high: 'upper end', mean: 'mean' }[end]} ${is} ${value}`;
  const holds = is === '≥' ? found[end] >= value : found[end] <= value;
  return { name, ...found, must, ...(judged ? { holds } : {}) };
}

export function measureRow({ name, mean: middle, low, high, must = '', holds }: Measure): readonly string[] {
  const signed = (value: number) => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(3)}`;
  const verdict = holds === undefined ? '' : holds ? 'holds' : 'MISSED';
  return [name, signed(middle), `[${signed(low)}, ${signed(high)}]`, must, verdict];
}
