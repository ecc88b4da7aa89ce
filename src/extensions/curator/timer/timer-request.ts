// Owns what the owner asks of a timer, and the command that the timer then runs (curator notes 15). Pure.
// Invariant: without `writing` the command has neither write flag; no key-shaped text gets into it.
import { join } from 'node:path';
import { findSecrets } from '#base/secrets.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { findProgram } from './timer-places.ts';
import type { TimerSpec } from './units/timer-spec.ts';

export interface TimerRequest {
  readonly schedule: string;
  /** Absolute. */
  readonly skillsDir: string;
  /** Skills are written while nobody looks on; otherwise each run only plans. */
  readonly writing: boolean;
  readonly order: { readonly semantic: boolean; readonly rerank: boolean };
  readonly policy: {
    readonly protectCore: boolean;
    readonly allow: readonly string[];
    readonly block: readonly string[];
  };
  /** `command` undefined: our own check; null: none. `cwd`: default the skills folder. */
  readonly verify: { readonly command?: string | null; readonly cwd?: string };
}

export type RequestGround = Pick<CuratorGround, 'places' | 'program' | 'variables'>;

export interface Verification {
  readonly command: string | null;
  readonly cwd: string | null;
}

/** What a writing run checks with. A run that writes nothing checks nothing. */
export function verificationOf({ writing, verify, skillsDir }: TimerRequest, ground: RequestGround): Verification {
  const command = verify.command === undefined ? ownVerifier(startedAs(ground)) : verify.command;
  if (!writing || command === null) return { command: null, cwd: null };
  return { command, cwd: verify.cwd ?? skillsDir };
}

export function timerSpec(request: TimerRequest, ground: RequestGround): TimerSpec {
  const { home, userHome } = ground.places;
  const logs = join(home, 'logs');
  return {
    program: startedAs(ground),
    args: ['curator', 'auto-run', ...runFlags(request, verificationOf(request, ground))],
    schedule: request.schedule,
    env: home === join(userHome, '.talaria') ? {} : { TALARIA_HOME: home },
    logs: { out: join(logs, 'curator-auto.out.log'), err: join(logs, 'curator-auto.err.log') },
  };
}

/** A file that everybody may read is no place for a key. */
export function holdsSecret({ program, args }: TimerSpec): boolean {
  return [...program, ...args].some((word) => findSecrets(word).length > 0);
}

/** The scheduler has another PATH than the person. */
function startedAs({ program: [name = 'talaria', ...first], variables }: RequestGround): readonly string[] {
  return [findProgram(name, variables) ?? name, ...first];
}

function runFlags({ skillsDir, writing, order, policy }: TimerRequest, verify: Verification): readonly string[] {
  const when = (on: boolean, ...words: readonly string[]) => (on ? words : []);
  return [
    ...['--skills-dir', skillsDir, '--format', 'json'],
    ...when(order.semantic, '--semantic-candidates'),
    ...when(order.rerank, '--rerank-candidates'),
    ...when(writing, '--apply-low-risk', '--approve-auto-apply'),
    policy.protectCore ? '--protect-core-skills' : '--no-protect-core-skills',
    ...policy.allow.flatMap((pattern) => ['--allow-auto-apply-skill', pattern]),
    ...policy.block.flatMap((pattern) => ['--block-auto-apply-skill', pattern]),
    ...when(verify.command !== null, '--verify-command', verify.command ?? ''),
    ...when(verify.cwd !== null, '--verify-cwd', verify.cwd ?? ''),
  ];
}

/** `program`: what starts Talaria. One line for `/bin/sh -c`. */
export function ownVerifier(program: readonly string[]): string {
  return [...program, 'curator', 'skill-validate'].map(shellWord).join(' ');
}

function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
