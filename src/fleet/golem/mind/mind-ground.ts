// Owns what the parts of a golem's mind work on together: its library, records and door, its rows, the model that it may ask, and the few moves that
// all of them make on a skill. Knows no hook. Invariants: skill text is written by the door alone, as actor `dream`, with the ticks it rests on;
// what a record says beside its counts is put with it at once.
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import type { Doors } from '#core/agent/room.ts';
import { stepsOf, triggersOf } from '#mind/skills/format/skill-parts.ts';
import type { Skill, SkillChange, SkillRecord, SkillRefusalReason, SkillWritten } from '#mind/skills/skill.ts';
import type { DomainPlugin } from '../domains/domain.ts';
import type { OpenGolem } from '../golem-home.ts';
import type { Cost, HermesEvent } from '../hooks.ts';
import { accuracy, isUsable } from '../vitals.ts';
import type { Grimoire } from './grimoire.ts';

/** Parts of it that a trial leaves out, to see what each is worth. */
export const ABLATIONS = ['probation', 'mood', 'accuracy-boost', 'discount', 'dreams', 'attribution'] as const;
export type Ablation = (typeof ABLATIONS)[number];

/** A model that answers with one JSON object, or undefined when there is none, it failed, or said something else. */
export type AskModel = (asked: {
  readonly purpose: 'draft' | 'dream';
  readonly tier: 'T1' | 'T2';
  readonly system: string;
  readonly text: string;
  /** Default 120,000 ms. */
  readonly withinMs?: number;
}) => Promise<{ readonly said?: JsonObject; readonly model: string; readonly cost: Cost } | undefined>;

export interface MindGround extends Omit<OpenGolem, 'close'> {
  readonly grimoire: Grimoire;
  readonly clock: Clock;
  readonly domain: Pick<DomainPlugin, 'id' | 'categories' | 'candidates' | 'guard' | 'simulate' | 'verifyClaim'>;
  readonly doors: Pick<Doors, 'skills' | 'door' | 'skillRecords' | 'ranker' | 'uses' | 'sessions'>;
  /** Goes out with the reply of the hook that runs. */
  readonly emit: (event: HermesEvent) => void;
  /** What goes out with it; emptied by the mind. */
  readonly collected: { events: HermesEvent[]; cost: Cost };
  /** Absent: rules alone. */
  readonly ask?: AskModel;
  readonly without: ReadonlySet<Ablation>;
  /** Known signers of bundles; undefined: a stranger. */
  readonly standing: (signer: string, golem: string) => 'own' | 'accepted' | undefined;
  /** Keys of whoever speaks for the owner here. */
  readonly owners: () => readonly string[];
}

export function accuracyOf({ rows }: Pick<MindGround, 'rows'>): (category: string) => number | undefined {
  const known = new Map<string, number | undefined>();
  return (category) => {
    if (!known.has(category)) known.set(category, accuracy(rows.resolved(50, category)));
    return known.get(category);
  };
}

export function isInUse({ without }: Pick<MindGround, 'without'>, record: SkillRecord): boolean {
  return isUsable(record, !without.has('probation'));
}

export interface KnownSkill {
  readonly skill: Skill;
  readonly record: SkillRecord;
  readonly steps: readonly string[];
  readonly trigger: string;
}

/** Everything of the library that has a record and steps. */
export function knownSkills({ doors }: Pick<MindGround, 'doors'>): readonly KnownSkill[] {
  return doors.skills.list().flatMap(({ name }) => skillAt({ doors }, name) ?? []);
}

export function skillAt({ doors }: Pick<MindGround, 'doors'>, name: string): KnownSkill | undefined {
  const skill = doors.skills.get(name);
  const record = skill && doors.skillRecords().get(name);
  if (skill === undefined || record === undefined) return undefined;
  return { skill, record, steps: stepsOf(skill.body), trigger: triggersOf(skill.body) };
}

export function isTaken({ doors }: Pick<MindGround, 'doors'>, name: string): boolean {
  return doors.skills.get(name) !== undefined || doors.skillRecords().get(name) !== undefined;
}

/** Through the one door. `handles`: what it rests on; `record`: what is put into its record beside that. */
export async function writeSkillOf(
  { doors, clock }: Pick<MindGround, 'doors' | 'clock'>,
  name: string,
  change: SkillChange,
  about: { readonly handles: readonly string[]; readonly quote: string; readonly record?: Partial<SkillRecord> },
): Promise<Result<SkillWritten, SkillRefusalReason>> {
  const { handles, quote, record } = about;
  const before = change.action === 'create' ? undefined : doors.skills.get(name);
  const written = await doors.door.write({
    ...{ name, change, actor: 'dream', approved: true },
    ...(before ? { expectedHash: before.hash } : {}),
    citations: handles.map((handle) => ({ handle, quote })),
  });
  if (!written.ok) return written;
  await doors.skills.refresh();
  const kept = doors.skillRecords().get(name);
  if (kept && record) await doors.skillRecords().put({ ...kept, ...record, updatedAt: clock.now() });
  return written;
}

/** Confidence after what it believed at first and what it then saw (A3). */
export function confidenceOf(
  record: Pick<SkillRecord, 'priorConfidence' | 'priorWeight' | 'successCount' | 'failureCount'>,
): number {
  const { priorConfidence, priorWeight, successCount, failureCount } = record;
  return (priorConfidence * priorWeight + successCount) / (priorWeight + successCount + failureCount);
}

/** The first JSON object of an answer, whatever stands around it. */
export function jsonIn(text: string): JsonObject | undefined {
  const read = parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return read.ok && isJsonObject(read.value) ? read.value : undefined;
}
