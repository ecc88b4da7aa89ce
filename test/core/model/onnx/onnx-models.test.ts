import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { ModelError } from '#core/model/model-client.ts';
import {
  findModelFolder,
  modelFolder,
  type OnnxModelFiles,
  openOnnxEmbedder,
  openOnnxReranker,
} from '#core/model/onnx.ts';
import { embedderContract } from '../../../contract/embedder.contract.ts';
import { rerankerContract } from '../../../contract/reranker.contract.ts';
import { verifies } from '../../../verifies.ts';
import { fakeEngineModule, writeFakeEngine, writeFakeModel } from './fake-engine.ts';

const signal = new AbortController().signal;

describe('models of local ONNX files', () => {
  const root = mkdtempSync(join(tmpdir(), 'talaria-onnx-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  const place = (text = 'weights'): OnnxModelFiles => {
    count += 1;
    const [engineFolder, folder] = [join(root, `engine-${count}`), join(root, `model-${count}`)];
    writeFakeEngine(engineFolder);
    writeFakeModel(folder, { text });
    return {
      ...{ engineFolder, folder, file: 'onnx/model_quantized.onnx', device: 'auto', maxLength: 64 },
      fix: 'Install it.',
    };
  };

  embedderContract('onnx', async () => {
    const embedder = await openOnnxEmbedder({ id: 'fake', pooling: 'mean', files: place() }, signal);
    const close = () => embedder.close();
    return { embedder, near: ['A red car', 'A red bicycle'] as const, far: 'Bake some bread', close };
  });

  rerankerContract('onnx', async () => {
    const reranker = await openOnnxReranker({ id: 'fake', files: place() }, signal);
    const close = () => reranker.close();
    return { reranker, query: 'restart the gateway', good: 'gateway: restart', bad: 'Bake some bread', close };
  });

  verifies(
    ['curator:candidates:text-limit', 'curator:candidates:device'],
    'one text a batch, on the device that was named, with few threads and no network',
    async () => {
      const files = { ...place(), device: 'cuda', maxLength: 3 };
      const embedder = await openOnnxEmbedder({ id: 'a/b', pooling: 'last_token', files }, signal);
      const { calls, env } = await fakeEngineModule(files.engineFolder);
      calls.runs.length = 0;
      const [long, last] = await embedder.embed(['one two three four', 'three', ' '], signal);
      assert.deepEqual(
        calls.runs.map(({ texts }) => texts),
        [['one two three four'], ['three']],
      );
      assert.deepEqual(long, last);
      const [{ options, head }] = calls.loaded as [(typeof calls.loaded)[number]];
      assert.equal(head, 'AutoModel');
      assert.deepEqual(
        [options.device, options.subfolder, options.model_file_name, options.dtype, options.local_files_only],
        ['cuda', 'onnx', 'model_quantized', 'fp32', true],
      );
      assert.deepEqual(options.session_options, { intraOpNumThreads: 2, interOpNumThreads: 1, logSeverityLevel: 4 });
      assert.deepEqual([env.allowRemoteModels, env.useFSCache, env.logLevel], [false, false, 50]);
      assert.equal(embedder.id, 'onnx/a/b');
      await embedder.close();
      assert.equal(calls.disposed, 1);
    },
  );

  test('what is missing is named, with what to do', async () => {
    const files = place();
    const open = (given: OnnxModelFiles) => openOnnxEmbedder({ id: 'fake', pooling: 'mean', files: given }, signal);
    const failure = (given: OnnxModelFiles) =>
      open(given).then(
        () => assert.fail('it opened'),
        (error: ModelError) => [error.code, error.message.replaceAll(root, ''), error.fix],
      );
    assert.deepEqual(await failure({ ...files, engineFolder: join(root, 'none') }), [
      'model-unreachable',
      'the engine for local models is not installed',
      'Install it.',
    ]);
    rmSync(join(files.folder, 'tokenizer.json'));
    const [code, message] = await failure(files);
    assert.equal(code, 'model-not-found');
    assert.match(message ?? '', /has no tokenizer\.json$/);
    assert.match((await failure({ ...files, folder: join(root, 'nowhere') }))[1] ?? '', /there is no model \/nowhere/);
  });

  test('a broken file, a broken engine and a failing run are errors, and nothing stays open', async () => {
    await assert.rejects(
      openOnnxReranker({ id: 'fake', files: place('broken') }, signal),
      (error: ModelError) => error.code === 'model-bad-response' && /not an ONNX file/.test(error.message),
    );
    const broken = place();
    writeFakeEngine(broken.engineFolder, 'throw new Error("wrong binary");');
    await assert.rejects(openOnnxReranker({ id: 'fake', files: broken }, signal), /does not start: wrong binary/);
    const files = place();
    const embedder = await openOnnxEmbedder({ id: 'fake', pooling: 'cls', files }, signal);
    await assert.rejects(embedder.embed(['fine', 'explode'], signal), /could not read a text: out of memory/);
    await embedder.close();
    await assert.rejects(
      openOnnxEmbedder({ id: 'fake', pooling: 'cls', files }, AbortSignal.abort(new Error('no'))),
      /no/,
    );
    const { calls } = await fakeEngineModule(files.engineFolder);
    assert.equal(calls.disposed, calls.loaded.length);
  });

  test('a model lies below its id, in one folder or two', () => {
    const models = join(root, 'models');
    assert.equal(findModelFolder(models, 'a/b'), modelFolder(models, 'a/b'));
    writeFakeModel(join(models, 'a', 'b'));
    assert.equal(findModelFolder(models, 'a/b'), join(models, 'a', 'b'));
    writeFakeModel(join(models, 'a--b'));
    writeFileSync(join(models, 'a--b', 'config.json'), '{}');
    assert.equal(findModelFolder(models, 'a/b'), join(models, 'a--b'));
  });
});
