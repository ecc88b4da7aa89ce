// Owns what a rule is: data with the words that must occur, a pattern over one unit's folded text, and what it counts for.
// Knows no file and no order. Invariant: no pattern has nested unbounded repetition, and none runs on a unit that lacks its words.
import type { Severity, ThreatClass } from '../finding.ts';
import type { Unit, UnitKind } from '../text/unit.ts';

/** What a match stands for in combinations that reach over lines. */
export type Fact =
  | 'secret'
  | 'own-secret'
  | 'private'
  | 'machine'
  | 'encode'
  | 'send-bad'
  | 'send-out'
  | 'send-chat'
  | 'send-any'
  | 'hidden'
  | 'standing'
  | 'no-consent'
  | 'runs-remote'
  | 'runs-remote-bad'
  | 'runs-subject'
  | 'fetches-binary'
  | 'required'
  | 'paste'
  | 'password'
  | 'shields-off'
  | 'gate-opened'
  | 'urgency'
  | 'component'
  | 'file-host'
  | 'runs-it'
  | 'persists'
  | 'config-write'
  | 'decodes'
  | 'sign-conceal'
  | 'sign-deny'
  | 'sign-override'
  | 'sign-authority'
  | 'sign-obey'
  | 'sign-leave'
  | 'sign-grant'
  | 'sign-stay'
  | 'sign-against'
  | 'sign-steer'
  | 'sign-private'
  | 'sign-agent'
  | 'sends-private'
  | 'secret-asked'
  | 'foreign-site'
  | 'fetches-text'
  | 'loads-native'
  | 'deletes';

export interface Rule {
  readonly id: string;
  readonly threat: ThreatClass;
  /** Absent: the match is only a fact. */
  readonly severity?: Severity;
  /** Words (letters and digits as they stand between other signs) of which one must be in the unit; `*`: any letter beyond ASCII. */
  readonly words: readonly string[];
  readonly pattern: RegExp;
  readonly kinds?: readonly UnitKind[];
  /** Must match somewhere in the unit as well, in any order: the parts that make up a behaviour. */
  readonly also?: readonly RegExp[];
  /** Characters before and after the match within which `also` must hold; a passage's default is 400, a program's the whole. */
  readonly near?: number;
  /** A unit that matches this is let go. */
  readonly unless?: RegExp;
  /** Where the skill's name or description matches, the finding is its trade and counts a step less. */
  readonly trade?: RegExp;
  /** Holds against talk of attacks in the skill's header; only a quotation or a warning lowers it. */
  readonly firm?: boolean;
  /** Not lowered by anything. */
  readonly absolute?: boolean;
  readonly facts?: readonly Fact[];
  readonly test?: (match: RegExpExecArray, unit: Unit) => boolean;
}

type RuleOptions = Omit<Rule, 'id' | 'threat' | 'severity' | 'words' | 'pattern'>;
type RuleRow = readonly [
  id: string,
  severity: Severity | 'fact',
  words: string,
  pattern: string,
  options?: RuleOptions,
];

/** Rows of one class as rules; patterns are Unicode and see folded text, so they are written in lower case. */
export function ruleRows(threat: ThreatClass, rows: readonly RuleRow[]): readonly Rule[] {
  return rows.map(([id, severity, words, pattern, options]) => ({
    id: `${threat}/${id}`,
    threat,
    ...(severity === 'fact' ? {} : { severity }),
    words: words.split(' ').filter(Boolean),
    pattern: new RegExp(pattern, 'u'),
    ...options,
  }));
}

/** Kinds of hosts in patterns; see mark-hosts. `subject` is the skill's own site and is left out on purpose. */
export const BAD_HOST = '«(?:address|paste|shortener|tunnel|collector|odd)»';
export const OUT_HOST = '«(?:address|paste|shortener|tunnel|collector|odd|free|unknown)»';
export const ANY_HOST = '«[a-z]{3,12}»';
export const FETCH =
  '(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch|aria2c|httpie|start-bitstransfer|certutil|bitsadmin|urlopen|urlretrieve|requests\\.get|httpx\\.get|axios\\.get|downloadstring|downloadfile|lwp-download)';
export const SHELL = '(?:(?:/usr)?/bin/(?:env )?)?(?:ba|z|da|k|fi|a)?sh\\b';
export const RUNNER = `(?:sudo (?:-\\w{1,3} )?)?(?:${SHELL}|python[23]?\\b|node\\b|perl\\b|ruby\\b|php\\b|iex\\b|invoke-expression\\b|pwsh\\b|powershell\\b|osascript\\b|source /dev/stdin|deno run)`;
