// Owns which verifiers one write of the curator passes, from cheap to expensive (seed 002, staged verification; curator notes 11.3).
// Knows no door. Invariant: the structural stage is always first and starts no process; a command gets no variable that may be a secret.
import type { Verifier } from '#mind/skills/door/verify/verifier.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { structuralCheck } from '../../verify/structural-check.ts';

export interface VerifierPlan {
  readonly preVerify: string | null;
  readonly verify: string | null;
  /** Absolute; null: the skill's folder. */
  readonly cwd: string | null;
}

/** `signal` ends a command that runs. */
export async function verifiersOf(
  { preVerify, verify, cwd }: VerifierPlan,
  ground: CuratorGround,
  signal: AbortSignal,
): Promise<readonly Verifier[]> {
  const { commandVerifier } = await import('#mind/skills/door/verify/command-verifier.ts');
  const env = await ground.commandVariables();
  const walls = await ground.walls?.();
  const place = { ...(cwd === null ? {} : { cwd }), ...(walls ? { walls } : {}) };
  const commandOf = (name: string, command: string) => commandVerifier({ name, command, env, signal, ...place });
  return [
    structuralVerifier,
    ...(preVerify === null ? [] : [commandOf('pre-verify-command', preVerify)]),
    ...(verify === null ? [] : [commandOf('verify-command', verify)]),
  ];
}

const structuralVerifier: Verifier = {
  name: 'builtin-structural',
  verify: async ({ after }) => {
    if (after === null) return { passed: false, detail: 'read-failed: SKILL.md is not there', exitCode: 1 };
    const { passed, failures } = structuralCheck(after);
    return { passed, detail: failures.join(','), exitCode: passed ? 0 : 1 };
  },
};
