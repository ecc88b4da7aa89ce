import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dailyBudget,
  fitTogether,
  HERMES,
  largestCard,
  localAdvice,
  type Machine,
  machineLine,
  placeFor,
  readMachine,
  recommended,
  SECOND,
} from '#surfaces/app/models/local-advice.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const GIB = 1024 ** 3;
const SHARED = { name: 'Apple, shared memory', memoryBytes: 64 * GIB };

function machine(memory: number, more: Partial<Machine> = {}): Machine {
  const disk = { diskFreeBytes: 500e9, gpu: null, cpu: 'Apple M4 Pro' };
  return { cores: 12, memoryBytes: memory * GIB, platform: 'darwin', arch: 'arm64', ...disk, ...more };
}

verifies(['RX.6', 'RX.7'], 'the local model is Hermes 4.3, Q6_K before Q4_K_M', () => {
  assert.equal(HERMES.model, 'NousResearch/Hermes-4.3-36B');
  assert.deepEqual([HERMES.parameters, HERMES.contextTokens / 1024], [36e9, 128]);
  assert.equal(HERMES.endpoint, 'http://localhost:11434/v1');
  assert.deepEqual([HERMES.bytes.Q6_K, HERMES.bytes.Q4_K_M], [32e9, 22e9]);
  assert.deepEqual([recommended(machine(128)), recommended(machine(48))], ['Q6_K', 'Q4_K_M']);
});

verifies(['RX.13', 'RX.14'], 'C34: what is recommended follows the memory', () => {
  // As the system shows what is sold as 64 GB and 32 GB.
  for (const memory of [64, 62.7]) {
    const advice = localAdvice(machine(memory, { gpu: SHARED }));
    assert.deepEqual([advice.quantisation, advice.second], ['Q6_K', SECOND.model]);
    assert.match(
      advice.lines.join('\n'),
      /models pull Q6_K \(32\.0 GB; a window of up to 1\d\dK\)[\s\S]*local is the better choice: the memory/,
    );
  }
  for (const memory of [32, 31.2]) {
    const advice = localAdvice(machine(memory));
    assert.deepEqual([advice.quantisation, advice.second], ['Q4_K_M', null]);
  }
  const small = localAdvice(machine(16));
  assert.equal(small.quantisation, null);
  assert.match(small.lines[0] ?? '', /too large here, or slow: take a cloud provider/);
  assert.match(localAdvice(machine(64, { diskFreeBytes: 20e9 })).lines.join('\n'), /20\.0 GB free: make room first/);
});

test('C19: two models fit when their sizes and contexts do', () => {
  const hermes = { ...HERMES, bytes: HERMES.bytes.Q6_K, contextTokens: 32_768 };
  const small = { ...SECOND, contextTokens: 12_288 };
  assert.equal(fitTogether([hermes, small], 64 * GIB).fits, true);
  assert.equal(fitTogether([hermes, hermes], 64 * GIB).fits, false);
  assert.equal(fitTogether([{ ...hermes, contextTokens: HERMES.contextTokens }, small], 64 * GIB).fits, false);
});

verifies('RX.13', 'processor, memory, disk and card are read, and what is not there is said', async (t) => {
  const read = await readMachine(createTempHome(t).path, new AbortController().signal);
  assert.ok(read.cores > 0 && read.memoryBytes > 0 && (read.diskFreeBytes ?? 0) > 0 && read.cpu !== '');
  const nowhere = await readMachine('/nowhere', new AbortController().signal);
  assert.match(machineLine({ ...nowhere, gpu: null }), /no graphics card found, disk unknown/);
  const cards = largestCard('NVIDIA GeForce RTX 3060, 12288\nNVIDIA RTX 6000 Ada, 49140\n');
  assert.deepEqual(cards, { name: 'NVIDIA RTX 6000 Ada', memoryBytes: 49_140 * 1024 ** 2 });
  assert.equal(largestCard('NVIDIA-SMI has failed\n'), null);
});

verifies('RX.24', 'local where machine, privacy, cost and pace fit, else remote', () => {
  const strong = { memoryBytes: 64 * GIB, hasGpu: true };
  const weak = { memoryBytes: 16 * GIB, hasGpu: false };
  const rows = [
    [strong, 'local'],
    [{ ...strong, t2Seconds: 5 }, 'remote'],
    [{ ...strong, atOnce: 12 }, 'remote'],
    [{ ...strong, atOnce: 12, isPrivate: true }, 'local'],
    [weak, 'remote'],
    [{ ...weak, isPrivate: true }, 'local'],
    [{ memoryBytes: 256 * 1024 ** 2, hasGpu: false, isPrivate: true }, 'remote'],
  ] as const;
  for (const [situation, place] of rows) {
    const found = placeFor(situation);
    assert.equal(found.place, place, JSON.stringify(situation));
    assert.ok(found.because.length > 10);
  }
});

verifies(
  ['RX.4', 'RX.5'],
  'C18: five golems cost 0.50 to 2.70 a day as cloud calls, nothing here, and 1 to 5 each when hosted',
  () => {
    const local = dailyBudget(5, 'local');
    assert.deepEqual(
      local.total.map((dollars) => dollars.toFixed(2)),
      ['0.50', '2.70'],
    );
    assert.deepEqual(
      [local.marginal, local.l2],
      [
        [0, 0],
        [0, 0],
      ],
    );
    const hosted = dailyBudget(1, 'hosted');
    assert.deepEqual(hosted.each, [1, 5]);
    assert.equal(hosted.marginal, hosted.total);
  },
);
