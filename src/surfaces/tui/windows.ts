// Owns the view-model of each window: what it says, as blocks, a pure function of what is known and of what is in view. Knows no terminal, no colour code and
// no width. Invariants: nothing that a window says is said by colour alone; what is not there is said, with the way out; the same model is drawn and printed as JSON.
import { isoTime } from '#base/clock.ts';
import { plural } from '#base/text.ts';
import type { MarketSeen, SteerTold } from '#fleet/styx/clade.ts';
import { type Board, FLOW_STEPS, type InfraFigures, type SkillSeen, type Watched } from './board.ts';
import { percent, signed, type WindowName } from './event-table.ts';

export type Tone = 'dim' | 'bold' | 'cyan' | 'green' | 'yellow' | 'red';

export type Block =
  | { readonly type: 'line'; readonly text: string; readonly tone?: Tone }
  /** `none`: what is said when there are no items. */
  | { readonly type: 'list'; readonly title: string; readonly items: readonly Item[]; readonly none: string }
  | {
      readonly type: 'table';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** Of `rows`; -1: none. */
      readonly chosen: number;
    }
  | {
      readonly type: 'ring';
      readonly steps: readonly { readonly name: string; readonly isDone: boolean }[];
      /** What was injected. */
      readonly skills: readonly string[];
    }
  /** `share`: 0 to 1. */
  | { readonly type: 'gauge'; readonly label: string; readonly share: number; readonly text: string }
  | { readonly type: 'spark'; readonly label: string; readonly values: readonly number[]; readonly text: string };

export type Item = { readonly text: string; readonly tone?: Tone };

export interface WindowModel {
  readonly name: WindowName;
  readonly blocks: readonly Block[];
}

/** What is in view. */
export interface View {
  /** As it is called; absent: all of them. */
  readonly focus?: string;
  /** Row of the clade that is chosen. */
  readonly chosen: number;
  /** Epoch ms. */
  readonly now: number;
}

export const WINDOWS: Readonly<Record<WindowName, string>> = {
  ...{ clade: 'Clade', hearth: 'Hearth', hermes: 'Hermes', dream: 'Dream' },
  ...{ mind: 'Mind', library: 'Library', infra: 'Infra', market: 'Market' },
};

export const WINDOW_NAMES = Object.keys(WINDOWS) as readonly WindowName[];

/** That of the market only where it is on. */
export function windowNames({ market: seen }: Pick<Board, 'market'>): readonly WindowName[] {
  return WINDOW_NAMES.filter((name) => name !== 'market' || seen !== null);
}

const MODELS: Readonly<Record<WindowName, (board: Board, view: View) => readonly Block[]>> = {
  clade,
  hearth: ofOne(hearth),
  hermes: ofOne(hermes),
  dream: ofOne(dream),
  mind,
  library,
  infra: ({ infra: figures, absent }) => (figures ? infra(figures) : [missing(absent.infra ?? NO_MODEL)]),
  market: ({ market: seen }, view) => (seen ? market(seen, view) : [missing('The market is off.')]),
};

const NO_MODEL = 'No model of this machine is in use. `talaria setup --local` puts one in place.';

export function windowOf(name: WindowName, board: Board, view: View): WindowModel {
  return { name, blocks: MODELS[name](board, view) };
}

/** A golem that is kept in view by its key: when another comes to have its name, both are called otherwise. */
export interface Focus {
  readonly called: string;
  /** Absent: it was not seen yet. */
  readonly signer?: string;
}

/** As it is called now. */
export function followed({ golems }: Board, focus: Focus): Focus {
  const isIt = ({ seen }: Watched) =>
    focus.signer === undefined ? seen.called === focus.called : seen.signer === focus.signer;
  const { called, signer } = golems.find(isIt)?.seen ?? focus;
  return { called, ...(signer === undefined ? {} : { signer }) };
}

/** The golem in focus and no other; without a focus the first that lives, else the first. */
export function inFocus({ golems }: Board, { focus }: Pick<View, 'focus'>): Watched | undefined {
  if (focus !== undefined) return golems.find(({ seen }) => seen.called === focus);
  return golems.find(({ seen }) => seen.status === 'lives') ?? golems[0];
}

function nobody({ focus }: View): Block {
  return missing(focus === undefined ? NO_GOLEM : `${focus} is not seen here now. Esc shows all golems.`);
}

function line(text: string, tone?: Tone): Block {
  return { type: 'line', text, ...(tone ? { tone } : {}) };
}

function missing(text: string): Block {
  return line(text, 'yellow');
}

