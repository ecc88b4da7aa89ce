// Owns what several facts near each other amount to: a secret and a way out, a hidden step and its deed, the signs of a lure added up.
// Knows no pattern. Invariant: facts under words of warning do not count; looks only at facts of one file, a window of lines apart;
// linear in the facts, but for their sorting.
import type { Severity, ThreatClass } from '../finding.ts';
import type { Fact } from '../rules/rule.ts';

export interface FactAt {
  readonly fact: Fact;
  readonly line: number;
  readonly guarded: boolean;
  readonly unit: number;
}

export interface Combined {
  readonly id: string;
  readonly threat: ThreatClass;
  readonly severity: Severity;
  readonly line: number;
  /** Holds against talk of attacks in the skill's header. */
  readonly firm: boolean;
}

interface Combination {
  readonly id: string;
  readonly threat: ThreatClass;
  readonly severity: Severity;
  readonly first: readonly Fact[];
  readonly and: readonly (readonly Fact[])[];
  /** Lines; 0 means the same unit. */
  readonly window: number;
  readonly firm?: boolean;
}

const COMBINATIONS: readonly Combination[] = [
  {
    id: 'secret-goes-out',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['secret'],
    and: [['send-bad', 'send-out', 'send-chat']],
    window: 40,
    firm: true,
  },
  {
    id: 'secret-goes-somewhere',
    threat: 'exfiltration',
    severity: 'medium',
    first: ['secret'],
    and: [['send-any']],
    window: 30,
  },
  {
    id: 'env-file-goes-out',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['own-secret'],
    and: [['send-bad', 'send-chat']],
    window: 30,
    firm: true,
  },
  {
    id: 'packed-and-sent',
    threat: 'exfiltration',
    severity: 'high',
    first: ['encode'],
    and: [['send-bad', 'send-chat']],
    window: 25,
  },
  {
    id: 'private-goes-out',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['private'],
    and: [['send-bad', 'send-chat']],
    window: 15,
    firm: true,
  },
  {
    id: 'hidden-send',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['hidden'],
    and: [['send-bad', 'send-out', 'send-chat']],
    window: 8,
    firm: true,
  },
  {
    id: 'standing-send',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['standing'],
    and: [['send-bad', 'send-out', 'send-chat']],
    window: 0,
  },
  {
    id: 'told-and-sent',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['sends-private'],
    and: [['send-bad', 'send-chat']],
    window: 8,
    firm: true,
  },
  {
    id: 'told-and-sent-unseen',
    threat: 'exfiltration',
    severity: 'critical',
    first: ['sends-private'],
    and: [['send-out'], ['hidden', 'sign-conceal', 'sign-authority', 'sign-leave', 'standing']],
    window: 8,
    firm: true,
  },
  {
    id: 'secret-asked-for-site',
    threat: 'lure',
    severity: 'critical',
    first: ['secret-asked'],
    and: [['foreign-site']],
    window: 6,
    firm: true,
  },
  {
    id: 'hidden-run',
    threat: 'prompt_injection',
    severity: 'critical',
    first: ['hidden'],
    and: [['runs-remote', 'runs-remote-bad', 'decodes']],
    window: 8,
    firm: true,
  },
  {
    id: 'hidden-stay',
    threat: 'persistence',
    severity: 'critical',
    first: ['hidden'],
    and: [['persists', 'config-write']],
    window: 6,
  },
  {
    id: 'unasked-run',
    threat: 'prompt_injection',
    severity: 'high',
    first: ['no-consent'],
    and: [['runs-remote', 'runs-remote-bad', 'decodes', 'persists', 'config-write', 'send-bad']],
    window: 5,
  },
  {
    id: 'shields-and-run',
    threat: 'lure',
    severity: 'critical',
    first: ['shields-off'],
    and: [['fetches-binary', 'file-host', 'runs-remote']],
    window: 25,
    firm: true,
  },
  {
    id: 'gate-opened-for-stranger',
    threat: 'lure',
    severity: 'critical',
    first: ['gate-opened'],
    and: [['fetches-binary', 'runs-remote']],
    window: 25,
    firm: true,
  },
  {
    id: 'password-and-place',
    threat: 'lure',
    severity: 'critical',
    first: ['password'],
    and: [['fetches-binary', 'file-host']],
    window: 25,
    firm: true,
  },
  {
    id: 'paste-decoded',
    threat: 'lure',
    severity: 'critical',
    first: ['paste'],
    and: [['decodes']],
    window: 12,
    firm: true,
  },
];

/** Lines within which signs against the owner belong together. */
const SIGNS_NEAR = 6;

/** Kinds of signs near each other: two make doubt, four danger. */
function signsOf(facts: readonly FactAt[]): Combined | undefined {
  const signs = facts.filter(({ fact }) => fact.startsWith('sign-'));
  let best: { kinds: number; line: number } | undefined;
  for (const { line, near } of windowsOver(signs, { before: 0, after: SIGNS_NEAR }))
    if (best === undefined || near.size > best.kinds) best = { kinds: near.size, line };
  if (best === undefined || best.kinds < 2) return undefined;
  const severity = best.kinds >= 4 ? 'critical' : 'high';
  return { id: 'prompt_injection/signs-add-up', threat: 'prompt_injection', severity, line: best.line, firm: true };
}

interface Near {
  readonly line: number;
  /** Kinds in the window, with their number; changes as the walk goes on. */
  readonly near: ReadonlyMap<Fact, number>;
}

