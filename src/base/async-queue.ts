// Owns the bridge from callbacks to async iteration: many producers push, one consumer iterates.
// Invariant: order of pushes is order of iteration; nothing pushed before `close` is lost.

export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** No more items; iteration ends after what is queued. */
  close(): void;
}

export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: T[] = [];
  let closed = false;
  let wake: (() => void) | undefined;
  const signal = () => {
    wake?.();
    wake = undefined;
  };
  return {
    push(item) {
      if (closed) return;
      items.push(item);
      signal();
    },
    close() {
      closed = true;
      signal();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) yield items.shift() as T;
        if (closed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
