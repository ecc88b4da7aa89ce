/** The library of a clade: a search and a loadout among ten thousand skills, and the round in which twenty golems are asked for two hundred each. Needs TALARIA_DATA. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOf, newKey } from '#base/ethereum.ts';
import { canonicalJson } from '#base/json.ts';
import { aggregate } from '#fleet/meta/library/curation.ts';
import { search } from '#fleet/meta/library/hands.ts';
import { type Library, withLibrary } from '#fleet/meta/library/library-home.ts';
import { propose } from '#fleet/meta/library/loadout.ts';
import { type SkillBundle, signBundle } from '#mind/skills/format/testament.ts';
import { createSkillRanker } from '#mind/skills/library/offer-skills.ts';
import { createSkillLibrary } from '#mind/skills/library/skill-library.ts';
import { skillsCacheName } from '#mind/skills/library/skills-cache.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { openHouse } from '#surfaces/app/house.ts';
import { type BenchRow, median, quantile, spread } from './bench-row.ts';
import { type MadeSkill, pickSentence, seededRandom, writeSkills } from './skill-texts.ts';

const COUNT = 10_000;
const QUESTIONS = 60;
const GOLEMS = 20;
const EACH = 200;
const USED_SINCE = 5;
const START_MS = 1_768_478_400_000;

export async function benchLibrary(): Promise<readonly BenchRow[]> {
  return [...(await inHome(large)), ...(await inHome(round))];
}

async function inHome<T>(work: (library: Library) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-bench-library-'));
  const environment = { variables: { HOME: folder, TALARIA_HOME: folder }, cwd: folder, userHome: folder };
  const house = openHouse({ environment });
  const { home, app, door, clock } = house;
  const ground = lendGround({ environment, home, clock, app, door });
  try {
    return await withLibrary(ground, work, { golems: { standing: async () => 'own' } });
  } finally {
    await house.shutdown();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function large(library: Library): Promise<readonly BenchRow[]> {
  const made = await fill(library);
  const random = seededRandom(3);
  const questions = Array.from({ length: QUESTIONS }, () => {
    const { body, name } = made[Math.floor(random() * made.length)] ?? { body: '', name: '' };
    return pickSentence(body, random) ?? name;
  });
  await library.doors();
  const searched = await timed(questions, (words) => search(library, words));
  const proposed = await timed(questions, (words) => propose(library, { archetype: 'coder', words }));
  const note = (all: readonly number[]) =>
    `${COUNT} skills, ${QUESTIONS} questions, p95 ${quantile(all, 0.95).toFixed(1)}; ${spread(all, 1)}`;
  return [
    {
      metric: 'library: search',
      value: median(searched),
      unit: 'ms',
      target: '≤ 50',
      ok: median(searched) <= 50,
      note: note(searched),
    },
    {
      metric: 'library: loadout',
      value: median(proposed),
      unit: 'ms',
      target: '≤ 50',
      ok: median(proposed) <= 50,
      note: note(proposed),
    },
  ];
}

/** Folders, and rows as reception would have left them. */
async function fill(library: Library): Promise<readonly MadeSkill[]> {
  const { TALARIA_DATA: data } = process.env;
  if (data === undefined) throw new Error('set TALARIA_DATA to the folder that holds data/skills-sample.jsonl');
  const root = join(library.root, 'skills');
  const made = writeSkills(root, { data, count: COUNT, exchanged: 0.3 });
  const skills = createSkillLibrary({ root, cacheFile: join(library.root, 'cache', skillsCacheName) });
  await skills.ready();
  await createSkillRanker({ library: skills }).prepare(new AbortController().signal);
  skills.close();
  const proofs = `INSERT INTO proofs(golem, signer, skill, hash, entry, source, standing, domain, archetype, depth, path, ancestors, raw,
    validated, uses, successes, failures, bloodstain, content, at) VALUES(?, '', ?, '', ?, 'testament', 'clade', 'coding', ?, 0, '[]', '[]', 0.8, 3, 4, 3, 1, 1, ?, 0)`;
  const entries = `INSERT INTO entries VALUES(?, 'clade', 'proved by one golem: 0.7 × its confidence', 0.8, ?, 0, 0, 'testament', '["ada-gen1"]', ?,
    'coding', 'coder', '', ?, '["a","b","c"]', NULL, 0, NULL, ${START_MS}, ${START_MS})`;
  await library.database.transaction(() => {
    for (const [at, { name, body }] of made.entries()) {
      library.database.run(
        entries,
        name,
        0.3 + (at % 50) / 100,
        JSON.stringify([at % 2 === 0 ? 'coding' : 'watch']),
        `${name} ${body.slice(0, 60)}`,
      );
      library.database.run(
        proofs,
        `golem-${at % 40}`,
        name,
        name,
        at % 3 === 0 ? 'coder' : 'observer',
        body.slice(0, 2_000),
      );
    }
  });
  return made;
}

