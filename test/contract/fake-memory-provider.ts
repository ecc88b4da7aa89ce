/** A MemoryProvider that keeps facts in a list and recalls by shared words: what an external one looks like to the host. */
import { type MemoryProvider, type MemoryWriteNotice, ok } from '#public/talaria.ts';

export interface FakeMemoryProvider extends MemoryProvider {
  readonly facts: string[];
  readonly notices: readonly MemoryWriteNotice[];
}

export function createFakeMemoryProvider(): FakeMemoryProvider {
  const facts: string[] = [];
  const notices: MemoryWriteNotice[] = [];
  let block = '';
  return {
    name: 'fake',
    facts,
    notices,
    available: () => ok(true),
    start: async () => {
      block = facts.length > 0 ? `${facts.length} facts can be recalled.` : '';
    },
    promptBlock: () => block,
    prefetch: async (query) => {
      const words = new Set(query.toLowerCase().match(/\p{L}{3,}/gu) ?? []);
      const fitting = facts.filter((fact) =>
        fact
          .toLowerCase()
          .split(/\P{L}+/u)
          .some((word) => words.has(word)),
      );
      return fitting.map((text) => ({ type: 'text', text, origin: 'foreign', label: 'context' }) as const);
    },
    tools: () => [],
    memoryWritten: async (notice) => {
      notices.push(notice);
    },
    stop: async () => undefined,
  };
}
