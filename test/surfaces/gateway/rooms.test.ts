/** Who shares what with whom, what the words say, what the schedule and programs bring. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { openBlobs } from '#base/blobs.ts';
import { systemClock } from '#base/clock.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { gatewayCommands } from '#surfaces/gateway/commands.ts';
import { WebhookChannel } from '#surfaces/gateway/webhook.ts';
import { startFakeTelegram } from '#testing/fake-telegram.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../verifies.ts';
import { createStage, groundOf, openConversation } from '../app/app-fixture.ts';
import { startGateway } from './gateway-stage.ts';

verifies('R5.114', 'a group is answered when it names us, by who has a seat, in a session of its own', async (t) => {
  const gate = await startGateway(t, ['to the group', 'to you']);
  gate.channel.say({ chat: '-5', isGroup: true, isMeant: false, text: 'chatter' });
  gate.channel.say({ chat: '-5', isGroup: true, person: '9', text: 'let me in' });
  gate.channel.say({ chat: '-5', isGroup: true, text: 'hello bot' });
  await gate.until(() => gate.texts('-5').length === 1);
  gate.channel.say({ text: 'alone' });
  await gate.until(() => gate.texts().length === 1);
  assert.deepEqual([gate.texts('-5'), gate.texts()], [['to the group'], ['to you']]);
  assert.equal((await gate.app.doors.sessions.list({ source: 'memory' })).length, 2);
});

verifies(
  'R5.115',
  'chats of an owner share one session; while a terminal has it that is told, and waited for',
  async (t) => {
    const clock = createManualClock();
    const gate = await startGateway(t, ['one', 'two', 'three'], { allow: ['1', '2'], app: { clock } });
    gate.channel.say({ text: 'first' });
    await gate.until(() => gate.texts().length === 1);
    gate.channel.say({ chat: '2', person: '2', text: 'second' });
    await gate.until(() => gate.texts('2').length === 1);
    const [session] = await gate.app.doors.sessions.list({ source: 'memory' });
    assert.equal(session?.messageCount, 4);
    const terminal = await openConversation(gate.app, { resume: session?.id ?? '' });
    gate.channel.say({ text: 'third' });
    await gate.until(() => gate.texts().length === 2);
    assert.match(gate.texts()[1] ?? '', /open at a terminal/);
    await terminal.leave();
    await gate.until(async () => {
      await clock.advance(5_000);
      return gate.texts().length === 3;
    });
    assert.equal(gate.texts()[2], 'three');
  },
);

verifies(
  'R5.116',
  'after the idle time the end of a session is told once, and the next message goes on in it',
  async (t) => {
    const clock = createManualClock();
    const ended: string[] = [];
    const hooks = [
      { name: 'ends', sessionEnd: async ({ sessionId }: { sessionId: string }) => void ended.push(sessionId) },
    ];
    const gate = await startGateway(t, ['one', 'two'], {
      app: { clock, extra: { hooks } },
      means: { sessionIdleMs: 60_000 },
    });
    gate.channel.say({ text: 'first' });
    await gate.until(() => gate.texts().length === 1);
    assert.deepEqual(ended, []);
    await clock.advance(60_001);
    await gate.until(async () => {
      await clock.advance(60_000);
      return ended.length > 0;
    });
    gate.channel.say({ text: 'second' });
    await gate.until(() => gate.texts().length === 2);
    const [session] = await gate.app.doors.sessions.list({ source: 'memory' });
    assert.deepEqual([ended, session?.messageCount], [[session?.id], 4]);
  },
);

const SECRET = `whsec_${Buffer.from('a secret of both sides').toString('base64')}`;

function signed(body: object, { id = 'm1', at = new Date() } = {}): Request {
  const text = JSON.stringify(body);
  const signature = new Webhook(SECRET).sign(id, at, text);
  const stamp = String(Math.floor(at.getTime() / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': stamp, 'webhook-signature': signature };
  return new Request('http://127.0.0.1/hooks/ci', { method: 'POST', headers, body: text });
}

async function webhookGateway(t: TestContext, steps: readonly string[], callback?: string) {
  const stage = createStage(t);
  const channel = new WebhookChannel(
    'ci',
    { secret: SECRET, callback },
    { clock: systemClock, blobs: openBlobs(join(stage.root, 'blobs')) },
  );
  const channels = [{ channel, allow: [], seat: 'guest', groups: 'off', progress: 'off' } as const];
  return { channel, gate: await startGateway(t, steps, { stage, means: { channels } }) };
}

verifies(
  'R5.118',
  'what a program signs is answered in the response; what is not, is old or came before, is not',
  async (t) => {
    const { channel, gate } = await webhookGateway(t, ['green']);
    const answer = await channel.fetch(signed({ user: 'ci', text: 'how is it?' }));
    assert.deepEqual([answer.status, ((await answer.json()) as { text: string }).text], [200, 'green']);
    const old = await channel.fetch(
      signed({ user: 'ci', text: 'again' }, { id: 'm2', at: new Date(systemClock.now() - 600_000) }),
    );
    const forged = signed({ user: 'ci', text: 'x' }, { id: 'm3' });
    forged.headers.set('webhook-id', 'm4');
    assert.deepEqual([old.status, (await channel.fetch(forged)).status], [401, 401]);
    const odd = await channel.fetch(signed({ text: 'who am I?' }, { id: 'm5' }));
    assert.equal(odd.status, 400);
    assert.equal(gate.mailbox.received('1 = 1').length, 1);
  },
);

verifies('R5.118', 'a message of a program that comes again is answered once, whoever waits for it', async (t) => {
  const { channel, gate } = await webhookGateway(t, ['green']);
  const send = () => channel.fetch(signed({ user: 'ci', text: 'how is it?' }));
  const answers = await Promise.all([send(), send()]);
  const texts = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { text: string }).text));
  assert.deepEqual(texts, ['green', 'green']);
  assert.equal((await send()).status, 409, 'it was answered');
  const unsigned = signed({ user: 'ci', text: 'x' }, { id: 'm2' });
  unsigned.headers.delete('webhook-signature');
  const odd = [unsigned, signed({ user: 'ci', text: 'x' }, { id: 'm3', at: new Date(systemClock.now() - 3_600_000) })];
  for (const one of odd) assert.equal((await channel.fetch(one)).status, 401);
  assert.equal(gate.mailbox.received('1 = 1').length, 1);
});

verifies('R5.118', 'with a callback the answer is posted there, signed likewise', async (t) => {
  const { createServer } = await import('node:http');
  const got: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    got.push(promise);
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      resolve(new Webhook(SECRET).verify(text, request.headers as Record<string, string>));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const { channel, gate } = await webhookGateway(t, ['green'], `http://127.0.0.1:${port}/`);
  assert.equal((await channel.fetch(signed({ user: 'ci', text: 'how is it?' }))).status, 202);
  await gate.until(() => got.length === 1);
  assert.deepEqual(await got[0], { answers: 'm1', chat: 'ci', text: 'green' });
});

verifies('R5.117', 'it says where it answers; its state and its people are told as JSON too', async (t) => {
  const telegram = await startFakeTelegram({ context: t });
  const stage = createStage(t, { BOT: telegram.token });
  mkdirSync(stage.root, { recursive: true });
  const config = `gateway: {telegram: {token: "\${BOT}", api_root: "${telegram.apiRoot}", allow: [1]}}\n`;
  writeFileSync(join(stage.root, 'config.yaml'), config);
  const app = () => stage.open({ serves: true });
  const ground = groundOf(t, { environment: stage.environment });
  const commands = new Map(gatewayCommands({ ground, app }).map((command) => [command.name, command]));
  const ends = new AbortController();
  const run = async (name: string, input: object = {}, seen?: (output: CommandOutput) => void) => {
    const outputs: CommandOutput[] = [];
    const command = commands.get(name);
    if (!command) throw new Error(`no ${name}`);
    for await (const output of command.run(command.input.parse(input), { cwd: stage.cwd, signal: ends.signal })) {
      outputs.push(output);
      seen?.(output);
    }
    return outputs;
  };
  writeFileSync(join(stage.root, 'gateway.sqlite'), 'this is no database'.repeat(1_000));
  assert.match(JSON.stringify(await run('gateway status')), /gateway\.sqlite.*damaged/);
  writeFileSync(join(stage.root, 'gateway.sqlite'), 'neither is this'.repeat(1_000));
  const begun = Promise.withResolvers<void>();
  const first = run('gateway', {}, () => begun.resolve());
  await begun.promise;
  const [status] = (await run('gateway status')).flatMap((output) => (output.type === 'data' ? [output.value] : []));
  assert.match(JSON.stringify(status), /"name":"telegram","state":"runs"/);
  const [users] = (await run('gateway users')).flatMap((output) => (output.type === 'data' ? [output.value] : []));
  assert.match(JSON.stringify(users), /"id":"1".*"seat":"owner"/);
  const [wrong] = (await run('gateway pair', { code: 'ABCDEFGH' })).filter((output) => output.type === 'failure');
  assert.deepEqual([wrong?.exitCode, wrong?.code], [3, 'wrong-code']);
  assert.match(JSON.stringify(await run('gateway forget', { person: '1' })), /stranger again/);
  ends.abort();
  assert.match(JSON.stringify(await first), /gateway\.sqlite.*damaged/);
});
