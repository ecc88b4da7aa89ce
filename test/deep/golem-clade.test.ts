/** Three golem processes in three homes, two of them linked to the owner's, driven through `talaria clade`: the eight utterances of the seed, with a model and without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { ownerOf, trustKey } from '#fleet/styx/owner-key.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { until } from '../ends.ts';
import { FakeStream, linkHome } from '../fleet/styx/styx-link-stage.ts';
import { COMPILE_CACHE, createCliStage, MAIN, withoutWalls } from '../scenario/cli-process.ts';
import { groundOf } from '../surfaces/app/app-fixture.ts';
import { verifies } from '../verifies.ts';

type Said = readonly Readonly<Record<string, unknown>>[];
interface Expected {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** What is said, and what it leads to. */
const UTTERANCES: readonly (readonly [line: string, action: Expected])[] = [
  ['How are my golems doing?', { type: 'DirectResponse', response: '', skills_used: [], rows: 'state' }],
  [
    'Tell beta to increase LP range width',
    { type: 'RouteSteer', target_golem: 'beta', steer_content: 'increase LP range width', urgency: 'normal' },
  ],
  [
    'Why did delta restart at tick 5?',
    { type: 'RouteFollowUp', target_golem: 'delta', question: 'why, at tick 5', tick: 5 },
  ],
  [
    'Create a new vault-manager on Fly.io',
    {
      type: 'ExecuteMetaSkill',
      skill_name: 'create-golem',
      params: { archetype: 'vault-manager', provider: 'Fly.io' },
    },
  ],
  [
    'What skills has the clade learned this week?',
    { type: 'DirectResponse', response: '', skills_used: [], rows: 'learned', hours: 168 },
  ],
  [
    'Equip delta with Morpho knowledge',
    { type: 'ExecuteMetaSkill', skill_name: 'equip-golem', params: { golem: 'delta', query: 'Morpho' } },
  ],
  [
    'List our best LP skills on the marketplace',
    { type: 'ExecuteMetaSkill', skill_name: 'list-for-sale', params: { query: 'LP' } },
  ],
  ['Show me the best-performing heuristic across all golems', { type: 'QueryGrimoires', targets: [], query: '' }],
];

/** A home whose golem lives in a process of its own, until the test ends. */
async function liveIn(t: TestContext, name: string) {
  const stage = withoutWalls(createCliStage(t));
  const born = await stage.run(['golem', 'create', name, '--domain', 'sim']);
  assert.equal(born.code, 0, born.err);
  const env = {
    PATH: process.env.PATH,
    HOME: stage.folder,
    TALARIA_HOME: stage.root,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
  const live = (owner?: string) => {
    if (owner !== undefined) trustKey(stage.root, owner);
    const child = spawn(process.execPath, [MAIN, 'golem', 'run', name], { cwd: stage.cwd, env, stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
  };
  return { ...stage, live };
}

verifies(['R1.7', 'R1.18', 'R1.74', 'R1.85', 'RX.2'], 'eight utterances over three processes in three homes', {
  options: { timeout: 300_000 },
  run: async (t) => {
    const [home, ...others] = await Promise.all(['alpha', 'beta', 'delta'].map((name) => liveIn(t, name)));
    assert.ok(home);
    const stream = new FakeStream();
    const owner = ownerOf(home.root).key;
    home.live();
    for (const other of others) other.live(owner);
    for (const { root, cwd, folder } of [home, ...others]) {
      const environment = {
        variables: { PATH: process.env.PATH, HOME: folder, TALARIA_HOME: root },
        cwd,
        userHome: folder,
      };
      linkHome(t, stream, { path: join(root, 'styx.db'), door: groundOf(t, { environment }).door });
    }
    const clade = async (...words: readonly string[]): Promise<Said> => {
      const { out, err } = await home.run(['clade', ...words, '--json']);
      assert.match(out, /^[[{]/, err);
      // What nobody here can do ends as a command does that is refused.
      const told = JSON.parse(out) as Said | { readonly data: Said };
      return 'data' in told ? told.data : told;
    };
    await until(
      async () => (await clade()).filter(({ status, tick }) => status === 'lives' && Number(tick) > 5).length === 3,
    );
    const where = (await clade()).map(({ called, where: place }) => [called, place === 'here']);
    assert.deepEqual(where, [
      ['alpha', true],
      ['beta', false],
      ['delta', false],
    ]);
    const sayAll = async () => {
      for (const [line, action] of UTTERANCES) {
        const outputs = await clade(line);
        const [first] = outputs;
        assert.equal(first?.type, 'action', `${line}: ${JSON.stringify(outputs)}`);
        const did = first.action as Expected;
        for (const [key, value] of Object.entries(action)) assert.deepEqual(did[key], value, `${line}: ${key}`);
        if (action.type === 'RouteFollowUp')
          assert.match(JSON.stringify(outputs), /› tick 5, .*\(delta:tick 5\)/, 'asked over the link');
      }
    };
    await sayAll();
    const replies = UTTERANCES.map(([line, action]) => [line, JSON.stringify(action)] as const);
    const answer = ({ body }: { readonly body: object }) => {
      const last = JSON.stringify((body as { readonly messages: readonly unknown[] }).messages.at(-1));
      return { reply: replies.find(([line]) => last.includes(line))?.[1] ?? '{"preferences":[]}' };
    };
    const { baseUrl, close } = await startScriptedServer(Array.from({ length: 100 }, () => answer));
    t.after(close);
    writeFileSync(
      join(home.root, 'config.yaml'),
      `sandbox: { mode: machine }\nmodel: of/m\nproviders:\n  of: { base_url: "${baseUrl}" }\n`,
    );
    await sayAll();
    // Who was told, and who took it.
    await until(async () => {
      const steers = (await clade('steers')) as Said;
      return (
        steers.length === 2 &&
        steers.every(({ called, heard }) => called === 'beta' && (heard as { tick?: number } | null)?.tick)
      );
    });
    const log = openHomeLog({ path: join(home.root, 'styx.db') });
    const topics = log.read(['golem.*.steer'], 0, 99).map(({ topic }) => topic);
    log.close();
    assert.deepEqual(topics, ['golem.beta.steer', 'golem.beta.steer'], 'nobody else was told anything');
  },
});