/** Each line that has a fact, with the kinds of facts round it; `facts` come in the order of lines. */
function* windowsOver(
  facts: readonly FactAt[],
  { before, after }: { readonly before: number; readonly after: number },
): Generator<Near> {
  const near = new Map<Fact, number>();
  let low = 0;
  let high = 0;
  for (let at = 0; at < facts.length; at += 1) {
    const line = lineOf(facts, at);
    if (at > 0 && lineOf(facts, at - 1) === line) continue;
    for (; high < facts.length && lineOf(facts, high) <= line + after; high += 1) count(near, facts[high], 1);
    for (; lineOf(facts, low) < line - before; low += 1) count(near, facts[low], -1);
    yield { line, near };
  }
}

const lineOf = (facts: readonly FactAt[], at: number): number => facts[at]?.line ?? Number.POSITIVE_INFINITY;

function count(near: Map<Fact, number>, one: FactAt | undefined, by: 1 | -1): void {
  if (one === undefined) return;
  const number = (near.get(one.fact) ?? 0) + by;
  if (number === 0) near.delete(one.fact);
  else near.set(one.fact, number);
}

const NEAR = 30;

export function combine(facts: readonly FactAt[]): readonly Combined[] {
  const open = facts.filter(({ guarded }) => !guarded).sort((one, other) => one.line - other.line);
  if (open.length === 0) return [];
  const byFact = Map.groupBy(open, ({ fact }) => fact);
  const found = COMBINATIONS.flatMap((combination) => matchOf(combination, byFact));
  return [...found, ...[lureOf(open), signsOf(open)].filter((one) => one !== undefined)];
}

type ByFact = ReadonlyMap<Fact, readonly FactAt[]>;

function matchOf(combination: Combination, byFact: ByFact): readonly Combined[] {
  const { id, threat, severity, window, firm = false } = combination;
  const choices = combination.and.map((choice) => choice.flatMap((fact) => byFact.get(fact) ?? []));
  if (choices.some((choice) => choice.length === 0)) return [];
  const sides = choices.map((choice) => (window === 0 ? sameUnit(choice) : nearLine(choice, window)));
  const starts = combination.first
    .flatMap((fact) => byFact.get(fact) ?? [])
    .sort((one, other) => one.line - other.line);
  for (const start of starts)
    if (sides.every((holds) => holds(start)))
      return [{ id: `${threat}/${id}`, threat, severity, line: start.line, firm }];
  return [];
}

type Holds = (start: FactAt) => boolean;

function sameUnit(choice: readonly FactAt[]): Holds {
  const units = new Set(choice.map(({ unit }) => unit));
  return ({ unit }) => units.has(unit);
}

/** Asked in the order of lines, so the place in the list only moves on. */
function nearLine(choice: readonly FactAt[], window: number): Holds {
  const lines = choice.map(({ line }) => line).sort((one, other) => one - other);
  let at = 0;
  return ({ line }) => {
    while (at < lines.length && (lines[at] ?? 0) < line - window) at += 1;
    return (lines[at] ?? Number.POSITIVE_INFINITY) <= line + window;
  };
}

/** What a sign weighs; only the heaviest of a group counts once in a window. */
const WEIGHTS: readonly (readonly [weight: number, facts: readonly Fact[]])[] = [
  [4, ['runs-remote-bad']],
  [3, ['runs-remote']],
  [1, ['runs-subject']],
  [2, ['fetches-binary']],
  [1, ['file-host']],
  [3, ['decodes']],
  [3, ['shields-off']],
  [2, ['password']],
  [1, ['component']],
  [1, ['gate-opened']],
];

/** Words that honest instructions use as well: two of them at most count. */
const SOFT: readonly Fact[] = ['required', 'paste', 'urgency', 'runs-it'];
const SOFT_LIMIT = 2;

/** A made-up component weighs more where a stranger's programme is named for it. */
const NAMED_FOR: readonly Fact[] = ['fetches-binary', 'runs-remote', 'password', 'decodes', 'shields-off'];

const BASE: readonly Fact[] = [
  'runs-subject',
  'runs-remote',
  'runs-remote-bad',
  'fetches-binary',
  'decodes',
  'file-host',
  'password',
];

function lureOf(facts: readonly FactAt[]): Combined | undefined {
  let best: { score: number; line: number } | undefined;
  const bases = new Set(facts.filter(({ fact }) => BASE.includes(fact)).map(({ line }) => line));
  for (const { line, near } of windowsOver(facts, { before: NEAR, after: NEAR })) {
    if (!bases.has(line)) continue;
    const score = scoreOf(near);
    if (best === undefined || score > best.score) best = { score, line };
  }
  if (best === undefined || best.score < 4) return undefined;
  const severity = best.score >= 5 ? 'critical' : 'high';
  return { id: 'lure/signs-add-up', threat: 'lure', severity, line: best.line, firm: true };
}

/** Without a programme of a stranger or a made-up requirement there is no lure, whatever the words. */
function scoreOf(near: Near['near']): number {
  const strange = [
    'runs-remote',
    'runs-remote-bad',
    'fetches-binary',
    'decodes',
    'shields-off',
    'password',
    'component',
  ] as const;
  if (strange.filter((fact) => near.has(fact)).length === 0) return 0;
  let score = 0;
  for (const [weight, group] of WEIGHTS) if (group.some((fact) => near.has(fact))) score += weight;
  if (near.has('component') && NAMED_FOR.some((fact) => near.has(fact))) score += 1;
  score += Math.min(SOFT_LIMIT, SOFT.filter((fact) => near.has(fact)).length);
  return near.has('runs-remote-bad') && near.has('runs-remote') ? score - 3 : score;
}
