// Owns what the list of runs holds of each, and what a run was asked. Shapes only.
import type { JsonObject } from '#base/json.ts';
import type { EndState } from '../tree/run-state.ts';

export type RunKind = 'run' | 'ask' | 'vanilla';

/** A file that was read, or what stood for one. */
export interface SourceStamp {
  /** As the person named it, relative to `root`; `-` for what was piped in. */
  readonly path: string;
  readonly bytes: number;
  /** `sha256:` and hex. */
  readonly hash: string;
}

export interface NewRun {
  readonly run_id: string;
  readonly kind: RunKind;
  /** All that decides the run besides sources and replies: question, limits, guard mode, priors. Canonical JSON. */
  readonly request: JsonObject;
  readonly root: string;
  readonly sources: readonly SourceStamp[];
}

export interface RunRow extends NewRun {
  readonly started_at: number;
  /** Null: it is running, or was killed. */
  readonly ended_at: number | null;
  readonly state: EndState | 'running';
  readonly outcome: JsonObject | null;
  /** `sha256:` of the canonical outcome; a replay must reach the same. */
  readonly state_hash: string | null;
  /** Process that works on it, `<pid> <host>`; null when ended. */
  readonly owner: string | null;
}
