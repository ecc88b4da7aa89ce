// Owns how a golem is told of to those who look on, here and over the link (clade.ts): how it stands, and one tick, each in one shape. Pure but for its
// files; knows no command and no log. Invariant: what only its process counts stands in golem.db, so that one at rest is told of as fully.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { readIfThere } from '#base/platform.ts';
import { holderState } from '#base/process/holder.ts';
import { oneLine } from '#base/text.ts';
import type { GolemState, TickTold } from '#fleet/styx/clade.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import type { GolemPlaces, OpenGolem } from './golem-home.ts';
import type { TickRecord } from './hooks.ts';
import { accuracy } from './vitals.ts';

/** What its process keeps as `told` whenever it tells of itself; `todayUsd`: US dollars of the day (UTC) of `at`, epoch ms. */
export type Counted = Readonly<Record<'skills' | 'todayUsd' | 'at', number>> & { readonly last: string | null };

const DAY_MS = 86_400_000;
const STILL = { pleasure: 0, arousal: 0, dominance: 0 };
const NOTHING: Counted = { skills: 0, todayUsd: 0, at: 0, last: null };
/** Ticks that are looked through for the last one in which something happened. */
const LOOKED_THROUGH = 20;

/** `status`: what its own process knows of it. */
export function stateOf(
  { identity, rows, places }: OpenGolem,
  { now, status }: { readonly now: number; readonly status?: 'rests' | undefined },
): GolemState {
  const { id, name, signer, generation, lineage, archetype, domain } = identity;
  const { tick = 0, phase = '', mood = STILL, spentUsd = 0, isPaused = false } = rows.state() ?? {};
  const { cause = null } = rows.death() ?? {};
  const recent = rows.ticks({ from: tick - LOOKED_THROUGH });
  const { at = null, vitality = 1 } = recent.at(-1) ?? {};
  const counted = rows.value<Counted>('told') ?? NOTHING;
  const isToday = Math.floor(counted.at / DAY_MS) === Math.floor(now / DAY_MS);
  const awake = isPaused ? 'paused' : 'lives';
  const asleep = rows.value('isAwake') === true ? 'killed' : 'rests';
  const standing = status ?? (isLivedNow(places) ? awake : asleep);
  return {
    ...{ golem: id, name, signer, generation, lineage, archetype, domain },
    status: cause === null ? standing : 'dead',
    ...{ cause, tick, at, phase, vitality, mood },
    accuracy: accuracy(rows.resolved(100)) ?? null,
    ...{ skills: counted.skills, spent_usd: spentUsd, today_usd: isToday ? counted.todayUsd : 0 },
    last: recent.flatMap((record) => tickLine(record) ?? []).at(-1) ?? counted.last,
  };
}

/** Its home says whose it is, so that other homes of this owner know. */
export function vouchOf({ identity, places }: OpenGolem, clock: Clock): Pick<GolemState, 'vouch'> {
  const { id: golem, signer } = identity;
  try {
    const owner = ownerOf(join(places.root, '..', '..'), clock);
    return { vouch: owner.sign('birth', { kind: 'birth', golem, signer }) };
  } catch {
    // A torn key is told of when the owner speaks; a golem rests and ends without it.
    return {};
  }
}

/** `golem`: its id. */
export function toldTick(record: TickRecord, golem: string): TickTold {
  const { tick, at, tier, steps, gate_reason: gate, observation, procedures, followed, prediction } = record;
  const { answered_by, actions, outcome, phase, pad_after: mood } = record;
  return {
    ...{ golem, tick, at, tier, steps, gate, answered_by, phase, mood },
    saw: oneLine(observation.text, 400),
    skills: procedures.map(({ name }) => name),
    followed: followed?.name ?? null,
    prediction: prediction ? { claim: prediction.claim, p: prediction.p } : null,
    actions: actions.map(({ label, status }) => ({ label, status })),
    outcome: outcome ? { success: outcome.success, summary: outcome.summary } : null,
    text: tickLine(record) ?? `tick ${tick} · T0 · quiet`,
  };
}

/** Does a process live it now? */
export function isLivedNow({ lock }: GolemPlaces): boolean {
  const holder = readIfThere(lock);
  return holder !== undefined && holderState(holder) !== 'gone';
}

/** One line of a tick in which something happened. */
export function tickLine(record: TickRecord): string | undefined {
  const { tick, tier, observation, actions, outcome, answered_by: by, prediction, followed, faults, steers } = record;
  if (tier === 'T0' && faults.length === 0) return undefined;
  const mark = ({ status, has_changed }: (typeof actions)[number]) =>
    status === 'blocked' ? ' (blocked)' : has_changed ? '' : ' ✗';
  const end =
    outcome === undefined ? 'nothing was done' : `${outcome.success ? 'done' : 'not done'}: ${outcome.summary}`;
  return [
    `tick ${tick} · ${tier} · ${by} · ${observation.tag}`,
    steers.length > 0 ? `you said: ${steers.join('; ')}` : '',
    followed ? `following ${followed.name}` : '',
    actions.map((action) => `${action.label}${mark(action)}`).join(', '),
    oneLine(end, 120),
    prediction ? `expected ${prediction.p.toFixed(2)}` : '',
    ...faults,
  ]
    .filter(Boolean)
    .join(' · ');
}
