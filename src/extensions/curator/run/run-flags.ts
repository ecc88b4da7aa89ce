// Owns the flags of auto-run: every spelling, default and clamp, completed with this home's places, and which skills they let be written (seed 002,
// inputs and steps 7d and 7e; curator notes 8.1, 8.4).
import type { JsonObject, JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { caseFold } from '#base/text/code-points.ts';
import type { Ground } from '#core/agent/room.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { MOST_VARIANTS } from '../block/managed-block.ts';
import { isWritableSource } from '../block/skill-source.ts';

export type RunFlags = ReturnType<typeof readRunFlags>;

/** Reads flags named as on the command line (`--max-skills`), in JSON (`max_skills`) or in code (`maxSkills`). */
export function readRunFlags(given: JsonObject, defaultHome: string) {
  const fields = new Map(Object.entries(given).map(([key, value]) => [snakeCase(key), value]));
  const field = (...names: readonly string[]) =>
    names.map((name) => fields.get(name)).find((value) => value !== undefined && value !== null);
  const on = (...names: readonly string[]) => isOn(field(...names));
  const text = (...names: readonly string[]) => textOf(field(...names));
  const whole = (name: string) => wholeOf(field(name));
  const number = (name: string, byDefault: number, most: number) => clamp(whole(name) || byDefault, 1, most);
  const backupDir = text('backup_dir') ?? `${defaultHome}/plugins/curator-evolver/backups`;
  const skillsDir = text('skills_dir') ?? `${defaultHome}/skills`;
  const home = text('hermes_home', 'home') ?? homeOf(skillsDir, defaultHome);
  return {
    limits: {
      days: clamp(whole('days') ?? 7, 1, 3650),
      maxSkills: number('max_skills', 3, 25),
      minEvidence: number('min_evidence', 2, 1000),
      variants: number('variants', 1, MOST_VARIANTS),
    },
    /** As given; reranking implies the semantic order. */
    order: { semantic: on('semantic_candidates', 'semantic'), rerank: on('rerank_candidates', 'rerank') },
    policy: {
      apply: on('apply_low_risk'),
      approve: on('approve_auto_apply'),
      protectCore: !on('no_protect_core_skills') && isOn(field('protect_core_skills') ?? true),
      allow: patterns(field('auto_apply_allowlist', 'allow_auto_apply_skill', 'allow_auto_apply_skills')),
      block: patterns(field('auto_apply_blocklist', 'block_auto_apply_skill', 'block_auto_apply_skills')),
    },
    checks: {
      /** As given; a pre-verify command switches the stages on too. */
      staged: on('staged_verify'),
      preVerify: text('pre_verify_command'),
      verify: text('verify_command'),
      verifyCwd: text('verify_cwd'),
      requireDrill: on('require_restore_drill'),
      drillStatePath:
        text('restore_drill_state_path', 'restore_drill_state_file') ?? `${backupDir}/restore-drill-state.json`,
    },
    places: {
      ...{ dbPath: text('db_path'), skillsDir, backupDir, home },
      localSkillsDir: text('local_skills_dir') ?? `${home}/skills`,
      externalDirs: patterns(field('external_dirs')),
      bundledCount: whole('bundled_skill_count') ?? 0,
      hubCount: whole('hub_installed_skill_count') ?? 0,
    },
  };
}

function snakeCase(key: string): string {
  return key
    .replace(/^-+/, '')
    .replaceAll('-', '_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/** A folder named `skills` lies in its home. */
function homeOf(skillsDir: string, defaultHome: string): string {
  const parts = skillsDir.replace(/\/+$/, '').split('/');
  return parts.length > 1 && parts.at(-1) === 'skills' ? parts.slice(0, -1).join('/') : defaultHome;
}

function isOn(value: JsonValue | undefined): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|yes|on|1)$/i.test(value));
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function wholeOf(value: JsonValue | undefined): number | null {
  const number = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : NaN;
  return Number.isFinite(number) ? Math.trunc(number) : null;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function patterns(value: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((entry) => String(entry).trim()).filter((entry) => entry !== '');
}

export type RunSettings = ReturnType<typeof runSettings>;

/** For the planner too (`given`), every path absolute. `known`: what only the disk and the configuration tell, by the planner's names. */
export function runSettings({ places }: Ground, flags: JsonObject, known: JsonObject = {}) {
  // Under one spelling, so that a completed flag stands for the typed one.
  const typed = Object.entries(flags).flatMap(([key, value]) => {
    const name = snakeCase(key).replace(/^restore_drill_state_file$/, 'restore_drill_state_path');
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  const plain = { backup_dir: places.skillBackups, ...Object.fromEntries(typed) };
  const own = readRunFlags(plain, places.home);
  const at = (path: string) => typedPath(path, { cwd: places.home, userHome: places.userHome });
  const skillsDir = at(own.places.skillsDir);
  const given = {
    ...plain,
    skills_dir: skillsDir,
    backup_dir: at(own.places.backupDir),
    hermes_home: places.home,
    local_skills_dir: places.skills,
    restore_drill_state_path: at(own.checks.drillStatePath),
    verify_cwd: at(own.checks.verifyCwd ?? skillsDir),
    ...known,
  };
  const read = readRunFlags(given, places.home);
  const isLocal = realPath(skillsDir) === realPath(places.skills);
  return { given, flags: read, isLocal, writes: read.policy.apply && read.policy.approve };
}

export const CORE_PATTERNS: readonly string[] = [
  ...['hermes-agent', 'hermes-*', 'gsd-*', 'github-*', 'mcp-*', 'native-mcp', 'claude-code', 'codex', 'opencode'],
  ...['subagent-*', 'systematic-debugging', 'test-driven-development', 'debugging-hermes-*'],
  'requesting-code-review',
];

/** Why unattended writing may not touch a skill, by source and name (checks 3 to 6); null: it may. */
export function policyReason(name: string, source: string, policy: RunFlags['policy']): string | null {
  const fits = (list: readonly RegExp[]) => list.some((pattern) => pattern.test(caseFold(name)));
  if (!isWritableSource(source)) return 'source-not-agent-created';
  if (fits(policy.block.map(globPattern))) return 'auto-apply-blocklisted';
  if (policy.allow.length > 0) return fits(policy.allow.map(globPattern)) ? null : 'auto-apply-not-allowlisted';
  return policy.protectCore && fits(CORE) ? 'core-skill-auto-apply-protected' : null;
}

/** A bracket right after `[` or `[!` belongs to the set. */
const TOKEN = /\[(?:!(\][^\]]*|[^\]]+)|(\][^\]]*|[^\]!][^\]]*))\]|[\s\S]/gu;

