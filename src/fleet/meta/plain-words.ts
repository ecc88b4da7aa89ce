// Owns the six actions as typed commands in plain words, for when no model reads what the owner says (hierarchy notes C46), and the question that is
// asked instead of a guess. Knows golems by name, kind and nothing else. Invariant: a line is one of these forms from its first word to its last, or
// it is no command; what could be two is asked.
import { plural } from '#base/text.ts';
import type { SeenGolem } from '#fleet/styx/clade.ts';
import {
  aimedAt,
  type Choice,
  type Decision,
  type MetaHermesAction,
  type Question,
  targetsOf,
  type View,
} from './actions.ts';
import { isAlive, meantBy } from './look.ts';

export interface Sight {
  readonly clade: readonly SeenGolem[];
  /** The golem in view, as it is called. */
  readonly focus?: string | undefined;
}

type Parts = Readonly<Record<string, string>>;
type Form = readonly [form: RegExp, action: (parts: Parts, sight: Sight) => MetaHermesAction | undefined];

/** Of the last night, hours. */
const NIGHT = 12;
const HOURS: Parts = { overnight: '12', 'last night': '12', today: '24', 'this week': '168' };
const NAME = '@?(?!all )[a-z0-9][a-z0-9@-]{0,60}';
/** What stands between whom it is told and what. */
const TO = '(?:\\s*:\\s*| to | that )';
const EVERYONE = '(?:all|everyone|everybody|all (?:of )?(?:my |the )?golems|every golem)';

function form(text: string): RegExp {
  return new RegExp(`^${text.replaceAll('NAME', NAME)}$`, 'is');
}

const FORMS: readonly Form[] = [
  [form('(?:status|how are (?:all )?(?:my |the )?golems(?: doing)?|how is everyone(?: doing)?)'), () => view('state')],
  [form('(?:ask|how is) (?<name>NAME)(?: doing)?'), ({ name }) => follow(name, 'state')],
  [
    form('what happened(?: (?<when>overnight|last night|today|this week))?'),
    ({ when = 'overnight' }) => view('night', Number(HOURS[when.toLowerCase()] ?? NIGHT)),
  ],
  [
    form(
      'what (?:skills )?(?:has|have) (?:the clade|my golems|they|everyone) learn(?:ed|t)(?: (?<when>overnight|today|this week))?',
    ),
    ({ when = 'this week' }) => view('learned', Number(HOURS[when.toLowerCase()])),
  ],
  [form('(?:costs|what (?:do|did) (?:my golems|the golems|they|each) cost)'), () => view('costs')],
  [form('(?:steers|what have i (?:said|told them))'), () => view('steers')],
  [form('what do you know (?:of|about) me'), () => view('owner')],
  [form('(?:library|what is in the library)'), () => view('library')],
  [form(`tell ${EVERYONE}${TO}(?<text>.+)`), ({ text }) => broadcast(text)],
  [form(`tell all (?<kind>[a-z0-9-]+?)(?: golems)?(?:${TO}| )(?<text>.+)`), toKind],
  [form(`tell (?:the (?=[a-z0-9-]+s\\b)|every )(?<kind>[a-z0-9-]+?)(?: golems?)?${TO}(?<text>.+)`), toKind],
  [
    form(`tell (?<names>NAME(?:, NAME)*,? and NAME)(?:\\s*: ?| to | that )(?<text>.+)`),
    ({ names, text }) => broadcast(text, { names: (names ?? '').split(/,? and |, /i) }),
  ],
  [form('tell (?<name>NAME) now:? (?:to )?(?<text>.+)'), ({ name, text }) => steer(name, text, 'now')],
  [form(`tell (?<name>NAME)${TO}(?<text>.+)`), ({ name, text }) => steer(name, text)],
  [
    form('tell (?<name>NAME),? (?<text>.+)'),
    ({ name, text = '' }, sight) => (isPlain(text, sight) ? steer(name, text) : undefined),
  ],
  [form('(?<kind>pause|resume) (?<name>NAME)'), ({ kind, name }) => order(name, kind)],
  [form('let (?<name>NAME) dream'), ({ name }) => order(name, 'dream')],
  [
    form('why did (?<name>NAME) (?:.+) (?:at|in) tick (?<tick>\\d{1,15})'),
    ({ name, tick }) => follow(name, `why, at tick ${tick}`, Number(tick)),
  ],
  [
    form('what did (?<name>NAME) do (?:at|in) tick (?<tick>\\d{1,15})'),
    ({ name, tick }) => follow(name, `what, at tick ${tick}`, Number(tick)),
  ],
  [
    form('ask (?:all|everyone|all (?:my |the )?golems)(?:\\s*[:,]\\s*| )(?<text>.+)'),
    ({ text = '' }, sight) => (isPlain(text, sight) ? query([], text) : undefined),
  ],
  [
    form('ask (?<name>NAME)(?:\\s*[:,]\\s*| )(?<text>.+)'),
    ({ name, text = '' }, sight) => (isPlain(text, sight) && !/^to /i.test(text) ? follow(name, text) : undefined),
  ],
  [form('show (?:me )?the best(?:[ -]performing)? heuristics?(?: across all golems)?'), () => query([], '')],
  [form('what do (?:my golems|the golems|they) know (?:of|about) (?<text>.+)'), ({ text = '' }) => query([], text)],
  [form('equip (?<golem>NAME)(?: with (?<query>.+?)(?: knowledge)?)?'), skill('equip-golem')],
  [
    form(
      'create (?:a |an )?(?:new )?golem (?:called |named )?(?<name>NAME)(?: for (?<domain>watch|coding|sim))?(?: in (?<dir>[/~.]\\S*))?',
    ),
    skill('create-golem'),
  ],
  [form('create (?:a |an )(?:new )?(?<archetype>[a-z0-9-]+) on (?<provider>[a-z0-9. -]+)'), skill('create-golem')],
  [form('create (?<name>NAME)(?: for (?<domain>watch|coding|sim))?(?: in (?<dir>[/~.]\\S*))?'), skill('create-golem')],
  [form('clone (?<golem>NAME) (?:as|to) (?<name>NAME)'), skill('clone-strategy')],
  [form('retire (?<golem>NAME)'), skill('retire-golem')],
  [form('compare(?: (?:all |my |the |all my )?golems)?'), skill('compare-golems')],
  [
    form('compare (?<one>NAME) (?:and|with|to) (?<other>NAME)'),
    ({ one, other }) => run('compare-golems', { golems: [one, other] }),
  ],
  [form('find transferable heuristics(?: of (?<golem>NAME))?'), skill('find-transferable')],
  [form('promote (?<skill>[a-z0-9.-]+) of (?<golem>NAME)'), skill('promote-skill')],
  [form('merge (?<one>[a-z0-9.-]+) and (?<other>[a-z0-9.-]+)'), skill('merge-skills')],
  [form('summari[sz]e (?:my |the )?steers(?: about (?<about>.+))?'), skill('summarise-steers')],
  [form('(?:(?:write|make|show) (?:me )?(?:a |the )?)?strategy brief'), skill('strategy-brief')],
  [form('list our best (?:(?<query>.+?) )?skills(?: on the market(?:place)?)?'), skill('list-for-sale')],
  [form('search the market(?:place)? for (?<query>.+)'), skill('search-market')],
  [form('search the library for (?<query>.+)'), skill('search-library')],
  [
    form('what (?<query>.+) skills do we have(?: for (?<place>.+))?'),
    ({ query: what, place }) => run('search-library', { query: [what, place].filter(Boolean).join(' ') }),
  ],
  [form('scale (?<golem>NAME) to (?:a )?(?<size>.+)'), skill('scale')],
  [
    form("extend (?<golem>NAME)(?:'s ttl)? by (?<days>\\d{1,4}) days"),
    ({ golem, days }) => run('extend-life', { golem, days: Number(days) }),
  ],
];

