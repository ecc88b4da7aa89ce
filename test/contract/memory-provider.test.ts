/** Every MemoryProvider against the one contract. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, describe } from 'node:test';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { createFilesProvider } from '#mind/memory/open-room.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createFakeMemoryProvider } from './fake-memory-provider.ts';
import { memoryProviderContract } from './memory-provider.contract.ts';

describe('memory providers', () => {
  const homes: string[] = [];
  after(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  });

  memoryProviderContract('files', async () => {
    const root = createTempHome().path;
    homes.push(root);
    const files = createMemoryFiles({ root });
    const learn = async (fact: string) => {
      assert.ok((await files.apply('memory', [{ action: 'add', content: fact }])).ok);
    };
    return { provider: createFilesProvider(files), learn };
  });

  memoryProviderContract('in-memory fake', async () => {
    const provider = createFakeMemoryProvider();
    return { provider, learn: async (fact) => void provider.facts.push(fact) };
  });
});
