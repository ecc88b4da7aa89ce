// Owns the mind of a golem in process: the seven hooks of seed 000, in order, over its library, its Grimoire and what it may ask of a model. Knows
// no heartbeat, no socket and no way to act. Invariants: calls run one after the other; four hooks ask no model; nothing is answered after
// death; what a hook did to files is whole or not there (the doors see to it).
import { join } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { readIfThere } from '#base/platform.ts';
import { holderName, holderState, holderWords, isCommandOf } from '#base/process/holder.ts';
import { ellipsize } from '#base/text.ts';
import type { AssistantMessage } from '#core/model/message.ts';
import { relevance } from '#mind/skills/format/skill-parts.ts';
import {
  type BundledSkill,
  filesBeside,
  type SkillTestament,
  signBundle,
  writeBundle,
} from '#mind/skills/format/testament.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { type OpenGolem, readKey } from '../golem-home.ts';
import type { DeathRow } from '../golem-rows.ts';
import type { DeathCause, DreamReport, GolemHooks, Procedure, Reply, TickRecord } from '../hooks.ts';
import { NO_COST } from '../hooks.ts';
import { moodQuery, product, type SkillWeight, TEMPERAMENTS, weighSkill } from '../vitals.ts';
import { aggregate, curate, draftFrom, flushFeedback, queueFeedback } from './curate.ts';
import { dream, dreamRefusal } from './dream.ts';
import { ingestInbox } from './ingest.ts';
import { accuracyOf, isInUse, type MindGround, skillAt } from './mind-ground.ts';

const PROCEDURES = 3;
/** Of each, about 500 tokens. */
const PROCEDURE_CHARS = 2_000;
/** What is given on when a session ends, and when a life does. */
const BUNDLE_BAR = { confidence: 0.6, uses: 2 };
const TESTAMENT_BAR = { confidence: 0.4, uses: 1 };

const NO_DREAM: Omit<DreamReport, 'refused'> = {
  ...{ patterns: 0, counterfactuals: 0, heuristics: 0, created: [], improved: [], flagged: [], promoted: [] },
};

export class Mind implements GolemHooks {
  readonly #ground: MindGround;
  #tail: Promise<unknown> = Promise.resolve();
  #isReady = false;
  #isDead = false;
  #tick = 0;

  constructor(ground: MindGround) {
    this.#ground = ground;
    // Its last words are written, also where what follows them was cut off.
    this.#isDead = (ground.rows.death()?.path ?? null) !== null;
  }

