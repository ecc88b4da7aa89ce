import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createOpenAiEmbedder } from '#core/model/embedders.ts';
import { embedderContract } from '../../../contract/embedder.contract.ts';
import { createHashEmbedder } from '../../../doubles/hash-embedder.ts';

const hash = createHashEmbedder();
const never = new AbortController().signal;

interface Asked {
  readonly model: string;
  readonly input: readonly string[];
}

/** A real server on loopback that speaks `/embeddings`; its vectors are those of the hash embedder, three times as long. */
async function serve(answer?: (asked: Asked) => unknown) {
  const bodies: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const asked = JSON.parse(text) as Asked;
    bodies.push(asked);
    const vectors = await hash.embed(asked.input, never);
    const data = vectors.map((vector, index) => ({ index, embedding: [...vector].map((one) => one * 3) }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer?.(asked) ?? { data: data.reverse() }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { bodies, baseUrl: `http://127.0.0.1:${port}/v1`, close };
}

function embedderAt(baseUrl: string, more: { readonly dimensions?: number; readonly batch?: number } = {}) {
  return createOpenAiEmbedder({
    endpoint: { provider: 'stub', baseUrl },
    model: 'small',
    dimensions: hash.dimensions,
    ...more,
  });
}

embedderContract('OpenAI-compatible endpoint', async () => {
  const { baseUrl, close } = await serve();
  const embedder = embedderAt(baseUrl, { batch: 4 });
  return { embedder, near: ['import a csv file', 'import the csv file'], far: 'bake bread slowly', close };
});

describe('an endpoint that embeds', () => {
  test('texts go in batches, empty ones stay here', async () => {
    const { bodies, baseUrl, close } = await serve();
    const vectors = await embedderAt(baseUrl, { batch: 2 }).embed(['a b', '', 'c d', 'e f'], never);
    await close();
    assert.deepEqual(
      bodies.map(({ input }) => input),
      [['a b', 'c d'], ['e f']],
    );
    assert.equal(vectors.length, 4);
    assert.equal(Math.hypot(...(vectors[1] ?? [])), 0);
  });

  test('another length is named with the setting that mends it', async () => {
    const { baseUrl, close } = await serve();
    await assert.rejects(embedderAt(baseUrl, { dimensions: 7 }).embed(['a'], never), {
      code: 'model-bad-response',
      fix: `Set embedding.dimensions to ${hash.dimensions}.`,
    });
    await close();
  });

  test('nonsense and a closed port are ModelErrors', async () => {
    const { baseUrl, close } = await serve(() => ({ data: [{ embedding: ['x'] }] }));
    await assert.rejects(embedderAt(baseUrl).embed(['a'], never), { code: 'model-bad-response' });
    await close();
    await assert.rejects(embedderAt(baseUrl).embed(['a'], never), { code: 'model-unreachable' });
  });
});
