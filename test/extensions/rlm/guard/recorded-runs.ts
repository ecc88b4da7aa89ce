/** The recorded verdicts of the guard, by the shapes that its tests read. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FixtureInput, ManifestEntry } from '#extensions/rlm/guard/manifest.ts';
import type { Validation } from '#extensions/rlm/guard/read-claims.ts';

const folder = join(process.env.TALARIA_DATA ?? '', 'data/rlm');

export const withRuns = { skip: existsSync(folder) ? false : 'skipped: set TALARIA_DATA' } as const;

export interface PortabilityFixture extends FixtureInput {
  readonly fixture_id: string;
  readonly safe_parent_synthesis: unknown;
  readonly unsafe_injected_synthesis: unknown;
  readonly repairable_missing_handle_parent_synthesis?: unknown;
}

interface Portability {
  readonly fixtures: readonly PortabilityFixture[];
  readonly fixture_contract_results: readonly {
    readonly safe_traceguard: Validation;
    readonly unsafe_traceguard: Validation;
  }[];
}

interface Demo {
  readonly evidence_manifest: readonly ManifestEntry[];
  readonly results: readonly { readonly case_id: string; readonly validation: Validation }[];
}

interface TruncationRun {
  readonly rlm_output: { readonly atomic_execution: { readonly final_message_json: unknown } };
  readonly vanilla_output: { readonly runner_output: { readonly completion_json: unknown } };
}

export const readPortability = (): Portability => read('live-portability-matrix.json') as Portability;
export const readDemo = (): Demo => read('traceguard-demo.json') as Demo;
export const readTruncationRun = (): TruncationRun => read('rlm-long-context-truncation-v1.json') as TruncationRun;
export const readTruncationFixture = (): FixtureInput => read('long_context_truncation.json') as FixtureInput;

function read(name: string): unknown {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}
