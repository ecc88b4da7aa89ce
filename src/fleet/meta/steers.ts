// Owns what the owner told golems: sending it, what of it holds, and what became of it. Knows no route. Invariants: what was told stands in the log
// first, signed, and is read from there, whoever sent it; of two about the same the newest counts; nobody reads their words for that.
import { z } from 'zod';
import type { SeenGolem, SteerTold, Word } from '#fleet/styx/clade.ts';
import type { StyxRow } from '#fleet/styx/home-log.ts';
import type { ActionOf } from './actions.ts';
import type { MetaGround } from './meta-ground.ts';
import type { KeptWord } from './meta-rows.ts';

const DAY_MS = 86_400_000;
/** Rows of the log that are taken in at once. */
const LOOK = 1_000;
/** Words that are looked at. */
const KEPT = 1_000;

const heardSchema = z.object({
  ...{ golem: z.string().max(60), id: z.string().max(200) },
  ...{ tick: z.number().int().nullable(), refused: z.string().max(60).nullable() },
});

/** What the log told of words since the last look. */
async function takeInWords(meta: Pick<MetaGround, 'rows' | 'log' | 'ground' | 'readWord'>): Promise<void> {
  const kept = meta.rows();
  for await (const told of rowsSince(meta, ['golem.*.steer', 'golem.*.heard'], kept.value<number>('heardUpTo') ?? 0)) {
    for (const row of told) await takeIn(meta, row);
    await kept.keep('heardUpTo', told.at(-1)?.seq ?? 0);
  }
}

/** Rows after `after` in batches, with a turn for whatever waits between two. Read by their topics: all other rows cost nothing. */
export async function* rowsSince(
  { log, ground }: Pick<MetaGround, 'log' | 'ground'>,
  patterns: readonly string[],
  after: number,
): AsyncGenerator<readonly StyxRow[]> {
  const heads = log().latest(patterns);
  const topics = [...new Set(heads.map(({ topic }) => topic))];
  let upTo = after;
  for (;;) {
    const told = topics.length === 0 ? [] : log().read(topics, upTo, LOOK);
    if (told.length > 0) yield told;
    if (told.length < LOOK) return;
    upTo = told.at(-1)?.seq ?? upTo;
    await ground.clock.sleep(0);
  }
}

async function takeIn({ rows, readWord }: Pick<MetaGround, 'rows' | 'readWord'>, row: StyxRow): Promise<void> {
  if (row.topic.endsWith('.steer')) {
    const word = readWord(row);
    if (word) await rows().addWord(word);
    return;
  }
  const heard = heardSchema.safeParse(row.body);
  if (heard.success) await rows().addHeard(heard.data);
}

/** The newest first. */
export async function steersOf(
  meta: Pick<MetaGround, 'rows' | 'log' | 'ground' | 'readWord' | 'hasLog'>,
  clade: readonly SeenGolem[],
  now: number,
): Promise<readonly SteerTold[]> {
  if (meta.hasLog()) await takeInWords(meta);
  const steers = meta
    .rows()
    .words(KEPT)
    .filter(({ word }) => word.kind === 'steer');
  return steersThatHold(steers, clade, now);
}

/** `steers`: the newest first. Two contradict each other when they are for one golem and about the same. */
function steersThatHold(steers: readonly KeptWord[], clade: readonly SeenGolem[], now: number): readonly SteerTold[] {
  const newest = new Set<string>();
  return steers.map(({ word, heard, about, pinned }) => {
    const key = `${word.signer} ${about}`;
    const isOld = about !== null && newest.has(key);
    newest.add(key);
    const called = clade.find(({ signer }) => signer === word.signer)?.called ?? word.golem;
    const after = now - word.at > DAY_MS ? 'context' : 'superseded';
    return { ...word, called, about, heard, pinned, standing: isOld ? after : 'directive' };
  });
}

type Told = Pick<ActionOf<'RouteSteer'>, 'steer_content' | 'urgency' | 'about' | 'kind'>;

export async function tell(
  meta: Pick<MetaGround, 'rows' | 'send'>,
  { golem, signer }: Pick<SeenGolem, 'golem' | 'signer'>,
  { steer_content: text, urgency, about, kind }: Told,
): Promise<Word> {
  const word = await meta.send({ golem, signer, kind, ...(kind === 'steer' ? { text, urgency } : {}) });
  await meta.rows().addWord(word);
  if (about !== undefined) await meta.rows().note(word.id, { about });
  return word;
}

/** What became of a word, in words. */
export function heardText({ heard }: Pick<SteerTold, 'heard'>): string {
  if (heard === null) return 'not taken yet';
  return heard.tick === null ? `not taken: ${heard.refused ?? 'no reason given'}` : `taken at tick ${heard.tick}`;
}
