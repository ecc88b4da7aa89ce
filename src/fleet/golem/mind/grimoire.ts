// Owns what a golem knows beside its skills (hierarchy notes A5): rows with the ticks that they rest on, how they fade, are borne out or are
// contradicted; how three ticks make an insight and an insight a heuristic; PLAYBOOK.md. Knows no model and no library. Invariants: no row
// without a handle; PLAYBOOK.md is what the heuristics say and nothing else; every change is one commit.

import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { readIfThere } from '#base/platform.ts';
import { contentStems } from '#base/text/words.ts';
import { oneLine, sliceText } from '#base/text.ts';
import { relevance, stepsInCommon } from '#mind/skills/format/skill-parts.ts';
import { type GolemRows, stored } from '../golem-rows.ts';
import type { TickRecord } from '../hooks.ts';
import { tellingWords } from './skill-form.ts';

export type EntryKind = 'episode' | 'insight' | 'heuristic' | 'warning' | 'causal';

const HALF_LIFE_DAYS: Readonly<Record<EntryKind, number>> = {
  ...{ episode: 2, insight: 7, heuristic: 14, warning: 30, causal: 14 },
};
const LEAST = 0.05;
const MOST = 0.99;
const DAY_MS = 86_400_000;
/** Of a thought that is kept as it was. */
const MOST_CHARS = 100_000;
const FORGOTTEN = 0.1;
const WEAK_CYCLES = 3;
/** From here on a heuristic stands in PLAYBOOK.md, and below it is taken out again. */
const WRITTEN_FROM = 0.7;
const WRITTEN_TO = 0.4;

export interface Entry {
  readonly id: number;
  readonly kind: EntryKind;
  readonly text: string;
  readonly confidence: number;
  readonly halfLifeDays: number;
  readonly validated: number;
  readonly tag: string;
  /** Words that were there. */
  readonly trigger: string;
  /** Labels of actions; empty when it says nothing to do. */
  readonly steps: readonly string[];
  /** `tick:N`, `message:N`, `skill:NAME@V` */
  readonly handles: readonly string[];
  /** Epoch ms. */
  readonly usedAt: number;
}

export type NewEntry = Pick<Entry, 'kind' | 'text' | 'confidence' | 'tag' | 'handles'> &
  Partial<Pick<Entry, 'trigger' | 'steps' | 'validated'>> & { readonly source: string };

const COLUMNS =
  'id, kind, text, confidence, half_life_days AS halfLifeDays, validated, tag, trigger, steps, handles, used_at AS usedAt';

type Row = Omit<Entry, 'steps' | 'handles'> & { readonly steps: string; readonly handles: string };

export class Grimoire {
  readonly #rows: GolemRows;
  readonly #clock: Clock;

  constructor(rows: GolemRows, clock: Clock) {
    this.#rows = rows;
    this.#clock = clock;
  }

