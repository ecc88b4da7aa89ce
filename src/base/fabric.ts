// Owns the in-process event fabric: one typed stream with split ends (EventSink to emit, EventSource to subscribe).
// Knows no event of the domain. Invariant: a failing subscriber never reaches the emitter; it is reported to `onFailure`.

/** Where events go in. Contract: `emit` never throws and never waits. */
export interface EventSink<E> {
  emit(event: E): void;
}

/** Where events come out. Contract: subscribers are called in order of subscription; the returned function ends the subscription. */
export interface EventSource<E> {
  subscribe(listener: (event: E) => void): () => void;
}

export interface Fabric<E> extends EventSink<E>, EventSource<E> {}

export function createFabric<E>(onFailure: (error: unknown, event: E) => void): Fabric<E> {
  const listeners = new Set<(event: E) => void>();
  return {
    emit(event) {
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          onFailure(error, event);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
