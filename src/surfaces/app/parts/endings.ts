// Owns the order in which opened parts are closed: the last one first. Knows no part.
// Invariant: each ending runs once and every one of them runs, also when another fails; the first failure is thrown at the end.

export interface Endings {
  add(close: () => unknown): void;
  run(): Promise<void>;
}

export function createEndings(): Endings {
  const waiting: (() => unknown)[] = [];
  return {
    add(close) {
      waiting.push(close);
    },
    async run() {
      const failures: unknown[] = [];
      for (let close = waiting.pop(); close; close = waiting.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
