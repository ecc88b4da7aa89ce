import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { onnxEngineFolder } from '#core/model/onnx.ts';
import { ENGINE_FILES } from '#extensions/curator/set-up-models.ts';
import { writeFakeEngine, writeFakeModel } from '../../core/model/onnx/fake-engine.ts';
import { verifies } from '../../verifies.ts';
import { type SearchStage, type StageOptions, searchStage } from './search-stage.ts';

const QWEN = 'Qwen--Qwen3-Embedding-0.6B';
const BGE = 'BAAI--bge-reranker-v2-m3';

/** A stage whose engine is there. */
function engineStage(t: TestContext, options: StageOptions = {}): SearchStage {
  const stage = searchStage(t, options);
  writeFakeEngine(onnxEngineFolder(stage.ground.places.engines));
  return stage;
}

function stepsOf(data: Record<string, unknown>): readonly (readonly [string, boolean])[] {
  return (data.steps as { step: string; ok: boolean }[]).map(({ step, ok }) => [step, ok]);
}

/** What lies in a folder of the home, marks and locks too. */
const listed = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);

describe('setup-semantic --from', () => {
  test('takes what the models need, tries them, and says so', async (t) => {
    const { run, root, ground } = engineStage(t);
    const from = join(root, 'given');
    writeFakeModel(join(from, 'Qwen3-Embedding-0.6B-ONNX'));
    writeFileSync(join(from, 'Qwen3-Embedding-0.6B-ONNX', 'onnx', 'model_quantized.onnx_data'), 'more');
    writeFileSync(join(from, 'Qwen3-Embedding-0.6B-ONNX', 'onnx', 'model_fp16.onnx'), 'not needed');
    writeFakeModel(join(from, 'BAAI', 'bge-reranker-v2-m3'));
    const { text, data, failure } = await run('setup-semantic', { from: 'given' });
    assert.equal(failure, undefined);
    assert.deepEqual(stepsOf(data), [
      ['engine', true],
      ['embedding', true],
      ['reranker', true],
    ]);
    assert.match(
      text,
      /ok: the engine was there: .*\nok: Qwen\/Qwen3-Embedding-0\.6B copied and gives vectors of 32 numbers/,
    );
    assert.match(text, /bge-reranker-v2-m3 copied and gives scores \(0\.\d{4} for a text that fits\)/);
    assert.deepEqual(listed(ground.places.models), [BGE, QWEN]);
    assert.deepEqual(listed(join(ground.places.models, QWEN, 'onnx')), [
      'model_quantized.onnx',
      'model_quantized.onnx_data',
    ]);
    const again = await run('setup-semantic');
    assert.match(again.text, /Qwen3-Embedding-0\.6B was there and gives/);
    assert.equal((await run('candidates', { query: 'gateway', executeSemantic: true })).data.mode, 'semantic');
  });

  verifies(
    'curator:candidates:unavailable',
    'names what is missing and how to mend it; the other model is placed',
    async (t) => {
      const { run, root, ground } = engineStage(t);
      const from = join(root, 'given');
      writeFakeModel(join(from, 'reranker'));
      const nothing = await run('setup-semantic', { from });
      assert.match(
        nothing.text,
        /MISSING: .*given has no folder of Qwen\/Qwen3-Embedding-0\.6B \(looked for Qwen--Qwen3/,
      );
      assert.match(
        nothing.text,
        /Put the files of onnx-community\/Qwen3-Embedding-0\.6B-ONNX into a folder Qwen--Qwen3/,
      );
      assert.deepEqual([nothing.failure?.exitCode, nothing.failure?.code], [1, 'model-files-missing']);
      assert.deepEqual(listed(ground.places.models), [BGE]);
      mkdirSync(join(from, QWEN));
      writeFileSync(join(from, QWEN, 'config.json'), '{}');
      const half = await run('setup-semantic', { from });
      assert.match(
        half.failure?.message ?? '',
        /has no tokenizer\.json, no tokenizer_config\.json, no onnx\/model_quantized\.onnx$/,
      );
      assert.deepEqual(listed(ground.places.models), [BGE]);
    },
  );

  test('a model that does not work leaves the old one in its place', async (t) => {
    const { run, root, ground } = engineStage(t);
    const from = join(root, 'given');
    writeFakeModel(join(from, QWEN));
    writeFakeModel(join(from, BGE));
    await run('setup-semantic', { from });
    const mark = join(ground.places.models, QWEN, 'config.json');
    writeFileSync(mark, '{"old":true}');
    writeFakeModel(join(from, QWEN), { text: 'broken' });
    const { failure } = await run('setup-semantic', { from });
    assert.equal(failure?.code, 'model-bad-response');
    assert.match(failure?.message ?? '', /could not be loaded: not an ONNX file/);
    assert.match(readFileSync(mark, 'utf8'), /old/);
    writeFakeModel(join(from, QWEN));
    assert.equal((await run('setup-semantic', { from })).failure, undefined);
    assert.equal(readFileSync(mark, 'utf8'), '{}');
    assert.deepEqual(listed(ground.places.models), [BGE, QWEN]);
  });

  test('what a crash left is put right', async (t) => {
    const { run, ground } = engineStage(t);
    const { models } = ground.places;
    writeFakeModel(join(models, QWEN));
    writeFakeModel(join(models, BGE));
    writeFakeModel(join(models, '.staging-1234'));
    renameSync(join(models, QWEN), join(models, `.replaced-${QWEN}`));
    assert.equal((await run('setup-semantic')).failure, undefined);
    assert.deepEqual(listed(models), [BGE, QWEN]);
  });
});

describe('setup-semantic from a hub', () => {
  const source = 'onnx-community/Qwen3-Embedding-0.6B-ONNX';
  const weights = 'weights of the hub';

  /** Serves one repository; `change` spoils the list. */
  async function hub(
    t: TestContext,
    change: (file: Record<string, unknown>) => Record<string, unknown> = (one) => one,
  ) {
    const files: Readonly<Record<string, string>> = {
      'config.json': '{}',
      'tokenizer.json': '{}',
      'tokenizer_config.json': '{}',
      'README.md': 'not needed',
      'onnx/model_quantized.onnx': weights,
      'onnx/model_quantized.onnx_data/../../../escaped': 'never',
    };
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const path = decodeURIComponent(request.url ?? '').split(`/${source}/resolve/main/`)[1];
      if (request.url === `/api/models/${source}/tree/main?recursive=true`) {
        const list = Object.entries(files).map(([name, text]) => ({
          ...{ path: name, type: 'file', size: text.length },
          ...(name.startsWith('onnx/') ? { lfs: { oid: createHash('sha256').update(text).digest('hex') } } : {}),
        }));
        response.end(JSON.stringify(list.map(change)));
      } else if (path !== undefined && files[path] !== undefined) response.end(files[path]);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => new Promise<unknown>((resolve) => server.close(resolve));
    t.after(close);
    return { endpoint: `http://127.0.0.1:${port}`, asked, close };
  }

  test('fetches the needed files alone, and places what works', async (t) => {
    const { endpoint, asked } = await hub(t);
    const { run, ground } = engineStage(t, { variables: { HF_ENDPOINT: `${endpoint}/` } });
    const { text, failure } = await run('setup-semantic');
    assert.match(text, /ok: Qwen\/Qwen3-Embedding-0\.6B fetched and gives vectors of 32 numbers/);
    assert.deepEqual(listed(ground.places.models), [QWEN]);
    assert.equal(readFileSync(join(ground.places.models, QWEN, 'onnx/model_quantized.onnx'), 'utf8'), weights);
    assert.equal(
      asked.some((url) => /README|escaped/.test(url)),
      false,
    );
    assert.equal(failure?.code, 'model-hub-failed');
    assert.match(
      failure?.message ?? '',
      /did not give the files of onnx-community\/bge-reranker-v2-m3-ONNX: status 404/,
    );
  });

  test('takes no file of another size or hash, and keeps nothing of it', async (t) => {
    const wrongSize = await hub(t, (file) => (file.path === 'config.json' ? { ...file, size: 9 } : file));
    const wrongHash = await hub(t, (file) => (file.lfs ? { ...file, lfs: { oid: '0'.repeat(64) } } : file));
    for (const [{ endpoint }, reason] of [
      [wrongSize, /did not give config\.json: 2 bytes came, not 9/],
      [wrongHash, /did not give onnx\/model_quantized\.onnx: its SHA-256 is not the listed one/],
    ] as const) {
      const { run, ground } = engineStage(t, { variables: { HF_ENDPOINT: endpoint } });
      const { text, failure } = await run('setup-semantic');
      assert.match(text, reason);
      assert.equal(failure?.exitCode, 1);
      assert.deepEqual(listed(ground.places.models), []);
    }
  });

  test('without a network the error is clear and nothing is left', async (t) => {
    const { endpoint, close } = await hub(t);
    await close();
    const { run, ground } = engineStage(t, { variables: { HF_ENDPOINT: endpoint } });
    const { failure, text } = await run('setup-semantic');
    assert.match(text, /MISSING: http:\/\/127\.0\.0\.1:\d+ did not give the files of onnx-community.*ECONNREFUSED/);
    assert.match(failure?.fix ?? '', /HF_ENDPOINT.*--from/);
    assert.deepEqual(listed(ground.places.models), []);
    const aborted = AbortSignal.abort(new Error('enough'));
    await assert.rejects(run('setup-semantic', {}, aborted), /enough/);
  });
});

describe('setup-semantic: the engine', () => {
  /** A stage whose `npm` is this shell script. */
  function npmStage(t: TestContext, script: string, variables: StageOptions['variables'] = {}): SearchStage {
    const stage = searchStage(t);
    const bin = join(stage.root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'npm'), 0o755);
    Object.assign(stage.ground, { variables: { PATH: `${bin}:/usr/bin:/bin`, ...variables } });
    return stage;
  }
  const binaries = 'node_modules/onnxruntime-node/bin/napi-v6';

  test('is installed without scripts and keys, keeps one binary, and is whole or not there', async (t) => {
    const ours = `${binaries}/${process.platform}/${process.arch}`;
    const stage = npmStage(t, `mkdir -p ${ours} ${binaries}/other/cpu; echo "$@" > told; env > seen`, {
      OPENAI_API_KEY: 'sk-secret',
      npm_config_key: 'kept',
    });
    const { engines } = stage.ground.places;
    const { text, failure } = await stage.run('setup-semantic', { engineOnly: true });
    assert.equal(failure, undefined);
    const folder = onnxEngineFolder(engines);
    assert.equal(text, `ok: the engine is installed: ${folder}`);
    assert.deepEqual(listed(engines), ['transformers-js-4.3.1']);
    assert.match(
      readFileSync(join(folder, 'told'), 'utf8'),
      /^install --omit=optional --ignore-scripts --install-links/,
    );
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    assert.equal(seen.includes('sk-secret'), false);
    assert.match(seen, /ONNXRUNTIME_NODE_INSTALL=skip/);
    assert.match(seen, /npm_config_key=kept/);
    assert.equal(existsSync(join(folder, ours)), true);
    assert.deepEqual(listed(join(folder, binaries, 'other')), []);
    assert.equal(readFileSync(join(folder, 'package.json'), 'utf8'), ENGINE_FILES['package.json']);
  });

  test('an npm that fails, is not there, or brings no binary for this machine leaves nothing', async (t) => {
    const failing = npmStage(
      t,
      'echo "npm error code E404"; echo "npm error syscall connect"; echo "npm error 404 Not Found"; exit 1',
    );
    const foreign = npmStage(t, `mkdir -p ${binaries}/other/cpu`);
    const without = npmStage(t, '', { PATH: '/nowhere' });
    for (const [stage, code, message] of [
      [failing, 'engine-install-failed', /\(exit 1\): 404 Not Found/],
      [foreign, 'engine-unsupported', /has no binary for/],
      [without, 'engine-install-failed', /npm/],
    ] as const) {
      const { failure, data } = await stage.run('setup-semantic');
      assert.deepEqual([failure?.exitCode, failure?.code, stepsOf(data)], [1, code, [['engine', false]]]);
      assert.match(failure?.message ?? '', message);
      assert.notEqual(failure?.fix, '');
      assert.deepEqual(listed(stage.ground.places.engines), []);
    }
  });
});
