// Owns who may answer inner calls: the turn (`default`), reflex, the families of config.yaml, and the presets whose program is there.
// Knows no run. Invariant: `default` and `reflex` are always there; a family that cannot answer says so when it is chosen, not in the middle.
// Seed 003, live portability; notes 10.2.

import { ok, type Result, refuse } from '#base/result.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { type FamilyConfig, readRlmConfig } from '../rlm-config.ts';
import { depthOutside, tierOf } from './call-limits.ts';
import type { InnerCall } from './inner-call.ts';
import { createProcessCall, findProgram, type ProcessSurroundings, programMissing } from './process-call.ts';
import { createTurnCall } from './turn-call.ts';

type FamilyGround = Pick<Ground, 'clock' | 'variables'>;
type Variables = Ground['variables'];

/** The three families of the seed's portability matrix; one of the same name in config.yaml wins. */
interface FamilyPreset {
  readonly family: string;
  readonly program: string;
  readonly model: string;
  /** Variable that names another model. */
  readonly override: string;
  /** Each is started so that it has nothing to act with: an empty folder, no tools or a read-only sandbox. */
  readonly args: (model: string) => readonly string[];
  readonly env: readonly string[];
  readonly framed: boolean;
}

const FAMILY_PRESETS: readonly FamilyPreset[] = [
  {
    family: 'hermes_glm',
    program: 'hermes',
    model: 'glm-4.7',
    override: 'RLM_FORGE_HERMES_GLM_MODEL',
    args: (model) => ['chat', '-Q', '--source', 'tool', '--model', model, '-q', '{prompt}'],
    env: ['HERMES_HOME', 'GLM_API_KEY', 'ZAI_API_KEY', 'OPENROUTER_API_KEY'],
    framed: true,
  },
  {
    family: 'claude_code_opus47',
    program: 'claude',
    model: 'opus',
    override: 'RLM_FORGE_CLAUDE_MODEL',
    args: (model) => ['-p', '--model', model, '--output-format', 'text', '--tools', '', '--system-prompt', '{system}'],
    env: ['CLAUDE_CONFIG_DIR', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
    framed: false,
  },
  {
    family: 'codex_gpt55',
    program: 'codex',
    model: 'gpt-5.5',
    override: 'RLM_FORGE_CODEX_MODEL',
    args: (model) => ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', '--model', model, '-'],
    env: ['CODEX_HOME', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    framed: false,
  },
];

/** By name, in the order in which they are shown. Throws `config-invalid` naming line and key. Starts nothing. */
export function openFamilies(
  ground: FamilyGround,
  mind: Pick<Mind, 'runTurn' | 'config' | 'redact'>,
): ReadonlyMap<string, InnerCall> {
  const { families } = readRlmConfig(mind);
  const { runTurn, redact } = mind;
  const { clock, variables } = ground;
  const surroundings: ProcessSurroundings = { variables, outside: depthOutside(variables), redact, clock };
  const calls = new Map<string, InnerCall>();
  calls.set('default', createTurnCall({ family: 'default', runTurn, tier: tierOf, clock }));
  calls.set('reflex', createTurnCall({ family: 'reflex', runTurn, tier: () => 'T0', clock }));
  for (const { family, program, args, env, framed, model, override } of presentPresets(variables)) {
    const chosen = variables[override]?.trim() || model;
    const command = [program, ...args(chosen)];
    const named = `${program}/${chosen}`;
    calls.set(family, createProcessCall({ family, command, env, input: 'prompt', model: named, framed, surroundings }));
  }
  for (const [family, { command, model, env, input }] of Object.entries(families)) {
    if (command !== undefined) calls.set(family, createProcessCall({ family, command, env, input, surroundings }));
    else if (model !== undefined) calls.set(family, createTurnCall({ family, runTurn, tier: tierOf, model, clock }));
  }
  return calls;
}

export type FamilyRefusal = 'rlm-family-unknown' | 'rlm-program-missing';

/** Asked before a run begins, so that a typing slip or a missing program is one clear sentence. Gives the names without repeats. */
export function checkFamilies(
  names: readonly string[],
  { variables }: FamilyGround,
  mind: Pick<Mind, 'config'>,
): Result<readonly string[], FamilyRefusal> {
  const { families } = readRlmConfig(mind);
  const presets = presentPresets(variables).map(({ family }) => family);
  const known = [...new Set(['default', 'reflex', ...presets, ...Object.keys(families)])];
  for (const name of names) {
    const program = programOf(name, families);
    if (program !== undefined && findProgram(program, variables.PATH) === undefined)
      return refuse('rlm-program-missing', programMissing(name, program));
    if (!known.includes(name))
      return refuse('rlm-family-unknown', `there is no family ${JSON.stringify(name)}; families: ${known.join(', ')}`);
  }
  return ok([...new Set(names)]);
}

function programOf(name: string, families: Readonly<Record<string, FamilyConfig>>): string | undefined {
  const row = Object.hasOwn(families, name) ? families[name] : undefined;
  return row === undefined ? FAMILY_PRESETS.find(({ family }) => family === name)?.program : row.command?.[0];
}

function presentPresets(variables: Variables): readonly FamilyPreset[] {
  return FAMILY_PRESETS.filter(({ program }) => findProgram(program, variables.PATH) !== undefined);
}