  /** Throws `no-handle` for a row that rests on nothing. */
  async add(entry: NewEntry): Promise<number> {
    const { kind, text, confidence, tag, handles, source, trigger = '', steps = [], validated = 0 } = entry;
    if (handles.length === 0) throw new TalariaError('a row of the Grimoire rests on nothing', { code: 'no-handle' });
    const now = this.#clock.now();
    const said = kind === 'episode' ? sliceText(text, MOST_CHARS) : oneLine(text);
    const row = {
      ...{ kind, text: said, confidence: bound(confidence), half_life_days: HALF_LIFE_DAYS[kind] },
      ...{ validated, tag, trigger, steps: JSON.stringify(steps) },
      ...{ handles: JSON.stringify(handles), source, propagation: 'private', bloodstain: 0 },
      ...{ created_at: now, used_at: now },
    };
    const [columns, marks] = [Object.keys(row).join(', '), Object.keys(row).fill('?').join(', ')];
    const sql = `INSERT INTO grimoire(${columns}) VALUES(${marks})`;
    return (await this.#rows.run(sql, ...Object.values(row))).id;
  }

  /** The most certain first. */
  list(kind: EntryKind): readonly Entry[] {
    return this.#read('WHERE kind = ? ORDER BY confidence DESC, id', kind);
  }

  /** Rows that share words with the text, the best first; private ones too, for the golem alone asks. `but`: a kind that is left out. */
  search(text: string, limit: number, but: EntryKind): readonly Entry[] {
    const words = [...new Set(contentStems(text))].slice(0, 40).map((word) => `"${word}"`);
    if (words.length === 0) return [];
    const found = `SELECT rowid AS hit, rank AS place FROM grimoire_words WHERE grimoire_words MATCH ?`;
    const asked = words.map((word) => `${word}*`).join(' OR ');
    return this.#read(`JOIN (${found}) ON hit = id WHERE kind != ? ORDER BY place LIMIT ?`, asked, but, limit);
  }

  /** For who looks on: what fits the text, or without one the most certain; of thoughts nothing. */
  known(text: string, limit: number): readonly Entry[] {
    const found = text.trim() === '' ? [] : this.search(text, limit, 'episode');
    const all =
      found.length > 0 ? found : this.#read("WHERE kind != 'episode' ORDER BY confidence DESC, id LIMIT ?", limit);
    return all.map((entry) => ({ ...entry, confidence: this.#effective(entry) }));
  }

  /** How much of it is left now. */
  #effective({ confidence, halfLifeDays, usedAt }: Entry): number {
    const days = Math.max(0, this.#clock.now() - usedAt) / DAY_MS;
    return Math.max(LEAST, confidence * 2 ** (-days / halfLifeDays));
  }

  /** It held, or it did not. */
  async bear(id: number, held: boolean, handle: string): Promise<void> {
    const [entry] = this.#read('WHERE id = ?', id);
    if (entry === undefined) return;
    const confidence = held ? Math.min(MOST, entry.confidence * 1.05) : bound(entry.confidence * 0.9);
    const handles = [...new Set([...entry.handles, handle])].slice(-20);
    const count = held ? 'validated' : 'contradicted';
    const sql = `UPDATE grimoire SET confidence = ?, ${count} = ${count} + 1, handles = ?, used_at = ? WHERE id = ?`;
    await this.#rows.run(sql, confidence, JSON.stringify(handles), this.#clock.now(), id);
  }

  /** What is nearly gone three times in a row goes. */
  async forget(): Promise<void> {
    const all = this.#read('');
    const weak = all.filter((entry) => this.#effective(entry) < FORGOTTEN).map(({ id }) => id);
    const isWeak = 'id IN (SELECT value FROM json_each(?1))';
    const sql = `UPDATE grimoire SET weak_cycles = iif(${isWeak}, weak_cycles + 1, 0) WHERE weak_cycles > 0 OR ${isWeak}`;
    const { database } = this.#rows;
    await database.lightTransaction(() => {
      database.run(sql, JSON.stringify(weak));
      database.run('DELETE FROM grimoire WHERE weak_cycles >= ?', WEAK_CYCLES);
    });
  }

  /** Insights from three or more of these ticks with one way and one outcome; what is known already is borne out instead. */
  async learn(ticks: readonly TickRecord[]): Promise<void> {
    for (const group of groupsOf(ticks)) {
      const known = this.#known(group);
      if (known) await this.#bearOut(known, group);
      else if (group.records.length >= 3) await this.add(insightOf(group));
    }
    const heuristics = Map.groupBy(this.list('heuristic'), ({ tag }) => tag);
    for (const record of ticks) await this.#contradict(record, heuristics.get(record.observation.tag) ?? []);
  }

  /** What a heuristic says was tried in its situation, and changed nothing. */
  async #contradict({ tick, observation, actions }: TickRecord, said: readonly Entry[]): Promise<void> {
    const vain = new Set(
      actions.filter(({ status, has_changed }) => status !== 'blocked' && !has_changed).map(({ label }) => label),
    );
    for (const { id, steps, trigger, handles } of said) {
      const isMeant = vain.has(steps[0] ?? '') && relevance(trigger, observation.text) >= 0.6;
      if (isMeant && !handles.includes(`tick:${tick}`)) await this.bear(id, false, `tick:${tick}`);
    }
  }

  async #bearOut({ id, handles }: Entry, { records }: TickGroup): Promise<void> {
    const seen = new Set(handles);
    for (const { tick } of records) if (!seen.has(`tick:${tick}`)) await this.bear(id, true, `tick:${tick}`);
  }

  #known({ tag, steps, success, trigger }: TickGroup): Entry | undefined {
    const kinds: readonly EntryKind[] = success ? ['insight', 'heuristic'] : ['warning'];
    return this.#read('WHERE tag = ? AND steps = ?', tag, JSON.stringify(steps)).find(
      (entry) => kinds.includes(entry.kind) && relevance(entry.trigger, trigger) >= 0.5,
    );
  }

  async promote(): Promise<void> {
    await this.#rows.run(
      `UPDATE grimoire SET kind = 'heuristic', half_life_days = ? WHERE kind = 'insight' AND confidence >= 0.6 AND validated >= 3`,
      HALF_LIFE_DAYS.heuristic,
    );
  }

