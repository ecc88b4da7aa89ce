// Owns asking the verifiers one after the other until one fails (curator notes 11.3). Knows no verifier and no backup.
// Invariant: the stages say what was asked and in which order; nobody is asked after a failure.
import type { SkillManifest } from '../backup/skill-manifest.ts';
import type { Verifier, VerifierRequest } from './verifier.ts';

export interface Verified {
  readonly passed: boolean;
  /** For the manifest. */
  readonly verify: SkillManifest['verify'];
  /** `<name>: <detail>` of the stage that failed. */
  readonly failure: string;
}

const OUTPUT = 4_000;

export async function runVerifiers(verifiers: readonly Verifier[], request: VerifierRequest): Promise<Verified> {
  const stages: { readonly name: string; readonly passed: boolean; readonly detail: string }[] = [];
  for (const verifier of verifiers) {
    const { passed, detail } = await verifier.verify(request);
    stages.push({ name: verifier.name, passed, detail: detail.slice(-OUTPUT) });
    if (!passed) break;
  }
  const failed = stages.find(({ passed }) => !passed);
  return {
    passed: failed === undefined,
    failure: failed === undefined ? '' : `${failed.name}: ${failed.detail}`,
    verify: {
      enabled: true,
      passed: failed === undefined,
      exit_code: failed === undefined ? 0 : 1,
      output: failed?.detail ?? '',
      staged: true,
      stages,
      ...(failed ? { failed_stage: failed.name } : {}),
    },
  };
}
