/** The contract of MemoryProvider as tests; every implementation and every fake runs it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MemoryProvider, MemorySession } from '#public/talaria.ts';

export interface MemoryProviderSubject {
  readonly provider: MemoryProvider;
  /** Makes the provider know `fact` for good, by whatever way it learns. */
  readonly learn: (fact: string) => Promise<void>;
}

export const PRIMARY_SESSION: MemorySession = { sessionId: 's1', source: 'cli', cwd: '/', audience: 'primary' };
const NEVER = new AbortController().signal;

export function memoryProviderContract(name: string, make: () => Promise<MemoryProviderSubject>): void {
  describe(`memory provider contract: ${name}`, () => {
    test('has a name in kebab-case and says whether it is available, before it is started', async () => {
      const { provider } = await make();
      assert.match(provider.name, /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/);
      const available = provider.available();
      assert.ok(available.ok || available.detail.length > 0);
    });

    test('the prompt block is the same bytes from start to start, whatever is learned meanwhile', async () => {
      const { provider, learn } = await make();
      await learn('the first fact is blue');
      await provider.start(PRIMARY_SESSION, NEVER);
      const block = provider.promptBlock();
      await learn('the second fact is green');
      assert.equal(provider.promptBlock(), block);
      await provider.prefetch('green', NEVER);
      assert.equal(provider.promptBlock(), block);
      await provider.stop();
    });

    test('what was learned reaches the next session, in the block or with a line that asks for it', async () => {
      const { provider, learn } = await make();
      await learn('the boat is called Marlin');
      await provider.start(PRIMARY_SESSION, NEVER);
      const recalled = await provider.prefetch('what is the boat called?', NEVER);
      const seen = [provider.promptBlock(), ...recalled.map(({ text }) => text)].join('\n');
      assert.match(seen, /Marlin/);
      await provider.stop();
    });

    test('prefetched parts are labelled context and never claim to be typed by the owner', async () => {
      const { provider, learn } = await make();
      await learn('the boat is called Marlin');
      await provider.start(PRIMARY_SESSION, NEVER);
      for (const part of await provider.prefetch('boat', NEVER)) {
        assert.equal(part.label, 'context');
        assert.notEqual(part.origin, 'owner');
      }
      await provider.stop();
    });

    test('any string may be asked for', async () => {
      const { provider } = await make();
      await provider.start(PRIMARY_SESSION, NEVER);
      for (const query of ['', '"', '§', '\u0000', '* OR (', 'x'.repeat(10_000), '🦊'])
        await provider.prefetch(query, NEVER);
      await provider.stop();
    });

    test('the tool list stays the same and no name occurs twice', async () => {
      const { provider, learn } = await make();
      await provider.start(PRIMARY_SESSION, NEVER);
      const names = provider.tools().map((tool) => tool.name);
      await learn('one more fact');
      assert.deepEqual(
        provider.tools().map((tool) => tool.name),
        names,
      );
      assert.equal(new Set(names).size, names.length);
      await provider.stop();
    });

    test('stop may be called twice, also without a start', async () => {
      const { provider } = await make();
      await provider.stop();
      await provider.stop();
    });
  });
}