function view(rows: View, hours?: number): MetaHermesAction {
  return { type: 'DirectResponse', response: '', skills_used: [], rows, ...(hours ? { hours } : {}) };
}

function steer(target_golem = '', steer_content = '', urgency: 'normal' | 'now' = 'normal'): MetaHermesAction {
  return { type: 'RouteSteer', target_golem, steer_content, urgency, kind: 'steer' };
}

function order(target_golem = '', word = ''): MetaHermesAction {
  const kind = word.toLowerCase() as 'pause' | 'resume' | 'dream';
  return { type: 'RouteSteer', target_golem, steer_content: kind, urgency: 'normal', kind };
}

function follow(target_golem = '', question = '', tick?: number): MetaHermesAction {
  return { type: 'RouteFollowUp', target_golem, question, ...(tick === undefined ? {} : { tick }) };
}

function broadcast(
  steer_content = '',
  filter?: { readonly names: string[] } | { archetype: string } | { domain: string },
): MetaHermesAction {
  return { type: 'BroadcastSteer', steer_content, urgency: 'normal', ...(filter ? { filter } : {}) };
}

function query(targets: string[], text: string): MetaHermesAction {
  return { type: 'QueryGrimoires', targets, query: text };
}

function run(skill_name: string, params: Readonly<Record<string, unknown>>): MetaHermesAction {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  return { type: 'ExecuteMetaSkill', skill_name, params: Object.fromEntries(given) };
}

function skill(name: string): Form[1] {
  return (parts) => run(name, parts);
}

/** `coders`, `sim`: what some golem is for, or what it looks at, and not both. */
function toKind({ kind = '', text = '' }: Parts, sight: Sight): MetaHermesAction | undefined {
  const wanted = kind.toLowerCase();
  if (wanted === 'golems') return isPlain(text, sight) ? broadcast(text) : undefined;
  const fits = (value: string) => value === wanted || `${value}s` === wanted;
  const archetype = sight.clade.find((golem) => fits(golem.archetype))?.archetype;
  const domain = sight.clade.find((golem) => fits(golem.domain))?.domain;
  if (!isPlain(text, sight) || (archetype === undefined) === (domain === undefined)) return undefined;
  return broadcast(text, archetype === undefined ? { domain: domain ?? '' } : { archetype });
}

