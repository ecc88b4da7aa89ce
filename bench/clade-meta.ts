/** Meta: the table of twenty golems with 100,000 ticks each, to its first line, and what a routing prompt over twenty golems takes. */
import { spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { estimateTokens } from '#base/text.ts';
import { golemPlaces } from '#fleet/golem/golem-home.ts';
import { GolemRows } from '#fleet/golem/golem-rows.ts';
import { openConversation } from '#fleet/meta/conversation.ts';
import { type BenchRow, median, spread } from './bench-row.ts';
import { type GolemStage, never, withGolems } from './golem-stage.ts';
import { root, run } from './stub.ts';

const GOLEMS = 20;
const TICKS = 100_000;
const RUNS = 11;

export async function benchMeta(): Promise<readonly BenchRow[]> {
  const built = await run(process.execPath, [join(root, 'scripts/build.ts')]);
  if (built.code !== 0) throw new Error(built.err);
  return withGolems(async (stage) => {
    await fill(stage);
    return [...(await firstLine(stage)), ...(await routingTokens(stage))];
  });
}

const nameOf = (at: number) => `golem-${at + 1}`;

/** One lives for real, its last tick is all that it ever did, and the others have its rows. */
async function fill({ bear, live, ground }: GolemStage): Promise<void> {
  const { home } = ground.places;
  for (let at = 0; at < GOLEMS; at += 1) await bear(nameOf(at), { domain: 'sim' });
  await live(nameOf(0), {}, async (life) => {
    for await (const event of life.live({ ticks: 50, signal: never })) void event;
  });
  const paths = Array.from({ length: GOLEMS }, (_, at) => golemPlaces(home, nameOf(at)).database);
  const [first = '', ...others] = paths;
  const identities = await Promise.all(paths.map((path) => withRows(path, (rows) => rows.value('identity'))));
  await withRows(first, async (rows) => {
    const state = rows.state();
    const count = `WITH RECURSIVE n(i) AS (SELECT 51 UNION ALL SELECT i + 1 FROM n WHERE i < ${TICKS})`;
    await rows.run(
      `INSERT INTO ticks ${count} SELECT i, at, tag, tier, surprise, acted, success, json_set(record, '$.tick', i) FROM n, ticks WHERE tick = 50`,
    );
    await rows.run(
      `INSERT INTO predictions ${count} SELECT i, category, claim, p, at, skills, outcome FROM n, predictions WHERE tick = 50`,
    );
    if (state) await rows.keepState({ ...state, tick: TICKS });
  });
  for (const [at, path] of others.entries()) {
    copyFileSync(first, path);
    await withRows(path, (rows) => rows.keep('identity', identities[at + 1]));
  }
}

async function withRows<T>(path: string, work: (rows: GolemRows) => T | Promise<T>): Promise<T> {
  const rows = new GolemRows(path, { clock: (await import('#base/clock.ts')).systemClock });
  try {
    return await work(rows);
  } finally {
    rows.close();
  }
}

async function firstLine({ folder }: GolemStage): Promise<readonly BenchRow[]> {
  const times: number[] = [];
  for (let at = 0; at < RUNS; at += 1) times.push(await toFirstLine(folder));
  const value = median(times);
  const note = `${GOLEMS} golems, ${TICKS.toLocaleString('en-US')} ticks each; the built program as it starts, to the first line of its output, median of ${RUNS}: ${spread(times, 0)}`;
  return [{ metric: 'clade: table, to first line', value, unit: 'ms', target: '≤ 300', ok: value <= 300, note }];
}

async function toFirstLine(home: string): Promise<number> {
  const began = performance.now();
  const env = { PATH: process.env.PATH, HOME: home, TALARIA_HOME: home };
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), 'clade'], { env, cwd: home });
  const first = await new Promise<number>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.includes('\n')) resolve(performance.now() - began);
    });
    child.on('exit', (code) => reject(new Error(`clade ended with ${code}, and no line`)));
  });
  await new Promise((resolve) => (child.exitCode === null ? child.on('exit', resolve) : resolve(undefined)));
  return first;
}

async function routingTokens({ ground, folder }: GolemStage): Promise<readonly BenchRow[]> {
  const sent: string[] = [];
  const conversation = openConversation(ground, {
    noModel: async () => undefined,
    say: async ({ system, text }) => {
      sent.push(system + text);
      return { ok: true, value: { text: '{"type":"DirectResponse","response":"","rows":"none"}', model: 'bench' } };
    },
  });
  for await (const output of conversation.say('how are they?', { signal: never, cwd: folder })) void output;
  await conversation.close();
  const value = estimateTokens(sent[0] ?? '');
  const note = `the whole prompt of the first message over ${GOLEMS} golems: rules, actions, meta-skills, a line a golem`;
  return [
    { metric: 'clade: routing prompt, 20 golems', value, unit: 'tokens', target: '≤ 2,500', ok: value <= 2_500, note },
  ];
}
