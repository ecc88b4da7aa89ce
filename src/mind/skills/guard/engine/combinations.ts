// Owns what several facts near each other amount to: a secret and a way out, a hidden step and its deed, the signs of a lure added up.
// Knows no pattern. Invariant: facts under words of warning do not count; looks only at facts of one file, a window of lines apart.
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
  for (const start of signs) {
    const near = signs.filter(({ line }) => line >= start.line && line <= start.line + SIGNS_NEAR);
    const kinds = new Set(near.map(({ fact }) => fact)).size;
    if (best === undefined || kinds > best.kinds) best = { kinds, line: start.line };
  }
  if (best === undefined || best.kinds < 2) return undefined;
  const severity = best.kinds >= 4 ? 'critical' : 'high';
  return { id: 'prompt_injection/signs-add-up', threat: 'prompt_injection', severity, line: best.line, firm: true };
}

const NEAR = 30;

export function combine(facts: readonly FactAt[]): readonly Combined[] {
  const open = facts.filter(({ guarded }) => !guarded);
  if (open.length === 0) return [];
  const found = COMBINATIONS.flatMap((combination) => matchOf(combination, open));
  return [...found, ...[lureOf(open), signsOf(open)].filter((one) => one !== undefined)];
}

function matchOf(combination: Combination, facts: readonly FactAt[]): readonly Combined[] {
  const { id, threat, severity, window, firm = false } = combination;
  const first = facts.filter(({ fact }) => combination.first.includes(fact));
  for (const start of first) {
    const near = facts.filter((other) =>
      window === 0 ? other.unit === start.unit : Math.abs(other.line - start.line) <= window,
    );
    if (combination.and.every((choice) => near.some(({ fact }) => choice.includes(fact))))
      return [{ id: `${threat}/${id}`, threat, severity, line: start.line, firm }];
  }
  return [];
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
  for (const start of facts) {
    if (!BASE.includes(start.fact)) continue;
    const near = new Set(facts.filter(({ line }) => Math.abs(line - start.line) <= NEAR).map(({ fact }) => fact));
    const score = scoreOf(near);
    if (best === undefined || score > best.score) best = { score, line: start.line };
  }
  if (best === undefined || best.score < 4) return undefined;
  const severity = best.score >= 5 ? 'critical' : 'high';
  return { id: 'lure/signs-add-up', threat: 'lure', severity, line: best.line, firm: true };
}

/** Without a programme of a stranger or a made-up requirement there is no lure, whatever the words. */
function scoreOf(near: ReadonlySet<Fact>): number {
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
