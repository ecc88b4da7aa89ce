// Owns loading something once, when it is first asked for. Knows nothing of it.

export interface Lazy<T> {
  /** A load that failed is tried again by the next call. */
  (): Promise<T>;
  /** Undefined while it is not there. */
  readonly now: () => T | undefined;
}

export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let loading: Promise<T> | undefined;
  let current: T | undefined;
  const get = (): Promise<T> => {
    loading ??= load().then(
      (value) => {
        current = value;
        return value;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  return Object.assign(get, { now: () => current });
}
