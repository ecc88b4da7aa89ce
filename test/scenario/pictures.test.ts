/** Pictures through whole processes: by flag, by path and by a tool; to a model that sees and to one that does not; and what is left of them. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { PICTURES } from '../doubles/pictures.ts';
import { verifies } from '../verifies.ts';
import { type CliStage, createCliStage } from './cli-process.ts';

const URL_OF_PNG = `data:image/png;base64,${PICTURES.png.toString('base64')}`;

function setUp(stage: CliStage, config: string): void {
  mkdirSync(stage.root, { recursive: true });
  writeFileSync(join(stage.root, 'config.yaml'), config);
  writeFileSync(join(stage.cwd, 'dot.png'), PICTURES.png);
  writeFileSync(join(stage.cwd, 'notes.txt'), 'no picture\n');
}

describe('pictures', () => {
  verifies.slow(
    ['R5.96', 'R5.204', 'R5.205'],
    'go along by flag and by read_file, byte for byte, also from the next process; forget takes them out',
    async (t) => {
      const stage = createCliStage(t);
      const server = await startScriptedServer(
        ['A dot.', { calls: [{ name: 'read_file', arguments: { path: 'dot.png' } }] }, 'The same dot.'],
        { models: ['gpt-4o'], context: t },
      );
      setUp(stage, 'model: openai/gpt-4o\n');
      const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.baseUrl };
      const first = await stage.run(['-p', 'what is it?', '--image', 'dot.png', '--session-id', 'dots'], { env });
      assert.deepEqual([first.code, first.out.trim()], [0, 'A dot.'], first.err);
      const second = await stage.run(['-p', 'and in the folder?', '--resume', 'dots'], { env });
      assert.equal(second.code, 0, second.err);
      const bodies = server.requests.map(({ body }) => JSON.stringify(body.messages).split(URL_OF_PNG).length - 1);
      assert.deepEqual(bodies, [1, 1, 2]);
      const blobs = join(stage.root, 'blobs');
      assert.equal(readdirSync(blobs).length, 1);
      const forgot = await stage.run(['forget', '--session', 'dots', '--yes'], { env });
      assert.equal(forgot.code, 0, forgot.err + forgot.out);
      assert.deepEqual(readdirSync(blobs), []);
    },
  );

  verifies.slow(
    ['R5.96', 'R5.205'],
    'are named to a model that sees none, and the person is told once; what is none is refused by name',
    async (t) => {
      const stage = createCliStage(t);
      const server = await startScriptedServer(['I see none.'], { models: ['m'], context: t });
      setUp(stage, 'model: openai/m\n');
      const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.baseUrl };
      const args = ['-p', 'what are they?', '--image', 'dot.png', '--image', 'dot.png'];
      const blind = await stage.run(args, { env });
      assert.equal(blind.code, 0, blind.err);
      const sent = JSON.stringify(server.requests[0]?.body.messages);
      assert.match(sent, /\[image dot\.png, 2×3, not shown: openai\/m reads no images\]/);
      assert.ok(!sent.includes('base64'));
      assert.equal(blind.err.match(/reads no images/g)?.length, 1, blind.err);
      for (const [file, why] of [
        ['notes.txt', /notes\.txt.*no PNG, JPEG, GIF or WebP/],
        ['nothing.png', /nothing\.png.*(?:not exist|no such|missing)/],
        ['.', /folder/],
      ] as const) {
        const wrong = await stage.run(['-p', 'look', '--image', file], { env });
        assert.deepEqual([wrong.code, why.test(wrong.err)], [3, true], wrong.err);
      }
      assert.equal((await stage.run(['--image', 'dot.png'], { env })).code, 2);
      assert.ok(existsSync(join(stage.root, 'blobs')));
    },
  );
});