/** Without a word between, what is told must not begin as if more were named. */
function isPlain(text: string, { clade }: Sight): boolean {
  const [first = ''] = text.toLowerCase().split(/[^a-z0-9@-]+/);
  const goesOn =
    /^(?:and|or|but|not|except|instead|then|all|both|as|who|whether)$/.test(first) || /^[^a-z0-9"'`(]/i.test(text);
  return !goesOn && meantBy(clade, first).length === 0;
}

/** A line may hold one command. */
function namesAnother(text: string): boolean {
  return /\b(?:tell|ask|steer|except|but not|instead of|rather than)\b/i.test(text);
}

/** The typed command that a line is; undefined: it is none. */
function readPlainWords(line: string, sight: Sight): MetaHermesAction | undefined {
  const text = line
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/[?.!]+$/, '');
  if (namesAnother(text.replace(/^(?:tell|ask) /i, '')) || (/\?\s*$/.test(line) && /^tell /i.test(text)))
    return undefined;
  for (const [known, make] of FORMS) {
    const parts = known.exec(text)?.groups ?? (known.test(text) ? {} : undefined);
    const action = parts && make(parts, sight);
    if (action) return pointed(action, sight);
  }
  return undefined;
}

const IT = /^(?:it|this|this-one)$/i;

/** `it` is the golem in view. */
function pointed(action: MetaHermesAction, { focus = '' }: Sight): MetaHermesAction | undefined {
  const point = (name: string) => (IT.test(name) ? focus : name);
  if (action.type === 'ExecuteMetaSkill') {
    const { golem } = action.params;
    if (typeof golem !== 'string' || !IT.test(golem)) return action;
    return focus === '' ? undefined : { ...action, params: { ...action.params, golem: focus } };
  }
  const names = targetsOf(action) ?? [];
  return focus === '' && names.some((name) => IT.test(name)) ? undefined : aimedAt(action, names.map(point));
}

const NOTHING: Choice = { text: 'Nothing' };
/** Golems that are offered at once. */
const OFFERED = 20;

/** What may have been meant by a line; the golem in view, and those that the line names, come first. */
export function askBack(line: string, sight: Sight, why = 'What shall I do with this?'): Question {
  const { clade } = sight;
  const words = line.toLowerCase().split(/[^a-z0-9@-]+/);
  const named = clade.filter((golem) => words.includes(golem.called) || words.includes(golem.name));
  const viewed = sight.focus === undefined ? [] : meantBy(clade, sight.focus);
  const near = [...new Set([...named, ...viewed])].filter(isAlive).slice(0, 3);
  const one = near.flatMap(({ called }): readonly Choice[] => [
    { text: `Tell ${called}: ${line}`, action: steer(called, line) },
    { text: `Ask ${called}: ${line}`, action: follow(called, line) },
  ]);
  const living = clade.filter(isAlive);
  const which = (text: string, make: (called: string) => MetaHermesAction): readonly Choice[] =>
    living.length > near.length ? [{ text, asks: whichGolem('Which one?', living, make) }] : [];
  const choices: readonly Choice[] = [
    ...one,
    ...which('Tell one golem', (called) => steer(called, line)),
    ...which('Ask one golem', (called) => follow(called, line)),
    ...(living.length > 1
      ? [{ text: `Tell all ${plural(living.length, 'golem')}: ${line}`, action: broadcast(line) }]
      : []),
    { text: 'Show how the golems are', action: view('state') },
    NOTHING,
  ];
  return { text: why, choices };
}

function whichGolem(text: string, golems: readonly SeenGolem[], make: (called: string) => MetaHermesAction): Question {
  const choices = golems.slice(0, OFFERED).map(({ called }) => ({ text: called, action: make(called) }));
  return { text, choices: [...choices, NOTHING] };
}

/** The same action with each golem by what it is called here; a question where one is not there, or two could be meant. */
export function settled(action: MetaHermesAction, { clade }: Sight, why: string): Decision {
  const names = targetsOf(action) ?? [];
  for (const [at, name] of names.entries()) {
    const [found, ...others] = meantBy(clade, name);
    if (found && others.length === 0) continue;
    const make = (called: string) => aimedAt(action, names.with(at, called));
    const text = found
      ? `There is more than one ${name}. Which one?`
      : `There is no golem ${JSON.stringify(name)}. Which one?`;
    const question = whichGolem(text, found ? [found, ...others] : clade.filter(isAlive), make);
    return { type: 'ask', question: { ...question, isWrong: !found } };
  }
  const known = names.map((name) => meantBy(clade, name)[0]?.called ?? name);
  return { type: 'act', action: aimedAt(action, known), why };
}

/** Without a model: the typed command, or the question. */
export function decidePlainly(line: string, sight: Sight): Decision {
  const action = readPlainWords(line, sight);
  return action ? settled(action, sight, 'rule') : { type: 'ask', question: askBack(line, sight) };
}
