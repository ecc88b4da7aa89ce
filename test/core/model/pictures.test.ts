/** Pictures: told by their first bytes, kept once, shown to a model that sees, named to one that does not. */
import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { openBlobs } from '#base/blobs.ts';
import { modelTraits } from '#core/model/model-table.ts';
import { keepImage, readImage } from '#core/model/pictures.ts';
import { toSdkPrompt } from '#core/model/providers/anthropic-client.ts';
import { type BodyRules, chatMessages } from '#core/model/providers/openai-client.ts';
import { toTextHistory } from '#core/model/text-tools.ts';
import type { ImagePart, Message } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { PICTURES } from '../../doubles/pictures.ts';
import { verifies } from '../../verifies.ts';

const { png } = PICTURES;
const image: ImagePart = {
  ...{ type: 'image', mediaType: 'image/png', hash: 'a'.repeat(64), bytes: png.length, width: 2, height: 3 },
  ...{ name: 'dot.png', origin: 'foreign' },
};
const result = (callId: string, images: readonly ImagePart[] = []): Message => ({
  role: 'tool',
  parts: [
    {
      ...{ type: 'tool-result', callId, name: 'shot', text: 'taken', isError: false, origin: 'foreign', images },
      observed: { ms: 1, bytes: 5 },
    },
  ],
});
const HISTORY: readonly Message[] = [
  { role: 'user', parts: [image, { type: 'text', text: 'what is it', origin: 'owner' }] },
  {
    role: 'assistant',
    model: 'm',
    parts: ['c1', 'c2'].map((callId) => ({ type: 'tool-call', callId, name: 'shot', arguments: {}, origin: 'model' })),
  },
  result('c1', [image]),
  result('c2'),
  { role: 'assistant', model: 'm', parts: [{ type: 'text', text: 'a dot', origin: 'model' }] },
];
const seeing = { model: 'm', bytesOf: () => png };
const request = (messages: readonly Message[]) => ({ system: '', tools: [], messages, purpose: 'answer' }) as const;
const rules: Omit<BodyRules, 'eyes'> = {
  ...{ model: 'm', cacheMarks: false, replayReasoning: false },
  cacheTtl: '5m',
  endpoint: { provider: 'x', baseUrl: 'http://127.0.0.1/v1' },
};
const openai = (messages: readonly Message[], eyes: typeof seeing | { model: string }) =>
  chatMessages(request(messages), { ...rules, eyes });
const url = `data:image/png;base64,${png.toString('base64')}`;

describe('a picture', () => {
  verifies('R5.204', 'is told by its first bytes, with its size, and no other bytes are one', () => {
    for (const [kind, bytes] of Object.entries(PICTURES)) {
      const mediaType = `image/${kind.replace(/\d$/, '')}`;
      assert.deepEqual(readImage(bytes), { mediaType, width: 2, height: 3 }, kind);
      for (let length = 0; length < bytes.length; length += 1) readImage(bytes.subarray(0, length));
      assert.equal(readImage(bytes.subarray(0, 9)), undefined);
    }
    for (const text of ['', 'GIF87', '\x89PNG', 'RIFF1234WEBPVP9 ', '<svg/>'])
      assert.equal(readImage(Buffer.from(text, 'latin1')), undefined, text);
  });

  verifies('R5.204', 'lies once in the home, private, and is refused when it is none or too large', (t) => {
    const folder = join(createTempHome(t).path, 'blobs');
    const blobs = openBlobs(folder);
    const kept = keepImage(png, { name: 'dot.png', origin: 'owner' }, blobs);
    assert.ok(kept.ok);
    assert.ok(keepImage(png, { origin: 'foreign' }, blobs).ok);
    assert.deepEqual(readdirSync(folder), [kept.value.hash]);
    assert.equal(statSync(join(folder, kept.value.hash)).mode & 0o777, 0o600);
    assert.deepEqual(blobs.read(kept.value.hash), png);
    writeFileSync(join(folder, kept.value.hash), 'other bytes');
    assert.equal(blobs.read(kept.value.hash), undefined);
    const refusals = [Buffer.from('text'), Buffer.concat([png, Buffer.alloc(10_000_001)])].map((bytes) =>
      keepImage(bytes, { name: 'x.png', origin: 'owner' }, blobs),
    );
    assert.deepEqual(
      refusals.map((one) => !one.ok && one.reason),
      ['no-image', 'image-too-large'],
    );
  });

  verifies('R5.205', 'goes to who sees as bytes, in its place, and each request extends the one before', () => {
    const sent = openai(HISTORY, seeing);
    assert.deepEqual(sent[0]?.content, [
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: 'what is it' },
    ]);
    // Those of results come behind the last result of the answer.
    assert.deepEqual(
      sent.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'tool', 'user', 'assistant'],
    );
    assert.match(JSON.stringify(sent[4]?.content), /pictures of the result of shot.*data:image\/png/);
    assert.deepEqual(sent.slice(0, 5), openai(HISTORY.slice(0, 4), seeing));
    const anthropic = JSON.stringify(toSdkPrompt(request(HISTORY), seeing));
    assert.equal(anthropic.split(png.toString('base64')).length, 3);
    assert.match(anthropic, /"type":"content","value":\[\{"type":"text","text":"taken"\},\{"type":"file"/);
    assert.equal(JSON.stringify(openai(toTextHistory(HISTORY), seeing)).split(url).length, 3);
  });

  verifies('R5.205', 'is named to who sees none, with its size and the reason', () => {
    const note = '[image dot.png, 2×3, not shown: m reads no images]';
    const sent = openai(HISTORY, { model: 'm' });
    assert.deepEqual(sent[0]?.content, `${note}\n\nwhat is it`);
    assert.equal(sent[2]?.content, `taken\n${note}`);
    assert.equal(sent.length, HISTORY.length);
    assert.ok(!JSON.stringify(toSdkPrompt(request(HISTORY), { model: 'm' })).includes('"file"'));
    const gone = openai(HISTORY, { model: 'm', bytesOf: () => undefined } as never);
    assert.match(String(gone[0]?.content), /its file is gone from this home/);
  });

  verifies('R5.205', 'is seen by models whose names say so, and by those of which the owner says so', () => {
    const sees = (id: string) => modelTraits(id).images;
    for (const id of ['openai/gpt-4o', 'anthropic/claude-sonnet-5', 'google/gemini-3-pro', 'ollama/llava:7b'])
      assert.equal(sees(id), true, id);
    for (const id of [
      'openai/gpt-3.5-turbo',
      'ollama/llama3.1:8b',
      'deepseek/deepseek-chat',
      'reflex/1',
      'x/gemma-3-1b',
    ])
      assert.equal(sees(id), false, id);
    assert.equal(modelTraits('ollama/own', { images: true }).images, true);
  });
});