  /** A heuristic that says otherwise of the same situation, or the same. At least as certain as `from`. */
  opinion(
    trigger: string,
    steps: readonly string[],
    from: number,
  ): { readonly says: 'same' | 'other'; readonly entry: Entry } | undefined {
    const near = this.list('heuristic').filter(
      (entry) =>
        entry.steps.length > 0 &&
        entry.confidence >= from &&
        relevance(entry.trigger, trigger) >= 0.6 &&
        relevance(trigger, entry.trigger) >= 0.6,
    );
    const same = near.find((entry) => stepsInCommon(entry.steps, steps) >= 0.8);
    if (same) return { says: 'same', entry: same };
    const [other] = near;
    return other && { says: 'other', entry: other };
  }

  /** `path`: of PLAYBOOK.md. */
  writePlaybook(path: string, golem: string): void {
    const before = readIfThere(path) ?? '';
    const written = new Set(Array.from(before.matchAll(/^- \[h-(\d+)\]/gm), ([, id]) => Number(id)));
    const entries = this.list('heuristic').filter(
      ({ id, confidence }) => confidence >= WRITTEN_FROM || (written.has(id) && confidence >= WRITTEN_TO),
    );
    const groups = Map.groupBy(entries, ({ tag }) => tag);
    const lineOf = ({ id, confidence, validated, text }: Entry) =>
      `- [h-${id}] (confidence ${confidence.toFixed(2)}, validated ${validated}) ${text}`;
    const sections = [...groups].map(([tag, list]) => [`## ${tag}`, ...list.map(lineOf), '']);
    const text = [`# Playbook of ${golem}`, '', ...sections.flat()].join('\n').trimEnd().concat('\n');
    if (text !== before) atomicWrite(path, text);
  }

  #read(where: string, ...values: readonly (string | number)[]): readonly Entry[] {
    const rows = this.#rows.database.all<Row>(`SELECT ${COLUMNS} FROM grimoire ${where}`, ...values);
    const list = (json: string) => stored<readonly string[]>(json) ?? [];
    return rows.map((row) => ({ ...row, steps: list(row.steps), handles: list(row.handles) }));
  }
}

function bound(value: number): number {
  return Math.min(MOST, Math.max(LEAST, value));
}

/** Ticks in which the same was done in the same kind of situation, with the same end. */
export interface TickGroup {
  readonly tag: string;
  readonly steps: readonly string[];
  readonly success: boolean;
  readonly records: readonly TickRecord[];
  /** Words that most of them showed. */
  readonly trigger: string;
}

function insightOf({ tag, steps, success, records, trigger }: TickGroup): NewEntry {
  const count = records.length;
  const done = steps.map((step) => `\`${step}\``);
  const times = `${count} of ${count} times`;
  const text = success
    ? `when ${trigger}, do ${done.join(', then ')}, because it held ${times}`
    : `when ${trigger}, ${done.join(', ') || 'nothing tried'} did not help, ${times}`;
  const handles = records.map(({ tick }) => `tick:${tick}`);
  const about = { tag, handles, trigger, steps, source: 'ticks', validated: count };
  return { ...about, kind: success ? 'insight' : 'warning', text, confidence: (count + 1) / (count + 2) };
}

/** What changed something, in order: the way that a tick found. */
export function wayOf({ actions }: TickRecord): readonly string[] {
  return actions.filter(({ status, has_changed }) => status === 'ok' && has_changed).map(({ label }) => label);
}

export function groupsOf(ticks: readonly TickRecord[]): readonly TickGroup[] {
  const judged = ticks.filter(({ outcome, actions }) => outcome?.verified && actions.length > 0);
  const groups = Map.groupBy(judged, (record) =>
    JSON.stringify([record.observation.tag, wayOf(record), record.outcome?.success]),
  );
  return [...groups.values()].flatMap((records) => {
    const [first] = records;
    const success = first?.outcome?.success ?? false;
    const steps = first ? wayOf(first) : [];
    const trigger = commonWords(records.map(({ observation }) => observation.text));
    if (first === undefined || trigger.length < 2 || (success && steps.length === 0)) return [];
    return [{ tag: first.observation.tag, steps, success, records, trigger: trigger.join(' ') }];
  });
}

/** Words that more than half of the texts hold, those of most texts first. */
function commonWords(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const word of new Set(tellingWords(text, 60))) counts.set(word, (counts.get(word) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count > texts.length / 2).sort((a, b) => b[1] - a[1]);
  return common.slice(0, 12).map(([word]) => word);
}
