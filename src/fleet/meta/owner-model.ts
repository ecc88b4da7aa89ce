// Owns what the owner seems to want (hierarchy notes C13, C14): preferences by key, what each rests on, how they fade, and what is counted of his
// decisions. Knows no golem. Invariants: nothing is preferred without evidence; what he set himself outweighs what was inferred; the map is sorted.
import { z } from 'zod';
import { parseJsonObject } from '#base/json.ts';
import type { Preference } from '#fleet/styx/clade.ts';
import type { MetaGround } from './meta-ground.ts';
import type { Decided, KeptPreference, MetaRows } from './meta-rows.ts';

const DAY_MS = 86_400_000;
/** Kept of a confidence each day. */
const FADES = 0.995;
/** Below it a preference is not spoken of. */
const LEAST = 0.05;
/** Decisions of one kind in a row that say something. */
const IN_A_ROW = 3;
const MOST_EVIDENCE = 20;

/** How much of what is missing to certainty one more piece of evidence adds. */
const SURE = { set: 0.95, steer: 0.7, counted: 0.6 } as const;
type Source = keyof typeof SURE;

function faded(confidence: number, sinceMs: number): number {
  return confidence * FADES ** (Math.max(0, sinceMs) / DAY_MS);
}

export function preferencesOf(rows: MetaRows, now: number): readonly Preference[] {
  const current = rows
    .preferences()
    .map(({ at, ...kept }) => ({ ...kept, updatedAt: at, confidence: faded(kept.confidence, now - at) }));
  return current.filter(({ confidence }) => confidence >= LEAST);
}

interface Wish {
  readonly key: string;
  readonly value: string;
  readonly source: Source;
  readonly evidence: readonly string[];
}

/** The same value grows surer; another one takes its place, unless the owner had set it himself and this is inferred. */
export async function prefer(rows: MetaRows, { key, value, source, evidence }: Wish, now: number): Promise<void> {
  const before = rows.preferences().find((one) => one.key === key);
  const was = before ? faded(before.confidence, now - before.at) : 0;
  const isSame = before?.value === value;
  if (before && !isSame && source !== 'set' && before.evidence.includes('set') && was > SURE[source]) return;
  const confidence = isSame ? Math.min(0.99, was + (1 - was) * SURE[source]) : SURE[source];
  const all = [...(isSame ? (before?.evidence ?? []) : []), ...evidence, ...(source === 'set' ? ['set'] : [])];
  const next: KeptPreference = { key, value, confidence, at: now, evidence: [...new Set(all)].slice(-MOST_EVIDENCE) };
  await rows.prefer(next);
}

/** What he accepted or refused: three of a kind in a row are a preference. */
export async function countDecision(rows: MetaRows, decided: Decided, now: number): Promise<void> {
  await rows.decided(decided);
  const last = rows.decisions(decided.kind, IN_A_ROW);
  if (last.length < IN_A_ROW || last.some(({ accepted }) => accepted !== decided.accepted)) return;
  const value = decided.accepted ? 'accepted' : 'refused';
  await prefer(
    rows,
    { key: decided.kind, value, source: 'counted', evidence: last.map(({ evidence }) => evidence) },
    now,
  );
}

/** Value of a key when it is believed at all. */
export function wanted(preferences: readonly Preference[], key: string): string | undefined {
  return preferences.find((one) => one.key === key && one.confidence >= 0.3)?.value;
}

const found = z.object({
  preferences: z
    .array(z.object({ key: z.string().regex(/^[a-z0-9][a-z0-9.:-]{0,59}$/), value: z.string().trim().min(1).max(200) }))
    .max(8),
});

const SYSTEM = [
  'From what an owner told his agents, say what he seems to prefer in general. Answer with one JSON object and nothing else:',
  '{"preferences":[{"key":SHORT_KEBAB_KEY,"value":SHORT_TEXT}]}',
  'Only what lasts beyond this one order; an empty list is a good answer.',
  'Use a key that is there already where it is about the same.',
].join('\n');

/** What a steer says of him, by a model of the second tier; what it answers otherwise is nothing. Keys that changed. */
export async function learnFromSteer(
  meta: Pick<MetaGround, 'rows' | 'say'>,
  { text, message, now }: { readonly text: string; readonly message: number; readonly now: number },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const known = preferencesOf(meta.rows(), now).map(({ key, value }) => `${key} = ${value}`);
  const asked = { system: `${SYSTEM}\nThere already:\n${known.join('\n') || 'nothing'}`, text, tier: 'T2' } as const;
  const said = await meta.say(asked, signal);
  const read = said.ok ? parseJsonObject(said.value.text.trim()) : said;
  const wishes = read.ok ? found.safeParse(read.value) : undefined;
  if (!wishes?.success) return [];
  for (const { key, value } of wishes.data.preferences)
    await prefer(meta.rows(), { key, value, source: 'steer', evidence: [`message:${message}`] }, now);
  return wishes.data.preferences.map(({ key }) => key);
}
