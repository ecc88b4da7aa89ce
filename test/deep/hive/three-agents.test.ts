/** The example of three agents in three processes, on the fake homeserver; test/real has it on a real one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe } from 'node:test';
import { promisify } from 'node:util';
import { COMPILE_CACHE } from '../../scenario/cli-process.ts';
import { verifies } from '../../verifies.ts';

const EXAMPLE = join(import.meta.dirname, '../../../examples/peers-three-agents.ts');

describe('three agents', () => {
  verifies(['R4.29', 'R4.30', 'R4.41', 'R4.59'], 'talk, and what was dismissed stays so after kill -9', async () => {
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', NODE_COMPILE_CACHE: COMPILE_CACHE };
    const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE], { env });
    assert.match(stdout, /suggested, by rule\n[\s\S]*kill -9[\s\S]*\nEvery step did what it should\.\n/);
  });
});
