// Owns golem.toml: what an owner may set of one golem, its defaults, and what is wrong with it by line and key. Knows no home and no store.
// Invariants: every key has a default; an unknown or wrong one is a refusal that names line and key; the text is never rewritten after birth.
import { z } from 'zod';
import { errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { DOMAINS, PRESETS } from '#fleet/styx/clade.ts';
import { MOOD_THRESHOLDS } from './vitals.ts';

/** The form that this version reads. */
const VERSION = 1;

export const GOLEM_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

const share = z.number().min(0).max(1);
const feeling = z.number().min(-1).max(1);
const tier = z.enum(['T1', 'T2']);
const paths = z.array(z.string().min(1)).default([]).describe('Beside its own scratch folder; `:ro` for reading.');
const hosts = z.array(z.string().min(1)).default([]).describe('That it may reach.');
const timeout = z.number().positive().max(3_600).default(60).describe('Seconds.');

const named = { name: z.string().regex(GOLEM_NAME), run: z.string().min(1) };

const check = z.strictObject({
  ...named,
  every: z.number().min(0).max(86_400).default(0).describe('Seconds between two runs; 0: at each heartbeat.'),
  ...{ timeout, paths, hosts },
});

const remedy = z.strictObject({ ...named, needs_owner: z.boolean().default(false), timeout, paths, hosts });

const price = z.number().min(0).optional().describe('US dollars for a million tokens; unknown: it counts as none.');
const asked = { model: z.string().min(1), tier, input_price: price, output_price: price };
const endpoint = z.strictObject({ endpoint: z.url(), ...asked });
const provider = z.strictObject({
  name: z.string().min(1),
  endpoint: z.url().optional(),
  ...asked,
  api_key: z
    .string()
    .regex(/^\$\{[A-Z][A-Z0-9_]*\}$/, 'names a variable in $' + '{}, and holds no key')
    .optional(),
});

const { arousal, ...bounds } = MOOD_THRESHOLDS;

const hermes = z.strictObject({
  mode: z.enum(['embedded', 'sidecar']).default('embedded'),
  inference_source: z.literal('golem').default('golem'),
  skill_creation_model: tier.default('T1'),
  skill_evolution_model: tier.default('T2'),
  socket: z.string().min(1).optional(),
  feedback_flush_interval: z.int().min(1).default(10),
  curator_interval: z.int().min(1).default(50),
  dream_interval: z.int().min(1).default(200),
  affect_modulation: z
    .strictObject({
      arousal: feeling.default(arousal),
      pleasure_low: feeling.default(bounds.pleasureLow),
      pleasure_high: feeling.default(bounds.pleasureHigh),
      dominance_high: feeling.default(bounds.dominanceHigh),
      dominance_low: feeling.default(bounds.dominanceLow),
    })
    .prefault({})
    .transform((at) => ({
      ...{ arousal: at.arousal, pleasureLow: at.pleasure_low, pleasureHigh: at.pleasure_high },
      ...{ dominanceHigh: at.dominance_high, dominanceLow: at.dominance_low },
    })),
});

const heartbeat = z.strictObject({
  base_interval_seconds: z.number().min(0.001).max(86_400).default(60),
  base_deliberation_threshold: share.default(0.3),
  max_daily_cost_usd: z.number().min(0).default(10),
  max_daily_tokens: z.int().min(0).optional(),
  max_actions: z.int().min(1).max(100).default(8),
});

const golem = z.strictObject({
  name: z.string().regex(GOLEM_NAME),
  domain: z.enum(DOMAINS).default('watch'),
  archetype: z.string().min(1).default('observer'),
  preset: z.enum(PRESETS).default('balanced'),
  max_ticks: z.int().min(1).default(200_000),
  dir: z.string().optional().describe('Folder that it looks at.'),
  credit_usd: z.number().positive().optional().describe('What it may spend in its life; none: no end by money.'),
});

const coding = z.strictObject({
  test: z.string().min(1).optional().describe('Found in the repository when it is not named.'),
  every: z.number().min(0).default(900).describe('Seconds until the tests run again although nothing changed.'),
  timeout: timeout.default(600),
  hosts,
  deny: z.array(z.string().min(1)).default(['publish', 'deploy', 'release', 'push']).describe('Never run.'),
});

const sim = z.strictObject({ seed: z.int().min(0).default(1), stream: z.int().min(0).default(1) });

const schema = z.strictObject({
  version: z.literal(VERSION).default(VERSION),
  golem,
  heartbeat: heartbeat.prefault({}),
  hermes: hermes.prefault({}),
  check: z.array(check).default([]),
  remedy: z.array(remedy).default([]),
  coding: coding.prefault({}),
  sim: sim.prefault({}),
  inference: z
    .strictObject({ 'local-hermes': endpoint.optional(), providers: z.array(provider).default([]) })
    .prefault({}),
});

export type GolemSettings = z.output<typeof schema>;
/** As it is written: every key may be left out but the name. */
export type GolemDraft = z.input<typeof schema>;

export type TomlRefusal = 'golem-toml-torn' | 'golem-toml-newer' | 'golem-toml-invalid';

/** `path`: how refusals call the file. */
export async function readGolemToml(text: string, path = 'golem.toml'): Promise<Result<GolemSettings, TomlRefusal>> {
  const { parse } = await import('smol-toml');
  let raw: Record<string, unknown>;
  try {
    raw = parse(text);
  } catch (error) {
    const line = error instanceof Error && 'line' in error ? `:${error.line}` : '';
    const why = errorText(error).split('\n')[0] ?? '';
    return refuse('golem-toml-torn', `${path}${line} is no TOML: ${why.replace('Invalid TOML document: ', '')}.`);
  }
  const { version } = raw;
  if (typeof version === 'number' && version > VERSION)
    return refuse('golem-toml-newer', `${path} is of version ${version}; this Talaria reads version ${VERSION}.`);
  const read = schema.safeParse(raw);
  if (read.success) return unique(read.data, path);
  const [issue] = read.error.issues;
  if (issue === undefined) return refuse('golem-toml-invalid', `${path} is not as it has to be.`);
  const [extra] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const keys = [...issue.path.map(String), ...(extra === undefined ? [] : [extra])];
  const what = extra === undefined ? issueText(issue) : 'there is no such key';
  return refuse('golem-toml-invalid', `${path}:${lineOf(text, keys)}: ${keys.join('.')}: ${what}.`);
}

function unique(settings: GolemSettings, path: string): Result<GolemSettings, 'golem-toml-invalid'> {
  for (const kind of ['check', 'remedy'] as const) {
    const names = settings[kind].map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) return refuse('golem-toml-invalid', `${path}: ${kind}.name: ${twice} stands there twice.`);
  }
  return ok(settings);
}

