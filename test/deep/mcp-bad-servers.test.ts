/** Servers that hang, end, are missing or closed beside a good one, through whole processes: the good one works in the first turn, nobody is left. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const DOUBLE = join(import.meta.dirname, '../doubles/mcp-server.ts');
const RUNS = 105;
const LANES = 4;
/** Of the quickest of the runs that go alone, on a machine whose start without a server takes USUAL_MS; a slower one is given what it is slower. */
const FIRST_REQUEST_MS = 3_000;
const USUAL_MS = 800;
const ALONE = 5;

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A home of its own: the good one was added, the others stand in its configuration by hand. */
async function createHome(t: TestContext, marker: string) {
  const stage = createCliStage(t);
  const added = await stage.run(['mcp', 'add', 'good', '--', process.execPath, DOUBLE, marker]);
  assert.equal(added.code, 0, added.err);
  const double = (...words: string[]) => ({ command: process.execPath, args: [DOUBLE, ...words, marker] });
  const shell = (line: string) => ({ command: '/bin/sh', args: ['-c', line, marker] });
  const servers = {
    good: double(),
    hangs: shell('cat >/dev/null; sleep 600'),
    exits: shell('echo no licence >&2; exit 1'),
    missing: { command: '/no/such/program', args: [marker] },
    closed: { url: `http://127.0.0.1:${await closedPort()}/mcp` },
  };
  const configure = (config: object) =>
    writeFileSync(join(stage.root, 'config.yaml'), JSON.stringify(config), { mode: 0o600 });
  const list = async () => {
    configure({ mcp_servers: { ...servers, prints: double('garbage'), floods: double('huge') } });
    const { out } = await stage.run(['mcp', 'list', '--json']);
    return JSON.parse(out) as readonly Record<'name' | 'state' | 'error', string>[];
  };
  /** Milliseconds until the first request. */
  const turn = async (mcp_servers: object = servers): Promise<number> => {
    let [began, first] = [0, 0];
    const call = { name: 'mcp__good__add', arguments: { a: 2, b: 3 } };
    const model = await startScriptedServer(
      [
        () => {
          first = performance.now();
          return { calls: [call] };
        },
        'Five.',
      ],
      { context: t },
    );
    configure({ model: { default: 'scripted-model', base_url: model.baseUrl }, mcp_servers });
    began = performance.now();
    const { code, out, err } = await stage.run(['-p', 'how much is it?']);
    assert.deepEqual([code, out.trim()], [0, 'Five.'], err);
    const [asked, answered] = model.requests.map(({ body }) => JSON.stringify(body));
    if (mcp_servers === servers)
      assert.ok(asked?.includes('mcp-good (') && answered?.includes('{\\"sum\\": 5}'), answered?.slice(-500));
    return first - began;
  };
  return { list, turn };
}

/** Whoever carries it in its words. */
function alive(marker: string): readonly string[] {
  const all = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(marker));
}

verifies(
  ['R5.4', 'R5.6', 'R5.7', 'R5.18'],
  `a good server among bad ones works in the first turn, ${RUNS} times, and no process is left`,
  {
    options: { timeout: 890_000 },
    run: async (t) => {
      const marker = `bad-servers-${process.pid}`;
      const homes = await Promise.all(Array.from({ length: LANES }, () => createHome(t, marker)));
      const times: [without: number[], among: number[]] = [[], []];
      for (let run = 0; run < ALONE; run += 1) {
        times[0].push((await homes[0]?.turn({})) ?? 0);
        times[1].push((await homes[0]?.turn()) ?? 0);
      }
      const [without = 0, among = 0] = times.map((each) => Math.round(Math.min(...each)));
      const said = `the first request went out after ${among} ms, without a server after ${without}`;
      t.diagnostic(said);
      assert.ok(among <= FIRST_REQUEST_MS + Math.max(0, without - USUAL_MS), said);
      const lane = async ({ turn }: (typeof homes)[number]) => {
        for (let run = 0; run < (RUNS - ALONE) / LANES; run += 1) await turn();
      };
      await Promise.all(homes.map(lane));
      assert.deepEqual(alive(marker), []);
      const rows = (await homes[0]?.list()) ?? [];
      const faults = {
        ...{ good: /^ready: null$/, hangs: /^failed: it did not answer in time$/, exits: /it said: no licence/ },
        ...{ prints: /not answer in time; it said: Welcome/, missing: /cannot start \/no\/such\/program/ },
        closed: /ECONNREFUSED/,
        floods: /over 32 MB/,
      };
      for (const [name, fault] of Object.entries(faults)) {
        const { state, error } = rows.find((row) => row.name === name) ?? {};
        assert.match(`${state}: ${error}`, fault, name);
      }
      assert.deepEqual(alive(marker), []);
    },
  },
);
