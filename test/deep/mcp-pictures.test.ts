/** A picture by flag, API, editor and a tool of an MCP server, through whole processes. Named for the room that goes with it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { PICTURES } from '../doubles/pictures.ts';
import { MAIN } from '../scenario/cli-process.ts';
import { call, placeFor, startEditor } from '../surfaces/acp/editor-stage.ts';
import { verifies } from '../verifies.ts';

const data = PICTURES.png.toString('base64');
const url = `data:image/png;base64,${data}`;
const double = join(import.meta.dirname, '../doubles/mcp-server.ts');

verifies(
  ['R5.9', 'R5.71', 'R5.83', 'R5.96', 'R5.204', 'R5.205'],
  'a picture reaches a model that sees on four ways, also from the next process; another gets the note; it lies once',
  async (t) => {
    const answer: ServerStep = ({ body: { messages } }) =>
      JSON.stringify((messages as object[]).at(-1)).includes('use it') ? call('mcp__double__picture', {}) : 'A dot.';
    const server = await startScriptedServer(Array(13).fill(answer), { models: ['gpt-4o', 'blind'], context: t });
    const servers = { double: { command: process.execPath, args: [double], connect_timeout: 60 } };
    const place = placeFor(t, server.baseUrl, `mcp_servers: ${JSON.stringify(servers)}\n`);
    writeFileSync(join(place.cwd, 'dot.png'), PICTURES.png);
    const say = async (...args: readonly string[]) => {
      const { code, err } = await place.talaria('-p', ...args);
      assert.equal(code, 0, err);
      return args.at(-1) ?? '';
    };
    const ways: Readonly<Record<string, () => Promise<string>>> = {
      flag: () => say('what is it?', '--image', 'dot.png', '--session-id', 'by-flag'),
      api: async () => {
        const env = { ...place.env, TALARIA_API_KEY: 'k' };
        const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], { cwd: place.cwd, env });
        t.after(() => void child.kill('SIGKILL'));
        const [address] = /http:[^;]+/.exec(String((await once(child.stdout, 'data'))[0])) ?? [];
        const content = [{ type: 'image_url', image_url: { url } }];
        const response = await fetch(`${address}/v1/chat/completions`, {
          ...{ method: 'POST', headers: { authorization: 'Bearer k' } },
          body: JSON.stringify({ model: 'talaria', messages: [{ role: 'user', content }] }),
        });
        assert.equal(response.status, 200, await response.text());
        child.kill();
        await once(child, 'close');
        return response.headers.get('x-talaria-session-id') ?? '';
      },
      acp: async () => {
        const editor = await startEditor(t, place);
        const id = await editor.begin(place.cwd);
        await editor.send(id, [{ type: 'image', data, mimeType: 'image/png' }]);
        await editor.leave();
        return id;
      },
      mcp: async () => {
        // Remembered, so that a session need not be quick to have it.
        assert.equal((await place.talaria('mcp', 'tools', 'double')).code, 0);
        return say('use it', '--session-id', 'by-mcp');
      },
    };
    const sent = () => JSON.stringify(server.requests.at(-1)?.body.messages);
    for (const [name, way] of Object.entries(ways)) {
      const id = await way();
      assert.equal(sent().split(url).length, 2, name);
      await say('again', '--resume', id);
      assert.equal(sent().split(url).length, 2, name);
      await say('and now?', '--resume', id, '--model', 'openai/blind');
      assert.match(sent(), /\[image[^\]]*, 2×3, not shown: openai\/blind reads no images\]/, name);
      assert.ok(!sent().includes('base64'), name);
    }
    const blobs = join(place.root, 'blobs');
    const name = hash('sha256', PICTURES.png);
    assert.deepEqual(readdirSync(blobs), [name]);
    assert.deepEqual(readFileSync(join(blobs, name)), PICTURES.png);
  },
);
