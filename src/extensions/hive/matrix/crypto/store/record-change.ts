// Owns the data that pass between the key store in memory and its file: what databases look like, and what changed. Data only.

export interface IndexShape {
  readonly name: string;
  readonly keyPath: string | readonly string[];
  readonly unique: boolean;
  readonly multiEntry: boolean;
}

export interface StoreShape {
  readonly name: string;
  readonly keyPath: string | readonly string[] | null;
  readonly autoIncrement: boolean;
  readonly indexes: readonly IndexShape[];
}

/** One IndexedDB database without its records. `name` is the part that does not change from opening to opening. */
export interface BaseShape {
  readonly name: string;
  readonly version: number;
  readonly stores: readonly StoreShape[];
}

export interface SavedRecord {
  readonly base: string;
  readonly store: string;
  /** As `recordKeyText` writes it. */
  readonly key: string;
  readonly value: Uint8Array;
}

export interface RecordChange extends Omit<SavedRecord, 'value'> {
  /** Absent: the record was deleted. */
  readonly value?: Uint8Array;
}

export interface StoreChanges {
  /** Databases whose stores or indexes are not as they were. */
  readonly shapes: readonly BaseShape[];
  /** Stores that are gone with all they held. */
  readonly dropped: readonly { readonly base: string; readonly store: string }[];
  readonly records: readonly RecordChange[];
}
