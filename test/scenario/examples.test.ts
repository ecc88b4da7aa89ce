import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const FOLDER = join(import.meta.dirname, '../../examples');

/** A line that shows that the example did what it is there for. */
const SHOWS: Readonly<Record<string, RegExp>> = {
  'embed.ts': /The service listens on port 4711\.[\s\S]*ended: done/,
  'custom-tool.ts': /tool tide: Piraeus: 2\.4 m, rising\nThe tide at Piraeus is 2\.4 m and rising\./,
  'search-sessions.ts': /harbour #2: .*4711[\s\S]*harbour #4: /,
  'skills.ts': /valid: true\n {2}scan: safe\n[\s\S]*scan: dangerous\n {2}line 6: exfiltration\//,
  'check-synthesis.ts': /"accepted":true,"filled":\["result[\s\S]*"accepted":false[\s\S]*F3 is not present/,
  'parse-tool-calls.ts': /"calls":\[\{"name":"terminal","arguments":\{"command":"ls -la"\}\}\]/,
};

describe('examples', () => {
  test('each is known here', () => {
    assert.deepEqual(
      readdirSync(FOLDER)
        .filter((name) => name.endsWith('.ts'))
        .sort(),
      Object.keys(SHOWS).sort(),
    );
  });

  for (const [name, shows] of Object.entries(SHOWS)) {
    test(`${name} runs offline and shows what it is for`, async () => {
      const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
      const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, name)], { env });
      assert.match(stdout, shows);
    });
  }
});
