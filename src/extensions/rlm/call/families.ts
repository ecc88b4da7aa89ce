// Owns who may answer inner calls: the turn (`default`), reflex, the families of config.yaml, and the presets whose program is there.
// Knows no run. Invariant: `default` and `reflex` are always there; a family that cannot answer says so when it is chosen, not in the middle.
// Seed 003, live portability; notes 10.2.
import { ok, type Result, refuse } from '#base/result.ts';
import { type FamilyConfig, type RlmConfig, readRlmConfig } from '../rlm-config.ts';
import type { RlmGround, RlmMind } from '../rlm-ground.ts';
import { tierOf } from './call-tier.ts';
import type { InnerCall } from './inner-call.ts';
import { depthOutside } from './nesting.ts';
import { createProcessCall, type ProcessSurroundings } from './process-call.ts';
import { FAMILY_PRESETS, type FamilyPreset, presetModel } from './program/family-presets.ts';
import { findProgram, programMissing } from './program/find-program.ts';
import { createTurnCall } from './turn-call.ts';

export type FamilyGround = Pick<RlmGround, 'clock' | 'variables'>;
export type FamilyMind = Pick<RlmMind, 'runTurn' | 'config' | 'redact'>;

/** By name, in the order in which they are shown. Throws `config-invalid` naming line and key. Starts nothing. */
export function openFamilies(ground: FamilyGround, mind: FamilyMind): ReadonlyMap<string, InnerCall> {
  const config = readRlmConfig(mind);
  const calls = new Map<string, InnerCall>();
  const { runTurn } = mind;
  const { clock } = ground;
  calls.set('default', createTurnCall({ family: 'default', runTurn, tier: tierOf, clock }));
  calls.set('reflex', createTurnCall({ family: 'reflex', runTurn, tier: () => 'T0', clock }));
  const surroundings = surroundingsOf(ground, mind, config);
  for (const preset of presentPresets(ground)) calls.set(preset.family, presetCall(preset, surroundings));
  for (const [family, row] of Object.entries(config.families)) {
    const { command, model, env, input } = row;
    if (command !== undefined) calls.set(family, createProcessCall({ family, command, env, input, surroundings }));
    else if (model !== undefined) calls.set(family, createTurnCall({ family, runTurn, tier: tierOf, model, clock }));
  }
  return calls;
}

export type FamilyRefusal = 'rlm-family-unknown' | 'rlm-program-missing';

/** Asked before a run begins, so that a typing slip or a missing program is one clear sentence. Gives the names without repeats. */
export function checkFamilies(
  names: readonly string[],
  ground: FamilyGround,
  mind: Pick<FamilyMind, 'config'>,
): Result<readonly string[], FamilyRefusal> {
  const { families } = readRlmConfig(mind);
  const known = ['default', 'reflex', ...presentPresets(ground).map(({ family }) => family), ...Object.keys(families)];
  for (const name of names) {
    const missing = missingProgram(name, { ground, families });
    if (missing !== undefined) return refuse('rlm-program-missing', programMissing(name, missing));
    if (known.includes(name)) continue;
    const list = [...new Set(known)].join(', ');
    return refuse('rlm-family-unknown', `there is no family ${JSON.stringify(name)}; families: ${list}`);
  }
  return ok([...new Set(names)]);
}

interface Configured {
  readonly ground: FamilyGround;
  readonly families: Readonly<Record<string, FamilyConfig>>;
}

/** Name of the program that the family needs and that is not there. */
function missingProgram(name: string, { ground, families }: Configured): string | undefined {
  const row = Object.hasOwn(families, name) ? families[name] : undefined;
  const preset = FAMILY_PRESETS.find(({ family }) => family === name);
  const program = row === undefined ? preset?.program : row.command?.[0];
  if (program === undefined || findProgram(program, ground.variables.PATH) !== undefined) return undefined;
  return program;
}

function presentPresets({ variables }: FamilyGround): readonly FamilyPreset[] {
  return FAMILY_PRESETS.filter(({ program }) => findProgram(program, variables.PATH) !== undefined);
}

function presetCall(preset: FamilyPreset, surroundings: ProcessSurroundings): InnerCall {
  const { family, program, args, env, input, framed } = preset;
  const model = presetModel(preset, surroundings.variables);
  return createProcessCall({
    family,
    command: [program, ...args(model)],
    env,
    input,
    model: `${program}/${model}`,
    framed,
    surroundings,
  });
}

function surroundingsOf(
  { clock, variables }: FamilyGround,
  { redact }: FamilyMind,
  { startup_seconds, idle_seconds }: RlmConfig,
): ProcessSurroundings {
  const patience = { startup_ms: startup_seconds * 1_000, idle_ms: idle_seconds * 1_000 };
  return { variables, outside: depthOutside(variables), patience, redact, clock };
}
