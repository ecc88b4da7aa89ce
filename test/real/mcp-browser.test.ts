/** A browser by somebody else's server: a local page is opened, its button is pressed, and a picture of it reaches the model; nothing is left running. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { findChromium } from '../../scripts/screenshot/chromium.ts';
import { createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';
import { reachPart, reachSkip } from './reach-parts.ts';

const chromium = findChromium();
const skip = reachSkip || (chromium === undefined ? 'skipped: chromium is not installed' : false);

const PAGE =
  '<!doctype html><title>door</title><link rel="icon" href="data:,"><button onclick="fetch(\'/pressed\')">open</button>';

verifies(['R5.9', 'R5.22'], 'a browser opens a page, presses its button and shows a picture of it', {
  options: { skip, timeout: 120_000 },
  run: async (t) => {
    const stage = createCliStage(t);
    const asked: (string | undefined)[] = [];
    const pages = createServer(({ url: path }, response) => {
      asked.push(path);
      response.setHeader('content-type', 'text/html').end(PAGE);
    });
    pages.listen(0, '127.0.0.1');
    await once(pages, 'listening');
    t.after(() => pages.close());
    const url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
    const call = (name: string, given: Readonly<Record<string, string>>) => ({
      calls: [{ name: 'tool_call', arguments: { name: `mcp__chrome__browser_${name}`, arguments: given } }],
    });
    const server = await startScriptedServer(
      [
        { calls: [{ name: 'tool_search', arguments: { query: 'open a page in a browser' } }] },
        call('navigate', { url }),
        call('click', { element: 'the button', target: 'button' }),
        call('take_screenshot', { type: 'png' }),
        'It is open.',
      ],
      { models: ['gpt-4o'], context: t },
    );
    mkdirSync(stage.root, { recursive: true });
    writeFileSync(join(stage.root, 'config.yaml'), 'model: openai/gpt-4o\n');
    const program = [
      process.execPath,
      reachPart('@playwright', 'mcp', 'cli.js'),
      '--headless',
      '--isolated',
      '--no-sandbox',
    ];
    const added = await stage.run(['mcp', 'add', 'chrome', '--', ...program, '--executable-path', chromium ?? '']);
    assert.equal(added.code, 0, added.err);
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.baseUrl };
    const turn = await stage.run(['-p', 'open the door', '--yes'], { env });
    assert.deepEqual([turn.code, turn.out.trim()], [0, 'It is open.'], turn.err);
    const sent = server.requests.map(({ body }) => JSON.stringify(body.messages));
    assert.match(sent.at(1) ?? '', /mcp__chrome__browser_navigate/);
    assert.deepEqual(asked, ['/', '/pressed']);
    assert.match(sent.at(4) ?? '', /data:image\/png;base64,iVBORw0KGgo/);
    assert.doesNotMatch(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }), /@playwright\/mcp\/cli\.js/);
  },
});
