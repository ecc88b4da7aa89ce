// Owns asking the verifiers one after the other until one fails (curator notes 11.3). Knows no verifier and no backup.
// Invariant: the stages say what was asked and in which order; nobody is asked after a failure.
import { redactSecrets } from '#base/secrets.ts';
import type { Verifier, VerifierRequest, VerifyReport } from './verifier.ts';

export interface Verified {
  readonly passed: boolean;
  /** For the manifest. */
  readonly verify: VerifyReport;
  /** `<name>: <detail>` of the stage that failed. */
  readonly failure: string;
}

const OUTPUT = 4_000;

/** Never half a character, and no key that a command printed. */
function lastPart(text: string): string {
  const end = redactSecrets(text.slice(-4 * OUTPUT).toWellFormed());
  return Array.from(end).slice(-OUTPUT).join('');
}

export async function runVerifiers(verifiers: readonly Verifier[], request: VerifierRequest): Promise<Verified> {
  const stages: NonNullable<VerifyReport['stages']>[number][] = [];
  for (const verifier of verifiers) {
    const { passed, detail, exitCode = passed ? 0 : 1 } = await verifier.verify(request);
    stages.push({ name: verifier.name, passed, exit_code: exitCode, output: lastPart(detail) });
    if (!passed) break;
  }
  const failed = stages.find(({ passed }) => !passed);
  return {
    passed: failed === undefined,
    failure: failed === undefined ? '' : `${failed.name}: ${failed.output}`,
    verify: {
      enabled: true,
      passed: failed === undefined,
      exit_code: failed?.exit_code ?? 0,
      output: (failed ?? stages.at(-1))?.output ?? '',
      staged: true,
      stages,
      ...(failed ? { failed_stage: failed.name } : {}),
    },
  };
}