  session({ reason }: Parameters<GolemHooks['session']>[0]) {
    return this.#hook('session', async () => {
      const { doors, rows, emit } = this.#ground;
      if (reason === 'start') this.#tick = rows.state()?.tick ?? 0;
      await doors.door.reconcile();
      await doors.skills.refresh();
      await ingestInbox(this.#ground);
      this.#isReady = true;
      const count = this.skills().length;
      emit({ type: 'SkillsLoaded', count });
      return { count };
    });
  }

  context(asked: Parameters<GolemHooks['context']>[0]) {
    return this.#hook('context', async () => {
      const { settings, without, emit } = this.#ground;
      const { text } = asked.observation;
      const query = without.has('mood') ? text : moodQuery(text, asked.pad, settings.hermes.affect_modulation);
      const procedures = await this.#retrieve(query, text);
      const skills = procedures.map(({ name }) => name);
      if (skills.length > 0) emit({ type: 'SkillsActivated', tick: asked.tick, skills });
      return { query, procedures };
    });
  }

  toolResult({ feedback }: Parameters<GolemHooks['toolResult']>[0]) {
    return this.#hook('toolResult', async () => ({ queued: await queueFeedback(this.#ground, feedback) }));
  }

  afterTurn({ record }: Parameters<GolemHooks['afterTurn']>[0]) {
    return this.#hook('afterTurn', async () => {
      const { settings } = this.#ground;
      const { feedback_flush_interval: flush, curator_interval: curator } = settings.hermes;
      const { tick } = record;
      this.#tick = tick;
      await this.#keepTick(record);
      const thoughts = await this.#captureThoughts(record);
      const drafted = await draftFrom(this.#ground, record);
      if (tick % curator === 0) await curate(this.#ground, tick);
      else if (tick % flush === 0) await flushFeedback(this.#ground, tick);
      return { drafted, ...(thoughts.length > 0 ? { thoughts } : {}) };
    });
  }

  end(_asked: Parameters<GolemHooks['end']>[0]) {
    return this.#hook('end', async (): Promise<{ readonly bundle?: string; readonly skills: number }> => {
      const { places, identity, clock, rows } = this.#ground;
      if (rows.death() !== undefined) return { skills: 0 };
      await flushFeedback(this.#ground, this.#tick);
      const skills = worthSkills(this.#ground.doors, BUNDLE_BAR);
      if (skills.length === 0) return { skills: 0 };
      const about = {
        ...aboutBundle(this.#ground, clock.now()),
        kind: 'skill-bundle',
        death_cause: null,
        skills,
      } as const;
      const path = join(places.testament, `${identity.id}-bundle.json`);
      writeBundle(path, await signBundle(about, readKey(places)));
      return { bundle: path, skills: skills.length };
    });
  }

  dreamOnset(asked: Parameters<GolemHooks['dreamOnset']>[0]) {
    return this.#hook('dreamOnset', async (): Promise<DreamReport> => {
      const refused = dreamRefusal(this.#ground, asked.tick, asked.phase);
      if (refused !== undefined) return { ...NO_DREAM, refused };
      await flushFeedback(this.#ground, asked.tick);
      return dream(this.#ground, asked);
    });
  }

  death({ tick, cause }: Parameters<GolemHooks['death']>[0]) {
    return this.#hook('death', async () => {
      const { rows, places, identity, clock, emit, doors } = this.#ground;
      this.#refuseMurder();
      // What was lived here is known here; whoever has another mind in hand may count otherwise.
      const marker = await rows.die(cause, rows.state()?.tick || tick, clock.now());
      const path = join(places.testament, `${identity.id}.json`);
      if (marker.path !== null && readIfThere(marker.path) !== undefined) {
        this.#isDead = true;
        return { path: marker.path, skills: rows.value<number>('bequeathed') ?? 0 };
      }
      await doors.skills.refresh();
      await flushFeedback(this.#ground, marker.tick);
      const note = await this.#lastNote(marker.cause, marker.tick);
      const skills = worthSkills(this.#ground.doors, TESTAMENT_BAR).map((skill) => this.#stained(skill, marker, note));
      const about = {
        ...aboutBundle(this.#ground, marker.at),
        kind: 'skill-testament',
        death_cause: marker.cause,
      } as const;
      writeBundle(path, await signBundle({ ...about, death_tick: marker.tick, skills }, readKey(places)));
      await rows.keep('bequeathed', skills.length);
      await rows.dying('legacy', path);
      emit({ type: 'DeathSkillExport', skills_exported: skills.length });
      this.#isDead = true;
      return { path, skills: skills.length };
    });
  }

  /** Names of active skills. */
  skills(): readonly string[] {
    const { doors } = this.#ground;
    const names = doors.skills.list().map(({ name }) => name);
    return names.filter((name) => (doors.skillRecords().get(name)?.status ?? 'active') === 'active');
  }

  skill(name: string) {
    const known = skillAt(this.#ground, name);
    if (known === undefined) return undefined;
    const { skill, record, steps } = known;
    return { text: skill.text, record, steps, feedback: aggregate(this.#ground, name) };
  }

  search(text: string): Promise<readonly Procedure[]> {
    return this.#retrieve(text, text);
  }

  isDead(): boolean {
    return this.#isDead;
  }

  async rollback(name: string): Promise<boolean> {
    const done = await this.#ground.doors.door.rollback({ skill: name }, { actor: 'rollback' });
    await this.#ground.doors.skills.refresh();
    return done.ok;
  }

  /** One after the other; each leaves with the events and the cost that it made. */
  #hook<Value>(name: keyof GolemHooks, work: () => Promise<Value>): Promise<Reply<Value>> {
    const run = async (): Promise<Reply<Value>> => {
      if (this.#isDead && name !== 'death') throw new TalariaError('the golem is dead', { code: 'dead-golem' });
      if (!this.#isReady && name !== 'session' && name !== 'death')
        throw new TalariaError('no session has begun', { code: 'not-initialised' });
      const { collected, rows } = this.#ground;
      collected.events = [];
      collected.cost = NO_COST;
      const value = await work();
      const { events, cost } = collected;
      const sql = 'INSERT INTO costs(tick, hook, usd, tokens) VALUES(?, ?, ?, ?)';
      if (cost.tokens > 0 || cost.usd > 0) await rows.run(sql, this.#tick, name, cost.usd, cost.tokens);
      return { value, events: [...events], cost };
    };
    const done = this.#tail.then(run, run);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** Another process that lives this golem, and did not start this one; undefined: there is none. */
  #livedElsewhere(): string | undefined {
    const holder = readIfThere(this.#ground.places.lock)?.trim();
    if (holder === undefined || holderState(holder) === 'gone' || holder === holderName()) return undefined;
    return isCommandOf(Number.parseInt(holder, 10)) ? undefined : holderWords(holder);
  }

  /** Whoever lives it writes its end down first. */
  #refuseMurder(): void {
    const { rows, identity } = this.#ground;
    const holder = rows.death() === undefined ? this.#livedElsewhere() : undefined;
    if (holder !== undefined)
      throw new TalariaError(`${identity.id} is lived by ${holder}`, {
        code: 'busy',
        fix: `To end it: talaria golem retire ${identity.name}`,
      });
  }

  /** A tick that a golem in another language lived is stored here as an own one; an own one is there already. */
  async #keepTick(told: TickRecord): Promise<void> {
    const { rows, clock } = this.#ground;
    const state = rows.state();
    if (state === undefined || told.tick <= state.tick || this.#livedElsewhere() !== undefined) return;
    const { mood, phase } = state;
    const pe = Math.max(0, ...told.observation.signals.map(({ value }) => value));
    // Of the wire little more is asked than what the mind itself reads.
    const plain = {
      ...{ at: clock.now(), steps: [], steers: [], pe, threshold: 0, gate_reason: '', phase, vitality: 1 },
      ...{ pad_before: mood, pad_after: mood, procedures: [], answered_by: 'itself', cost: NO_COST, faults: [] },
    };
    const record: TickRecord = { ...plain, ...told };
    const { tick, prediction, at, procedures, pad_after } = record;
    const names = procedures.map(({ name }) => name);
    if (prediction) await rows.predict(tick, prediction, names, at);
    await rows.commitTick(record, { ...state, tick, mood: pad_after, phase: record.phase });
  }

  /** The best by words, record and mood; what rests is left out. */
  async #retrieve(query: string, text: string): Promise<readonly Procedure[]> {
    const { doors, clock, without } = this.#ground;
    const boost = without.has('accuracy-boost') ? () => undefined : accuracyOf(this.#ground);
    const parts = new Map<string, SkillWeight>();
    const now = clock.now();
    const weigh = ({ name }: { readonly name: string }, record: SkillRecord | undefined) => {
      if (record === undefined) return 1;
      const isInherited = record.lineage.length > 0;
      if (record.status === 'flagged' || record.status === 'retired') return 0;
      if (isInherited && !isInUse(this.#ground, { ...record, confidence: 1 })) return 0;
      const weight = weighSkill(record, now, boost);
      parts.set(name, weight);
      return product(weight);
    };
    const ranked = await doors.ranker.rank(query, { limit: PROCEDURES, weigh }, new AbortController().signal);
    const found = ranked.filter(({ score }) => score > 0);
    return found.flatMap(({ header }) => this.#procedure(header.name, text, parts.get(header.name)) ?? []);
  }

  #procedure(
    name: string,
    text: string,
    parts: SkillWeight = { standing: 1, attribution: 1, bloodstain: 1, boost: 1 },
  ): Procedure | undefined {
    const known = skillAt(this.#ground, name);
    if (known === undefined) return undefined;
    const { skill, record, steps, trigger } = known;
    const { version, confidence } = record;
    return {
      ...{ name, version, weight: product(parts), parts, steps, confidence },
      ...{ relevance: relevance(trigger, text), isUsable: isInUse(this.#ground, record) },
      text: ellipsize(skill.body.trim(), PROCEDURE_CHARS),
    };
  }

  /** Reasoning that the home's own model showed becomes private episodes (R0.153 to R0.157). */
  async #captureThoughts({ session, tick, tier }: TickRecord): Promise<readonly number[]> {
    const { doors, grimoire } = this.#ground;
    const messages = session === undefined ? [] : await doors.sessions.messages(session.id);
    const thoughts = messages.flatMap(({ id, message }) =>
      message.role === 'assistant' ? thoughtsOf(message).map((thought) => ({ id, thought })) : [],
    );
    const confidence = { T0: 0.3, T1: 0.4, T2: 0.6 }[tier];
    const ids: number[] = [];
    for (const { id, thought } of thoughts) {
      const text = `[${tier} reasoning, tick ${tick}] ${thought}`;
      const about = { tag: 'reasoning', handles: [`message:${id}`], source: 'local-hermes-4.3-think' };
      ids.push(await grimoire.add({ kind: 'episode', text, confidence, ...about }));
    }
    return ids;
  }

  #stained(skill: BundledSkill, { tick, cause }: DeathRow, note: string): SkillTestament['skills'][number] {
    const { id, generation } = this.#ground.identity;
    const { lineage: [golem = id] = [], validated_count: validations } = skill.record;
    const death_context = { golem, generation, tick, cause, validations, note };
    return { ...skill, record: { ...skill.record, bloodstain: true }, death_context };
  }

  /** A sentence of a model, or the template: dying waits for nobody (C2). */
  async #lastNote(cause: DeathCause, tick: number): Promise<string> {
    const { ask, identity, rows } = this.#ground;
    const sql = 'SELECT count(*) AS acted, total(success) AS good FROM ticks WHERE acted = 1';
    const { acted = 0, good = 0 } = rows.database.get<{ acted: number; good: number }>(sql) ?? {};
    const plain = `${identity.id} ended at tick ${tick} (${cause}); ${good} of ${acted} acting ticks went well.`;
    const asked = await ask?.({ purpose: 'draft', tier: 'T1', system: NOTE_SYSTEM, text: plain, withinMs: NOTE_MS });
    return typeof asked?.said?.note === 'string' ? asked.said.note.slice(0, 500) : plain;
  }
}

/** What is worth so much, after so many uses. */
export function worthSkills(
  doors: Pick<MindGround['doors'], 'skills' | 'skillRecords'>,
  { confidence, uses }: { readonly confidence: number; readonly uses: number },
): BundledSkill[] {
  const records = doors.skillRecords().list();
  return records.flatMap((record) => {
    const skill = doors.skills.get(record.name);
    const isWorth = record.confidence >= confidence && record.useCount >= uses && record.status !== 'retired';
    if (skill === undefined || !isWorth) return [];
    return [{ name: record.name, skill_md: skill.text, files: filesBeside(skill.folder), record: recordOf(record) }];
  });
}

/** What a bundle says of its golem. */
export function aboutBundle({ identity, places, rows }: Omit<OpenGolem, 'close' | 'settings'>, timestamp: number) {
  const { id, archetype, domain, generation, lineage } = identity;
  return {
    ...({ version: 1, source_golem: id, lineage, generation, archetype, domain, timestamp } as const),
    last_pad: rows.state()?.mood ?? TEMPERAMENTS.balanced,
    playbook_snapshot: readIfThere(places.playbook) ?? '',
  };
}

const NOTE_MS = 10_000;
const NOTE_SYSTEM =
  'Say in one sentence what a successor should know of this end. Answer with one JSON object: {"note": text}.';

function recordOf(record: SkillRecord) {
  const { confidence, lineage, categories, derivedFrom, version } = record;
  return {
    ...{ confidence, tags: categories, lineage, version },
    ...{ validated_count: record.validatedCount, improved_count: record.improvedCount, use_count: record.useCount },
    ...{ success_count: record.successCount, failure_count: record.failureCount },
    ...(derivedFrom === undefined ? {} : { derived_from: derivedFrom }),
  };
}

/** `<think>` parts of one message, and reasoning that the provider sent apart. One that is not closed goes to the end of its text. */
function thoughtsOf({ parts }: Pick<AssistantMessage, 'parts'>): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type === 'reasoning') return part.text.trim() === '' ? [] : [part.text.trim()];
    return part.type === 'text' ? splitThoughts(part.text).thoughts : [];
  });
}

/** Thoughts in order, and the text without them. */
export function splitThoughts(text: string): { readonly thoughts: readonly string[]; readonly text: string } {
  const thoughts: string[] = [];
  const rest = text.replace(/<think>([\s\S]*?)(?:<\/think>|$)/g, (_, thought: string) => {
    if (thought.trim() !== '') thoughts.push(thought.trim());
    return '';
  });
  return { thoughts, text: rest.trim() };
}
