import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import {
  Client,
  ReadBuffer,
  StreamableHTTPClientTransport,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';
import { commandOf, type Json, KEY, modelStage, runOf, startServe } from './serve-stage.ts';

function skill(root: string): void {
  const folder = join(root, 'skills', 'notes', 'tidy-notes');
  mkdirSync(join(folder, 'references'), { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), '---\nname: tidy-notes\ndescription: Tidies notes.\n---\n\n1. Sort them.\n');
  writeFileSync(join(folder, 'references', 'order.md'), 'By date.\n');
  mkdirSync(join(root, 'memories'), { recursive: true });
  writeFileSync(join(root, 'memories', 'MEMORY.md'), 'The tests run with npm test.\n');
}

const MODES = [{ mode: 'legacy' }, { mode: 'auto' }] as const;
type Mode = (typeof MODES)[number];

async function connect(t: TestContext, transport: Transport, versionNegotiation: Mode, elicits?: () => Json) {
  const capabilities = elicits ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation });
  if (elicits) client.setRequestHandler('elicitation/create', async () => elicits());
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

/** A client's end of a pair of streams. */
class PipeTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  readonly lines: string[] = [];
  readonly input = new PassThrough();
  readonly output = new PassThrough();

  async start() {
    const buffer = new ReadBuffer();
    this.output.on('data', (chunk: Buffer) => {
      this.lines.push(...chunk.toString().split('\n').filter(Boolean));
      buffer.append(chunk);
      for (let message = buffer.readMessage(); message; message = buffer.readMessage())
        this.onmessage?.(message as never);
    });
  }
  async send(message: Json) {
    this.input.write(serializeMessage(message));
  }
  async close() {
    this.input.end();
    this.onclose?.();
  }
}

async function overPipe(t: TestContext, steps: Parameters<typeof modelStage>[1], mode: Mode, elicits?: () => Json) {
  const { stage, model } = await modelStage(t, steps);
  skill(stage.root);
  const transport = new PipeTransport();
  const stdio = { input: transport.input, output: transport.output };
  const ended = runOf(commandOf(t, stage, 'mcp serve'), {}, { stdio }).next();
  const client = await connect(t, transport, mode, elicits);
  return { client, transport, ended, model, stage };
}

