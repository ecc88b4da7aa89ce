/** Two homes over a real NATS server: the transport's contract, faults of the server and of the link, and words that are not the owner's. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { cladeOf } from '#fleet/styx/owner-key.ts';
import { styxContract } from '../contract/styx.contract.ts';
import { until } from '../ends.ts';
import { namesIn, same } from '../fleet/styx/styx-link-stage.ts';
import { type NatsServer, onNats, TOKEN } from './nats-server.ts';
import { CLADE, homePaths, linked } from './styx-linked-homes.ts';

/** In a process of its own. */
function spawnLink(path: string, url: string): ChildProcess {
  const [log, link] = ['#fleet/styx/home-log.ts', '#fleet/styx/link.ts'].map((name) =>
    JSON.stringify(import.meta.resolve(name)),
  );
  const script = `const [{ openHomeLog }, { runLink }, { systemClock }] = await Promise.all([import(${log}), import(${link}), import(${JSON.stringify(import.meta.resolve('#base/clock.ts'))})]);
    const clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) };
    const ground = { clock, door: () => Promise.reject(new Error('no door')) };
    const about = { url: ${JSON.stringify(url)}, token: ${JSON.stringify(TOKEN)}, tokenFrom: '', clade: ${JSON.stringify(CLADE)} };
    await runLink({ ...about, log: openHomeLog({ path: ${JSON.stringify(path)} }), ground, onState: () => undefined }, new AbortController().signal);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function bounce(server: NatsServer, isEmptied: boolean): Promise<void> {
  await server.kill();
  if (isEmptied) server.empty();
  await server.start();
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

onNats('two homes over a real server', (start) => {
  let server: NatsServer;
  test('a server', async () => {
    server = await start();
  });

  let clades = 0;
  styxContract('two homes joined by nats-server', (t) => {
    clades += 1;
    const clade = cladeOf(`founder ${clades}`);
    const paths = homePaths(t);
    const homes = paths.map((path) => linked(t, path, { url: server.url, clade }));
    const open = (process: number) => {
      const log = openHomeLog({ path: paths[process % 2] ?? '' });
      t.after(() => log.close());
      return log;
    };
    return { open, settled: () => same(...homes.map(({ log }) => log)) };
  });

  test('the server killed ten times, its store emptied once, a link killed twenty times: what was acknowledged stands in both logs once', async (t) => {
    const own = await start();
    const paths = homePaths(t);
    const logs = paths.map((path) => openHomeLog({ path }));
    t.after(() => {
      for (const log of logs) log.close();
    });
    const links = paths.map((path) => spawnLink(path, own.url));
    t.after(() => Promise.all(links.map(killed)));
    const acknowledged: string[] = [];
    let isOver = false;
    const write = async (log: StyxTransport, at: number) => {
      for (let n = 0; !isOver; n += 1) {
        await log.append(`golem.g${at}.event`, `${at}-${n}`);
        acknowledged.push(`${at}-${n}`);
        await pause(10);
      }
    };
    const writers = logs.map(write);
    for (let round = 0; round < 20; round += 1) {
      await pause(350);
      const at = round % 2;
      await killed(links[at] as ChildProcess);
      links[at] = spawnLink(paths[at] ?? '', own.url);
      if (at === 0) await bounce(own, round === 10);
    }
    isOver = true;
    await Promise.all(writers);
    await until(() => logs.every((log) => namesIn(log).length >= acknowledged.length));
    await same(...logs);
    for (const log of logs) {
      const bodies = log.read(['>'], 0, 1e6).map(({ body }) => String(body));
      assert.equal(new Set(bodies).size, bodies.length, 'none twice');
      assert.deepEqual(bodies.toSorted(), acknowledged.toSorted());
    }
    t.diagnostic(`${acknowledged.length} rows`);
  });

  test('a stream that is deleted or purged while both are linked is made again, and what the logs hold goes up again', async (t) => {
    const clade = cladeOf('deleted');
    const [one, other] = homePaths(t).map((path) => linked(t, path, { url: server.url, clade }));
    assert.ok(one && other);
    const connection = await connect({ servers: server.url, token: TOKEN });
    t.after(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const count = async () => (await streams.info(`STYX_${clade}`).catch(() => undefined))?.state.messages;
    for (const [n, fault] of [() => streams.delete(`STYX_${clade}`), () => streams.purge(`STYX_${clade}`)].entries()) {
      for (const { log } of [one, other]) await log.append('golem.a.event', n);
      await same(one.log, other.log);
      await fault();
      await until(async () => ((await count()) ?? 0) >= namesIn(one.log).length);
    }
    assert.equal(new Set(namesIn(other.log)).size, 4);
  });

  test('thousands of rows that waited go up and come down in one go, the last one too', async (t) => {
    const clade = cladeOf('backlog');
    const [from, to] = homePaths(t);
    const log = openHomeLog({ path: from });
    for (let n = 0; n < 3_000; n += 1) await log.append('golem.a.event', n);
    log.close();
    const homes = [from, to].map((path) => linked(t, path, { url: server.url, clade }).log);
    await until(() => (homes[1]?.latest(['golem.a.event']).at(-1)?.body ?? 0) === 2_999);
    await same(...homes);
  });

  test('a wrong token, none, a server without TLS, and no server are told of with their fix', async (t) => {
    const told = async (given: Parameters<typeof linked>[2]) => {
      const { states } = linked(t, homePaths(t)[0], given);
      await until(() => states.some(({ state }) => state === 'waits'));
      const { error, fix } = states.find(({ state }) => state === 'waits') ?? {};
      return `${error} | ${fix}`;
    };
    const { url } = server;
    assert.match(
      await told({ url, token: 'wrong' }),
      /: Authorization Violation \| CLADE_TOKEN does not hold the token/,
    );
    assert.match(await told({ url: url.replace('nats', 'tls') }), /does not support 'tls' \| The server has no TLS/);
    assert.match(await told({ url: 'nats://127.0.0.1:1' }), /connection refused \| See that the server runs/);
  });
});
