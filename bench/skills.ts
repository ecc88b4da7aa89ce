/** 10,000 skills: tokens of the prompt's index, start from a warm cache, and whether a sentence finds its skill. Needs TALARIA_DATA. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createSkillRanker, type SkillRanker } from '#mind/skills/library/offer-skills.ts';
import { createSkillIndex } from '#mind/skills/library/skill-index.ts';
import { createSkillLibrary, type SkillLibrary } from '#mind/skills/library/skill-library.ts';
import { skillsCacheName } from '#mind/skills/library/skills-cache.ts';
import { type BenchRow, median, spread } from './bench-row.ts';
import { type MadeSkill, pickSentence, seededRandom, writeSkills } from './skill-texts.ts';

const COUNT = 10_000;
const EXCHANGED = 0.3;
const STARTS = 15;
const QUESTIONS = 400;
const CONDITIONS = { platform: 'linux', tools: new Set(['terminal']), toolsets: new Set(['terminal', 'file']) };
const signal = new AbortController().signal;

export async function benchSkills(): Promise<readonly BenchRow[]> {
  const data = process.env.TALARIA_DATA;
  if (data === undefined) throw new Error('set TALARIA_DATA to the folder that holds data/skills-sample.jsonl');
  const home = mkdtempSync(join(tmpdir(), 'talaria-bench-skills-'));
  try {
    const options = { root: join(home, 'skills'), cacheFile: join(home, 'cache', skillsCacheName) };
    const made = writeSkills(options.root, { data, count: COUNT, exchanged: EXCHANGED });
    const cold = performance.now();
    const library = createSkillLibrary(options);
    await library.ready();
    const tokens = countTokens(createSkillIndex(library).render({ conditions: CONDITIONS }).text);
    const coldMs = performance.now() - cold;
    const words = performance.now();
    const ranker = createSkillRanker({ library });
    await ranker.prepare(signal);
    const wordsMs = performance.now() - words;
    const { hits, asked, times } = await askSentences(ranker, made);
    library.close();
    const starts = await warmStarts(() => createSkillLibrary(options));
    const unchanged = await timeRefresh(() => createSkillLibrary(options));
    return [tokenRow(tokens), startRow(starts, { coldMs, unchanged }), hitRow({ hits, asked, times, wordsMs })];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Opens the cache, checks the folders, gives the text of the index: what a session pays before its first request. */
async function warmStarts(open: () => SkillLibrary): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < STARTS; at += 1) {
    const began = performance.now();
    const library = open();
    await library.ready();
    const { names } = createSkillIndex(library).render({ conditions: CONDITIONS });
    times.push(performance.now() - began);
    if (names.length === 0) throw new Error('the warm index is empty');
    library.close();
  }
  return times;
}

async function timeRefresh(open: () => SkillLibrary): Promise<number> {
  const library = open();
  const began = performance.now();
  await library.refresh();
  const ms = performance.now() - began;
  library.close();
  return ms;
}

async function askSentences(ranker: SkillRanker, made: readonly MadeSkill[]) {
  const random = seededRandom(11);
  const times: number[] = [];
  let hits = 0;
  while (times.length < QUESTIONS) {
    const wanted = made[Math.floor(random() * made.length)];
    const sentence = wanted && pickSentence(wanted.body, random);
    if (!sentence) continue;
    const began = performance.now();
    const ranked = await ranker.rank(sentence, { limit: 5, conditions: CONDITIONS }, signal);
    times.push(performance.now() - began);
    if (ranked.some(({ header }) => header.name === wanted.name)) hits += 1;
  }
  return { hits, asked: times.length, times };
}

function tokenRow(value: number): BenchRow {
  const note = `${COUNT} skills, the whole block of the prompt`;
  return { metric: 'skills: index', value, target: '≤ 2000', unit: 'o200k tokens', ok: value <= 2_000, note };
}

function startRow(times: readonly number[], other: { readonly coldMs: number; readonly unchanged: number }): BenchRow {
  const value = median(times);
  const note =
    `median of ${times.length}, ${spread(times)}: open the cache, check the folders, take the text; ` +
    `first start without a cache ${Math.round(other.coldMs)} ms, refresh with nothing changed ${Math.round(other.unchanged)} ms`;
  return { metric: 'skills: warm start', value, target: '≤ 5', unit: 'ms', ok: value <= 5, note };
}

function hitRow({
  hits,
  asked,
  times,
  wordsMs,
}: {
  hits: number;
  asked: number;
  times: readonly number[];
  wordsMs: number;
}): BenchRow {
  const value = (100 * hits) / asked;
  const note =
    `${asked} sentences of eight words or more, words alone; median ${median(times).toFixed(1)} ms a question, ` +
    `${Math.round(wordsMs)} ms to read the words of all`;
  return { metric: 'skills: hit@5', value, target: '≥ 90', unit: '%', ok: value >= 90, note };
}