for (const mode of MODES) {
  verifies(
    ['R5.25', 'R5.27', 'R5.28', 'R5.208'],
    `stdio, ${mode.mode}: tools that read, memory and skills`,
    async (t) => {
      const { client, ended, transport } = await overPipe(t, [], mode);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      assert.deepEqual(names.sort(), ['ask', 'recursive_read', 'session_search', 'skill_view', 'skills_list']);
      const listed: Json = await client.callTool({ name: 'skills_list', arguments: {} });
      assert.match(listed.content[0].text, /tidy-notes/);
      const viewed: Json = await client.callTool({ name: 'skill_view', arguments: { name: 'tidy-notes' } });
      assert.match(viewed.content[0].text, /Sort them/);
      const found: Json = await client.callTool({ name: 'session_search', arguments: { query: 'nothing yet' } });
      assert.notEqual(found.isError, true, JSON.stringify(found));
      const wrong: Json = await client.callTool({ name: 'skill_view', arguments: {} });
      assert.equal(wrong.isError, true);
      const uris = (await client.listResources()).resources.map(({ uri }) => uri).sort();
      assert.deepEqual(uris, ['memory://MEMORY.md', 'memory://USER.md', 'skill://tidy-notes/SKILL.md']);
      const text = async (uri: string) => ((await client.readResource({ uri })).contents[0] as Json).text;
      assert.match(await text('memory://MEMORY.md'), /npm test/);
      assert.equal(await text('memory://USER.md'), '');
      assert.match(await text('skill://tidy-notes/references/order.md'), /By date/);
      await assert.rejects(text('skill://tidy-notes/../../../config.yaml'));
      const { prompts } = await client.listPrompts();
      assert.equal(prompts.map(({ name }) => name).join(), 'tidy-notes');
      assert.match(((await client.getPrompt({ name: 'tidy-notes' })).messages[0] as Json).content.text, /Sort them/);
      await client.close();
      await ended;
      for (const line of transport.lines) assert.equal(JSON.parse(line).jsonrpc, '2.0');
    },
  );

  verifies(['R5.26', 'R5.25'], `stdio, ${mode.mode}: ask is a turn, with progress and an approval`, async (t) => {
    let answer: Json = { action: 'accept', content: { allow: true } };
    const run = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf ./old' } }] };
    const look = { calls: [{ name: 'terminal', arguments: { command: 'echo hi' } }] };
    const again = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf ./new' } }] };
    const { client, stage, model } = await overPipe(t, [look, run, 'Removed.', again, 'Kept.'], mode, () => answer);
    mkdirSync(join(stage.cwd, 'old'));
    const progress: string[] = [];
    const onprogress = ({ message = '' }) => void progress.push(message);
    const first: Json = await client.callTool({ name: 'ask', arguments: { prompt: 'tidy up' } }, { onprogress });
    assert.equal(first.structuredContent?.outcome, 'done', JSON.stringify(first));
    assert.equal(first.structuredContent.text, 'Removed.');
    assert.match(progress.join('\n'), /echo hi/);
    answer = { action: 'decline' };
    const { session_id } = first.structuredContent;
    const second: Json = await client.callTool({ name: 'ask', arguments: { prompt: 'more', session_id } });
    assert.equal(second.structuredContent.session_id, session_id);
    assert.match(JSON.stringify(model.requests.at(-1)?.body.messages), /said no/);
    const unknown: Json = await client.callTool({ name: 'ask', arguments: { prompt: 'x', session_id: 'none' } });
    assert.equal(unknown.isError, true);
  });
}

verifies(['R5.26'], 'ask: without elicitation it is denied with the way out; cancelling stops the turn', async (t) => {
  const run = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf ./old' } }] };
  const { client, model } = await overPipe(t, [run, 'No.', { fault: 'hang' }], { mode: 'auto' });
  const denied: Json = await client.callTool({ name: 'ask', arguments: { prompt: 'tidy up' } });
  assert.equal(denied.structuredContent.text, 'No.');
  assert.match(JSON.stringify(model.requests[1]?.body.messages), /nobody can answer here/);
  const stop = new AbortController();
  const call = client.callTool({ name: 'ask', arguments: { prompt: 'wait' } }, { signal: stop.signal });
  await until(() => model.requests.length === 3);
  stop.abort();
  await assert.rejects(call);
  await until(() => model.openSockets === 0);
});

verifies.slow(
  ['R5.28', 'R5.26', 'R5.25'],
  "HTTP: both eras at /mcp, with the key alone, and no stranger's Host or Origin",
  async (t) => {
    const run = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf ./old' } }] };
    const served = await startServe(t, ['Hello.', run, 'Done.']);
    const url = new URL(`${served.url}/mcp`);
    const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
    for (const mode of MODES) {
      const elicits = mode.mode === 'auto' ? () => ({ action: 'accept', content: { allow: true } }) : undefined;
      const client = await connect(t, new StreamableHTTPClientTransport(url, { requestInit }), mode, elicits);
      const answer: Json = await client.callTool({ name: 'ask', arguments: { prompt: 'hi' } });
      assert.equal(answer.structuredContent.outcome, 'done', JSON.stringify(answer));
      assert.equal(answer.structuredContent.text, mode.mode === 'auto' ? 'Done.' : 'Hello.');
    }
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    assert.equal((await served.call('/mcp', ping, { headers: { authorization: '' } })).status, 401);
    assert.equal((await served.call('/mcp', ping, { headers: { origin: 'http://evil.example' } })).status, 403);
  },
);
