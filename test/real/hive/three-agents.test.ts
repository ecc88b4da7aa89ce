/** The example of three agents on a real homeserver: three processes, killed and started again. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onSynapse } from '../../contract/hive/hive-synapse-server.ts';
import { verifies } from '../../verifies.ts';

const EXAMPLE = join(import.meta.dirname, '../../../examples/peers-three-agents.ts');

onSynapse('three agents on a real homeserver', (start) => {
  verifies(
    ['R4.3', 'R4.41', 'R4.54', 'R4.59', 'R4.60'],
    'are introduced, write to each other, and what was dismissed stays so after kill -9',
    async () => {
      const { server } = await start();
      const env = { PATH: process.env.PATH, HOME: '/nonexistent', MATRIX_HOMESERVER: server.url };
      const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE], { env });
      assert.match(stdout, /Every step did what it should\.\n$/);
    },
  );
});