/** Line of the deepest key of the path that is found, going down from its table; 1 when none is. */
function lineOf(text: string, keys: readonly string[]): number {
  const lines = text.split('\n');
  let at = 0;
  for (const key of keys) {
    if (/^\d+$/.test(key)) {
      const table = lines[at]?.trim();
      const all = lines.flatMap((line, index) => (line.trim() === table ? [index] : []));
      at = all[Number(key)] ?? at;
      continue;
    }
    const found = lines.findIndex((line, index) => index >= at && names(line, key));
    if (found >= 0) at = found;
  }
  return at + 1;
}

function names(line: string, key: string): boolean {
  const code = line.replace(/#.*$/, '');
  return new RegExp(`(?:^|[\\[{.,\\s"'])${RegExp.escape(key)}["']?\\s*(?:[\\].=]|$)`).test(code);
}

/** golem.toml of a newborn: what was chosen, and the keys that are asked for most with their defaults. */
export async function writeGolemToml(draft: GolemDraft): Promise<string> {
  const { stringify } = await import('smol-toml');
  const { heartbeat: pace = {}, ...rest } = draft;
  const asked = { base_interval_seconds: 60, max_daily_cost_usd: 10, max_actions: 8, ...pace };
  const text = stringify({ version: VERSION, ...rest, heartbeat: asked });
  const example = (draft.golem.domain ?? 'watch') === 'watch' ? WATCH_EXAMPLE : '';
  return `# What this golem looks at and what it may do. docs/guide/golems.md names every key.\n${text}${example}`;
}

const WATCH_EXAMPLE = [
  '',
  '# A check is run at each heartbeat; a remedy may be tried when one fails. Both see the folder and write what `paths` names.',
  ...['# [[check]]', '# name = "disk"', '# run = "sh checks/disk.sh"', '#', '# [[remedy]]', '# name = "rotate-logs"'],
  ...['# run = "sh ops/rotate.sh"', '# paths = ["logs"]', '# needs_owner = false', ''],
].join('\n');