function list(title: string, items: readonly Item[], none: string): Block {
  return { type: 'list', title, items, none };
}

const NO_GOLEM = 'There is no golem yet: talaria golem create NAME.';

function ofOne(blocksOf: (one: Watched, view: View) => readonly Block[]) {
  return (board: Board, view: View): readonly Block[] => {
    const one = inFocus(board, view);
    const told = board.absent.golems === undefined ? [] : [missing(board.absent.golems)];
    return one ? [line(standing(one, view), 'bold'), ...told, ...blocksOf(one, view)] : [...told, nobody(view)];
  };
}

/** One line on one golem. */
export function standing({ seen }: Watched, view: Pick<View, 'now'>): string {
  const { called, domain, tick, phase, vitality } = seen;
  return `${called} · ${statusOf(seen, view)} · tick ${tick} · ${phase} · ${domain} · vitality ${percent(vitality)}`;
}

const GONE_MS = 180_000;

function statusOf({ status, cause, where, seenAt, isGone }: Watched['seen'], { now }: Pick<View, 'now'>): string {
  if (status === 'dead' && cause !== null) return `dead (${cause})`;
  const silent = now - seenAt;
  const isLost = status === 'lives' && where !== 'here' && (isGone || silent > GONE_MS);
  return isLost ? `silent ${ago(silent)}` : status;
}

