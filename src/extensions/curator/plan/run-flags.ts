// Owns the flags of auto-run: every spelling, default and clamp (seed 002, inputs; curator notes 8.1). Pure. Invariant: total; writing is
// on only when both write flags are literally on.
import type { JsonObject, JsonValue } from '#base/json.ts';
import { MOST_VARIANTS } from '../block/variant.ts';

export interface RunFlags {
  readonly limits: {
    readonly days: number;
    readonly maxSkills: number;
    readonly minEvidence: number;
    readonly variants: number;
  };
  /** As given; reranking implies the semantic order. */
  readonly order: { readonly semantic: boolean; readonly rerank: boolean };
  readonly policy: {
    readonly apply: boolean;
    readonly approve: boolean;
    readonly protectCore: boolean;
    readonly allow: readonly string[];
    readonly block: readonly string[];
  };
  readonly checks: {
    /** As given; a pre-verify command switches the stages on too. */
    readonly staged: boolean;
    readonly preVerify: string | null;
    readonly verify: string | null;
    readonly verifyCwd: string | null;
    readonly requireDrill: boolean;
    readonly drillStatePath: string;
  };
  readonly places: {
    readonly dbPath: string | null;
    readonly skillsDir: string;
    readonly backupDir: string;
    readonly home: string;
    readonly localSkillsDir: string;
    readonly externalDirs: readonly string[];
    readonly bundledCount: number;
    readonly hubCount: number;
  };
}

type Field = (...names: readonly string[]) => JsonValue | undefined;

/** Reads flags named as on the command line (`--max-skills`), in JSON (`max_skills`) or in code (`maxSkills`). */
export function readRunFlags(given: JsonObject, defaultHome: string): RunFlags {
  const field = fieldReader(given);
  const backupDir = text(field('backup_dir')) ?? `${defaultHome}/plugins/curator-evolver/backups`;
  const skillsDir = text(field('skills_dir')) ?? `${defaultHome}/skills`;
  const home = text(field('hermes_home', 'home')) ?? homeOf(skillsDir, defaultHome);
  return {
    limits: {
      days: clamp(whole(field('days')) ?? 7, 1, 3650),
      maxSkills: clamp(whole(field('max_skills')) || 3, 1, 25),
      minEvidence: clamp(whole(field('min_evidence')) || 2, 1, 1000),
      variants: clamp(whole(field('variants')) || 1, 1, MOST_VARIANTS),
    },
    order: {
      semantic: isOn(field('semantic_candidates', 'semantic')),
      rerank: isOn(field('rerank_candidates', 'rerank')),
    },
    policy: {
      apply: isOn(field('apply_low_risk')),
      approve: isOn(field('approve_auto_apply')),
      protectCore: protectsCore(field),
      allow: patterns(field('auto_apply_allowlist', 'allow_auto_apply_skill', 'allow_auto_apply_skills')),
      block: patterns(field('auto_apply_blocklist', 'block_auto_apply_skill', 'block_auto_apply_skills')),
    },
    checks: {
      staged: isOn(field('staged_verify')),
      preVerify: text(field('pre_verify_command')),
      verify: text(field('verify_command')),
      verifyCwd: text(field('verify_cwd')),
      requireDrill: isOn(field('require_restore_drill')),
      drillStatePath:
        text(field('restore_drill_state_path', 'restore_drill_state_file')) ?? `${backupDir}/restore-drill-state.json`,
    },
    places: {
      dbPath: text(field('db_path')),
      skillsDir,
      backupDir,
      home,
      localSkillsDir: text(field('local_skills_dir')) ?? `${home}/skills`,
      externalDirs: patterns(field('external_dirs')),
      bundledCount: whole(field('bundled_skill_count')) ?? 0,
      hubCount: whole(field('hub_installed_skill_count')) ?? 0,
    },
  };
}

function fieldReader(given: JsonObject): Field {
  const fields = new Map(Object.entries(given).map(([key, value]) => [snakeCase(key), value]));
  return (...names) => names.map((name) => fields.get(name)).find((value) => value !== undefined && value !== null);
}

/** `--max-skills` and `maxSkills` as `max_skills`. */
export function snakeCase(key: string): string {
  return key
    .replace(/^-+/, '')
    .replaceAll('-', '_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

function protectsCore(field: Field): boolean {
  if (isOn(field('no_protect_core_skills'))) return false;
  const given = field('protect_core_skills');
  return given === undefined || isOn(given);
}

/** A folder named `skills` lies in its home. */
function homeOf(skillsDir: string, defaultHome: string): string {
  const parts = skillsDir.replace(/\/+$/, '').split('/');
  return parts.length > 1 && parts.at(-1) === 'skills' ? parts.slice(0, -1).join('/') : defaultHome;
}

function isOn(value: JsonValue | undefined): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|yes|on|1)$/i.test(value));
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function whole(value: JsonValue | undefined): number | null {
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
