/** Every case of a hostile endpoint against a process of its own, whose memory is measured. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseJsonObject } from '#base/json.ts';
import type { Asked, Ended } from '../fault/hostile/ask-endpoint.ts';
import { checkCase } from '../fault/hostile/check-case.ts';
import { HOSTILE_CASES } from '../fault/hostile/endpoint-cases.ts';
import { verifies } from '../verifies.ts';

const ASKER = fileURLToPath(new URL('../fault/hostile/ask-endpoint.ts', import.meta.url));
const MOST_MB = 512;

async function askInProcess(asked: Asked): Promise<Ended & { readonly megabytes: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, [ASKER, JSON.stringify(asked)], { timeout: 300_000 });
  const parsed = parseJsonObject(stdout);
  assert.ok(parsed.ok, stdout);
  return parsed.value as unknown as Ended & { readonly megabytes: number };
}

describe('a hostile endpoint, with memory', { concurrency: 2 }, () => {
  for (const one of HOSTILE_CASES)
    verifies('core:model:endpoint-bounds', `${one.to}: ${one.name}`, async () => {
      const { megabytes } = await checkCase(one, askInProcess);
      assert.ok(megabytes < MOST_MB, `${megabytes} MB`);
      console.log(`${megabytes} MB: ${one.name}`);
    });
});