function ago(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} days`;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}

/** Of the last things that happened, the newest first. */
const NEWS = 20;

/** Heading, and what stands below it. */
type Column = readonly [name: string, cell: (one: Watched, view: View) => string];

const COLUMNS: readonly Column[] = [
  ['golem', ({ seen }) => seen.called],
  ['status', ({ seen }, view) => statusOf(seen, view)],
  ['tick', ({ seen }) => String(seen.tick)],
  ['vitality', ({ seen }) => percent(seen.vitality)],
  ['right', ({ seen }) => (seen.accuracy === null ? '–' : percent(seen.accuracy))],
  ['skills', ({ seen, loaded }) => String(seen.skills || loaded)],
  ['cost', ({ seen }) => dollars(seen.spent_usd)],
  ['today', ({ seen }) => dollars(seen.today_usd)],
  ['where', ({ seen }) => seen.where.slice(0, 8)],
  ['last', ({ seen }) => seen.last ?? ''],
];

function clade(board: Board, view: View): readonly Block[] {
  const { golems, absent, feed } = board;
  const missed = [absent.golems, absent.clade].flatMap((why) => (why === undefined ? [] : [missing(why)]));
  if (golems.length === 0) return [...missed, missing(NO_GOLEM)];
  const living = golems.filter(({ seen }) => seen.status === 'lives').length;
  const today = golems.reduce((sum, { seen }) => sum + seen.today_usd, 0);
  const isSpread = golems.some(({ seen }) => seen.where !== 'here');
  const columns = COLUMNS.filter(([name]) => isSpread || name !== 'where');
  const rows = golems.map((one) => columns.map(([, cell]) => cell(one, view)));
  const news = feed
    .slice(-NEWS)
    .toReversed()
    .map(({ golem, text }) => ({ text: golem === '' ? text : `${golem} ${text}` }));
  return [
    line(`${plural(golems.length, 'golem')}, ${living} alive · ${dollars(today)} today`, 'bold'),
    ...missed,
    { type: 'table', columns: columns.map(([name]) => name), rows, chosen: view.chosen },
    list('What happens', news, 'Nothing is known to have happened.'),
  ];
}

const RING = 'OBSERVE RETRIEVE ANALYZE GATE SIMULATE VALIDATE EXECUTE VERIFY REFLECT'.split(' ');

function hearth({ tick, active, seen }: Watched): readonly Block[] {
  const done = new Set(tick?.steps);
  const ring: Block = {
    type: 'ring',
    steps: RING.map((name) => ({ name, isDone: done.has(name) })),
    skills: active,
  };
  if (!tick) return [ring, line(`No tick of its is known here. ${seen.last ?? ''}`.trim(), 'dim')];
  const { tier, gate, saw, prediction, answered_by: by, actions, outcome, followed } = tick;
  const claim = prediction ? `${prediction.claim}, ${percent(prediction.p)}` : 'none';
  const said = outcome ? `${outcome.success ? 'came true' : 'did not come true'}: ${outcome.summary}` : 'not known yet';
  return [
    ring,
    line(`tick ${tick.tick} · ${tier} · answered by ${by} · gate: ${gate}`),
    line(`saw: ${saw}`),
    line(`prediction: ${claim}`),
    line(`outcome: ${said}`, outcome ? (outcome.success ? 'green' : 'red') : 'dim'),
    ...(followed === null ? [] : [line(`followed ${followed}`)]),
    list(
      'Actions',
      actions.map(({ label, status }) => ({ text: `${label}: ${status}`, ...(status === 'ok' ? {} : RED) })),
      'It did nothing.',
    ),
  ];
}

const RED = { tone: 'red' } as const;

const MARKS: Readonly<Record<SkillSeen['mark'], string>> = { '': ' ', new: '+', changed: '±', 'taken in': '←' };

function hermes({ seen, loaded, skills, drafts }: Watched): readonly Block[] {
  const items = skills.toReversed().map((skill) => skillItem(skill));
  const waiting = drafts.toReversed().map(({ tick, trigger }) => ({ text: `tick ${tick}: ${trigger}` }));
  return [
    line(`${plural(loaded || seen.skills, 'skill')} loaded`, 'bold'),
    list('Library', items, 'No skill of its is known here.'),
    list('Drafts', waiting.slice(0, 12), 'No draft is known here.'),
  ];
}

function skillItem({ name, mark, note, confidence }: SkillSeen): Item {
  const parts = [`${MARKS[mark]} ${name}`, mark, note, confidence === null ? '' : percent(confidence)];
  return { text: parts.filter((part) => part !== '').join(' · '), ...(mark === '' ? {} : { tone: 'green' as const }) };
}

function dream({ dreams, drafts, flushed, skills }: Watched): readonly Block[] {
  const told = dreams
    .toReversed()
    .map(({ at, skills_evolved: count, fitness_improved: fitness, duration_secs: s }) => ({
      text: `${isoTime(at).slice(0, 16).replace('T', ' ')} · ${plural(count, 'skill')} evolved · fitness ${signed(fitness)} · ${s} s`,
    }));
  const of = (mark: SkillSeen['mark']) => skills.filter((skill) => skill.mark === mark).length;
  return [
    line(`Learning: ${plural(flushed, 'outcome')} counted · ${plural(drafts.length, 'draft')}`, 'bold'),
    line(`${plural(of('new'), 'skill')} new · ${of('changed')} changed · ${of('taken in')} taken in`),
    list('Dreams', told, 'No dream is known here.'),
  ];
}

function mind(board: Board, view: View): readonly Block[] {
  const one = inFocus(board, view);
  const { absent, owner } = board;
  const steers = board.steers.filter(({ signer }) => view.focus === undefined || signer === one?.seen.signer);
  const wants = owner.map(({ key, value, confidence }) => ({ text: `${key}: ${value}, ${percent(confidence)}` }));
  return [
    ...(one ? [line(standing(one, view), 'bold'), ...mood(one.seen.mood)] : [nobody(view)]),
    ...(absent.clade === undefined ? [] : [missing(absent.clade)]),
    list('Steers', steers.toReversed().map(steerItem), 'You have told it nothing.'),
    list('What you seem to want', wants, 'Nothing is known of it yet.'),
  ];
}

function mood(pad: Watched['seen']['mood']): readonly Block[] {
  return Object.entries(pad).map(([label, value]) => ({
    ...{ type: 'gauge', label, share: (value + 1) / 2, text: signed(value) },
  }));
}

const STANDING: Readonly<Record<SteerTold['standing'], Tone>> = {
  directive: 'green',
  context: 'dim',
  superseded: 'dim',
};

function steerItem({ called, kind, text, standing: how, heard, pinned, urgency }: SteerTold): Item {
  const what = text === undefined ? kind : `“${text}”`;
  const taken =
    heard?.tick != null ? `taken at tick ${heard.tick}` : heard ? `refused: ${heard.refused}` : 'on its way';
  const more = [...(urgency === 'now' ? ['at once'] : []), ...(pinned ? ['pinned'] : [])];
  return { text: [`${called}: ${what}`, how, taken, ...more].join(' · '), tone: STANDING[how] };
}

function library({ library: entries, nominated, flows, absent }: Board): readonly Block[] {
  const moving = flows.filter(({ step }) => step < FLOW_STEPS);
  const known = new Set(entries.map(({ name }) => name));
  const waiting = nominated.filter(({ name }) => !known.has(name));
  return [
    ...(absent.clade === undefined ? [] : [missing(absent.clade)]),
    ...moving.map(({ golem, skills, step }) =>
      line(
        `${golem} ${'·'.repeat(step)}✦${'·'.repeat(FLOW_STEPS - step)} library: ${plural(skills, 'skill')}`,
        'yellow',
      ),
    ),
    list(
      'Clade',
      entries.map((entry) => ({
        text: entryText(entry),
        tone: entry.status === 'held' ? ('yellow' as const) : ('green' as const),
      })),
      'The library is empty. It fills when golems end or rest.',
    ),
    list(
      'Nominated',
      waiting.map(({ name, confidence, golem }) => ({ text: `${name} of ${golem}, ${percent(confidence)}` })),
      'No golem has nominated a skill.',
    ),
  ];
}

function entryText(entry: Board['library'][number]): string {
  const { name, status, confidence, raw, isStale, isCrossValidated, source, equipped, validated, contradicted } = entry;
  const marks = [...(isCrossValidated ? ['cross-validated'] : []), ...(isStale ? ['stale'] : [])];
  const held =
    equipped === 0 ? [] : [`equipped to ${equipped}, validated by ${validated}, contradicted by ${contradicted}`];
  return [name, `[${source}]`, status, `${percent(confidence)} of ${percent(raw)}`, ...marks, ...held].join(' · ');
}

const GIB = 1_024 ** 3;

function infra(figures: InfraFigures): readonly Block[] {
  const { model, quantisation, tokensPerSecond, context, memory, installed, reloading, warnings } = figures;
  if (model === null && installed.length === 0) return [...warnings.map(missing), missing(NO_MODEL)];
  const now = tokensPerSecond.at(-1);
  const speed = now === undefined ? 'not measured in the last hour' : `${now.toFixed(1)} tok/s`;
  const held = memory && `${(memory.used / GIB).toFixed(1)} of ${(memory.size / GIB).toFixed(1)} GiB`;
  const items = installed.map((id, at) => ({ text: `${at + 1} ${id}${id === model ? ' · in use' : ''}` }));
  return [
    line(`${model ?? 'No model of this machine is in use'} · ${quantisation ?? 'quantisation not told'}`, 'bold'),
    ...warnings.map(missing),
    ...(reloading ? [gauge('reload', reloading.share, reloadText(reloading))] : []),
    held === null ? line('memory: no model is loaded', 'dim') : gauge('memory', shareOf(memory), held),
    { type: 'spark', label: 'speed', values: tokensPerSecond, text: speed },
    gauge('context', shareOf(context), contextText(context)),
    list('Installed', items, 'Nothing is installed: talaria models pull.'),
  ];
}

function shareOf(of: { readonly used: number; readonly size: number } | null): number {
  return of && of.size > 0 ? Math.min(1, of.used / of.size) : 0;
}

function reloadText({ from, to, share }: NonNullable<InfraFigures['reloading']>): string {
  return `${percent(share)}, ${from || 'nothing'} → ${to}; requests wait for it`;
}

/** A dream takes nearly all of the window. */
function contextText({ used, size, of, usual }: InfraFigures['context']): string {
  if (size === 0) return 'no call in the last hour';
  const range = usual.map(thousands).join('–');
  return `${thousands(used)} of ${thousands(size)} · ${of} takes ${range}, a dream nearly all of it`;
}

function gauge(label: string, share: number, text: string): Block {
  return { type: 'gauge', label, share, text };
}

function thousands(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(tokens < 100_000 ? 1 : 0)}K`;
}

const MICRO = 1_000_000;

function market({ at, offers, failed, trades }: MarketSeen, { now }: View): readonly Block[] {
  const looked = at === null ? 'no shop was looked at yet' : `looked at ${ago(now - at)} ago`;
  const columns = ['skill', 'costs', 'confidence', 'verified', 'category', 'id', 'shop'];
  const rows = offers.map(({ name, price, confidence, validated, category, id, shop }) => [
    ...[name, dollars(price / MICRO), percent(confidence), String(validated), category, id.slice(0, 10), shop],
  ]);
  const told = trades.map(({ way, name, amount, state, at: when }) => ({
    text: `${isoTime(when).slice(0, 10)} · ${way} ${name} for ${dollars(amount / MICRO)} · ${state}`,
  }));
  return [
    line(`${plural(offers.length, 'offer')} · ${looked}`, 'bold'),
    ...Object.entries(failed).map(([shop, why]) => missing(`${shop}: ${why}`)),
    offers.length === 0
      ? line('Nothing is offered by the shops of market.shops.', 'dim')
      : { type: 'table', columns, rows, chosen: -1 },
    line('To read one: talaria market show ID; to buy it: talaria market buy ID', 'dim'),
    list('Bought and sold', told, 'Nothing yet.'),
  ];
}