async function timed<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<readonly number[]> {
  for (const one of all.slice(0, 5)) await work(one);
  const times: number[] = [];
  for (const one of all) {
    const began = performance.now();
    await work(one);
    times.push(performance.now() - began);
  }
  return times;
}

/** Skills of golems of one trade: twelve words each, no two for the same situation. */
function skillsOf(golem: number, uses: (at: number) => number): SkillBundle['skills'] {
  return Array.from({ length: EACH }, (_, at) => {
    const name = `skill-${golem}-${at}`;
    const when = Array.from({ length: 6 }, (_, word) => `w${golem}x${at}y${word}`).join(' ');
    const steps = ['inspect', 'rotate', 'restart', 'verify'].map((step, number) => `${number + 1}. \`${step}-${at}\``);
    const body = `# ${name}\n\n## When to Use\n${when}\n\n## Procedure\n${steps.join('\n')}\n\n## Pitfalls\n- ${'It takes a while. '.repeat(20)}\n`;
    const count = uses(at);
    return {
      ...{
        name,
        files: [],
        skill_md: `---\nname: ${name}\ndescription: What golem ${golem} found for ${at}\n---\n\n${body}`,
      },
      record: {
        ...{ confidence: 0.8, validated_count: count, improved_count: 0, use_count: count, success_count: count },
        ...{ failure_count: 0, tags: ['watch'], lineage: [] },
      },
    };
  });
}

async function round(library: Library): Promise<readonly BenchRow[]> {
  const keys = Array.from({ length: GOLEMS }, newKey);
  const say = async (golem: number, uses: (at: number) => number, timestamp: number) => {
    const id = `golem${golem}-gen1`;
    const about = { source_golem: id, lineage: [id], generation: 1, archetype: 'keeper', domain: 'watch', timestamp };
    const more = { last_pad: { pleasure: 0, arousal: 0, dominance: 0 }, playbook_snapshot: '', death_cause: null };
    const bundle = { kind: 'skill-bundle', version: 1, ...about, ...more, skills: skillsOf(golem, uses) } as const;
    return `${canonicalJson(await signBundle(bundle, keys[golem]))}\n`;
  };
  const all = Array.from({ length: GOLEMS }, (_, golem) => golem);
  const addresses = await Promise.all(keys.map(addressOf));
  const golems = all.map((golem) => ({
    number: golem,
    golem: `golem${golem}-gen1`,
    signer: addresses[golem] ?? '',
    called: `golem${golem}`,
    status: 'lives' as const,
  }));
  const ask = async (texts: readonly string[]) => {
    const before = process.cpuUsage();
    const began = performance.now();
    const done = await aggregate(library, golems, async ({ number, golem }) => ({
      ok: true,
      value: { golem, lines: [], value: texts[number] ?? null },
    }));
    if (done.failed.length > 0) throw new Error(JSON.stringify(done.failed));
    const { user, system } = process.cpuUsage(before);
    return { cpu: (user + system) / 1e6, wall: (performance.now() - began) / 1_000 };
  };
  const first = await ask(
    await Promise.all(all.map((golem) => say(golem, (at) => (at < USED_SINCE ? 3 : 2), START_MS))),
  );
  const texts = await Promise.all(
    all.map((golem) => say(golem, (at) => (at < USED_SINCE ? 4 : 2), START_MS + 300_000)),
  );
  const usual = await ask(texts);
  const idle = await ask(texts);
  const note = `${GOLEMS} golems, ${EACH} skills each, signatures checked; each used ${USED_SINCE} of them since. The round in which all ${GOLEMS * EACH} came, of which ${GOLEMS * USED_SINCE} entered: ${first.cpu.toFixed(1)} s of CPU, ${first.wall.toFixed(1)} s; one in which nobody did anything: ${idle.cpu.toFixed(2)}`;
  return [{ metric: 'library: a round, CPU', value: usual.cpu, unit: 's', target: '≤ 1', ok: usual.cpu <= 1, note }];
}

if (process.argv[1] === import.meta.filename) for (const row of await benchLibrary()) console.log(JSON.stringify(row));