export function matchesGlob(name: string, pattern: string): boolean {
  return globPattern(pattern).test(caseFold(name));
}

/**
 * For whole case-folded names, of a pattern of the original's shell style (`*`, `?`, `[a-z]`, `[!a]`); `path.matchesGlob` knows
 * other ones. What stands between two stars is taken where it first fits, so that no pattern takes long.
 */
function globPattern(pattern: string): RegExp {
  const parts = [''];
  for (const [token, denied, allowed] of caseFold(pattern).matchAll(TOKEN)) {
    if (token === '*') parts.push('');
    else parts.push(`${parts.pop()}${stepSource(token, denied, allowed)}`);
  }
  const [head = '', ...rest] = parts;
  const tail = rest.pop();
  const middle = rest.map((part, at) => `(?=([^]*?${part}))\\${at + 1}`).join('');
  return new RegExp(tail === undefined ? `^${head}$` : `^${head}${middle}[^]*${tail}$`, 'u');
}

function stepSource(token: string, denied: string | undefined, allowed: string | undefined): string {
  if (token === '?') return '[^]';
  const set = denied ?? allowed ?? token;
  const ranges = (set.match(/.-.|./gsu) ?? []).map((range) => {
    const [low, high] = [...range].length === 3 ? [[...range][0], [...range][2]] : [range, range];
    const [from = 0, to = 0] = [low?.codePointAt(0), high?.codePointAt(0)];
    return from > to ? '' : `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`;
  });
  return `[${denied === undefined ? '' : '^'}${ranges.join('')}]`;
}

const CORE = CORE_PATTERNS.map(globPattern);
