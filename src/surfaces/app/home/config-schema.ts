// Owns the shape of config.yaml, what each key means (docs/reference/config.md is generated from the descriptions), and which name a misspelled
// one comes nearest to. Knows no file; sections of rooms it knows through their fronts. Invariants: every key has a default, so that an empty
// file is a whole configuration (notes core 2.1); names are read from the schema, so that a new setting is known at once.

import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { DEFAULT_MAX_STEPS } from '#core/agent/turn/run-step.ts';
import { typingErrors } from '#mind/sessions/search/word-variants.ts';
import { loadRooms } from '../rooms.ts';

export const CONFIG_VERSION = 1;

const modelName = z.string().trim().min(1);

const modelMap = z
  .object({
    default: modelName.optional().describe('Model to use, `provider/model` or the name alone.'),
    model: modelName.optional().describe('The same as `default`.'),
    provider: z.string().optional().describe('Provider of the model, when its name does not say so.'),
    base_url: z.string().optional().describe('Address of an OpenAI-compatible endpoint.'),
    api_key: z.string().optional().describe(`Reference to a variable, \`\${NAME}\`; keys belong in .env.`),
    context_length: z.int().min(1024).optional().describe('Context window in tokens.'),
  })
  .describe('A model with its endpoint.');

const provider = z.object({
  kind: z
    .enum(['openai', 'anthropic', 'llama'])
    .optional()
    .describe('Wire format: OpenAI-compatible (default), Anthropic, or the local engine.'),
  base_url: z.string().optional().describe('Address up to and including `/v1`.'),
  api_key: z.string().optional().describe(`Reference to a variable, \`\${NAME}\`; keys belong in .env.`),
  default_model: modelName.optional().describe('Model when none is named.'),
  payment: z
    .enum(['key', 'x402'])
    .optional()
    .describe('x402: a call at a time, from the purse of a golem that may pay for Meta.'),
  path: z
    .string()
    .optional()
    .describe('GGUF file of a local engine; relative paths start in the models folder of the home.'),
  context_length: z.int().min(1024).optional().describe('Context window in tokens.'),
  tool_calling: z
    .enum(['structured', 'text'])
    .optional()
    .describe('How tools are called; default by the name of the model.'),
  vision: z.boolean().optional().describe('Whether it reads pictures; default by the name of the model.'),
  input_price: z.number().min(0).optional().describe('US dollars for a million input tokens.'),
  output_price: z.number().min(0).optional().describe('US dollars for a million output tokens.'),
});

const agent = z.object({
  max_steps: z.int().min(1).max(10_000).default(DEFAULT_MAX_STEPS).describe('Model calls that one turn may take.'),
  max_cost: z.number().positive().optional().describe('US dollars that one turn may cost; no limit when absent.'),
  tool_output_chars: z.int().min(500).optional().describe('Characters of one tool result that the model sees.'),
});

const tools = z.object({
  defer: z
    .enum(['auto', 'never', 'always'])
    .default('auto')
    .describe(
      'Tools that are found by tool_search instead of standing in the prompt: rare ones, and many of one server; none; all that may.',
    ),
});

const terminal = z.object({
  timeout: z.number().positive().max(86_400).default(180).describe('Seconds until a command is stopped.'),
});

/** Names of hosts, `name`, `name:port` or `*.name`. */
const sandbox = z.object({
  mode: z
    .enum(['auto', 'machine'])
    .default('auto')
    .describe(
      'Where commands run: inside walls wherever the machine can build them (`auto`), or as they are (`machine`), where the whole machine is the wall, e.g. a container of its own.',
    ),
  paths: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further folders that commands inside walls may write; with `:ro` at the end, hidden ones they may read.',
    ),
  hosts: z
    .array(z.string().min(1))
    .default([])
    .describe('Hosts that commands inside walls reach without a question: `name`, `name:port`, `*.name`.'),
  env: z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, 'it takes names of variables, without values'))
    .default([])
    .describe('Names of further variables that commands get, secrets too; without it they get those that hold none.'),
});

const approvals = z.object({
  mode: z
    .enum(['ask', 'off', 'deny'])
    .default('ask')
    .describe(
      'Risky commands: ask the person, run what stays in the folder and the network (`off`; the rest is asked, the hard list stays), or deny them. For one run: --permission-mode ask, auto (as `off`) or read-only; what is denied here stays denied.',
    ),
});

const embedding = z.object({
  base_url: z
    .string()
    .optional()
    .describe('Address of an OpenAI-compatible endpoint, up to and including `/v1`; none: words alone rank.'),
  api_key: z.string().optional().describe(`Reference to a variable, \`\${NAME}\`; keys belong in .env.`),
  model: modelName.optional().describe('Model that embeds.'),
  dimensions: z.int().min(8).max(16_384).optional().describe('Length of its vectors.'),
});

const compression = z.object({
  enabled: z.boolean().default(true).describe('Compress a conversation that fills its window.'),
  threshold: z
    .number()
    .min(0.1)
    .max(0.95)
    .default(0.5)
    .describe('Share of the context window at which older messages are compressed.'),
});

const webSearch = z.object({
  backend: z.enum(['searxng', 'brave', 'tavily', 'exa']).optional().describe('Who searches for web_search.'),
  base_url: z.string().optional().describe('Its address: of a searxng always, of the others when it is not their own.'),
  api_key: z.string().optional().describe(`Reference to a variable, \`\${NAME}\`; keys belong in .env.`),
});

/** `web.enabled` alone decides whether the web toolset is shown. */
const web = z.object({
  enabled: z.boolean().default(false).describe('Offer web_fetch, and web_search where a backend is set.'),
  search: webSearch.prefault({}).describe('Search engine of web_search.'),
  private_hosts: z.array(z.string()).default([]).describe('Hosts with private addresses that web_fetch may reach.'),
});

const reflex = z.object({
  first: z
    .boolean()
    .optional()
    .describe(
      'Let reflex/1 act first on lines of its own forms (run, read, recall). Unset: beside local models under 4B.',
    ),
});

const promptCaching = z.object({
  cache_ttl: z.enum(['5m', '1h']).default('5m').describe('How long a provider keeps the cached prompt.'),
});

/** What the house reads of it: which provider is opened, and what that is given. The rest is the room's. */
const memory = z.looseObject({
  provider: z.string().default(''),
  env: z.record(z.string(), z.string()).default({}),
});

/** Of the screens. */
const tui = z.object({
  sounds: z.enum(['off', 'bell']).default('off').describe('What golems do is heard as bells of the terminal.'),
});

const names = z.array(z.string().min(1)).default([]);

/** Of `talaria serve`. */
export const serveSchema = z.object({
  host: z.string().min(1).default('127.0.0.1').describe('Address that it listens at.'),
  port: z.int().min(0).max(65_535).default(8642).describe('Port; 0: any that is free.'),
  key: z.string().optional().describe(`Reference to a variable, \`\${NAME}\`; default \`TALARIA_API_KEY\`.`),
  api: z.boolean().default(true).describe('Serve the OpenAI-compatible API below /v1.'),
  mcp: z.boolean().default(true).describe('Serve MCP at /mcp.'),
  dashboard: z.boolean().default(true).describe('Serve the pages.'),
  max_turns: z.int().min(1).max(1_000).default(8).describe('Turns that run at once.'),
  allow_hosts: names.describe('Further names that clients may call it by.'),
  allow_origins: names.describe('Hosts of web pages that may call it.'),
  approvals: z
    .enum(['deny', 'off'])
    .default('deny')
    .describe('Risky calls of its turns: denied, or, with `off`, run as far as the folder and the network.'),
});

const telegram = z.object({
  token: z.string().optional().describe(`Reference to a variable, \`\${NAME}\`; default \`TELEGRAM_BOT_TOKEN\`.`),
  api_root: z.url().default('https://api.telegram.org').describe('Address of the Bot API.'),
  mode: z
    .enum(['polling', 'webhook'])
    .default('polling')
    .describe('Ask Telegram for messages, or let it call `webhook.url`, which needs `talaria serve`.'),
  webhook: z
    .object({
      url: z.string().default('').describe('Address, with https, at which Telegram reaches /hooks/telegram.'),
      secret: z
        .string()
        .optional()
        .describe(`Reference to a variable, \`\${NAME}\`; default \`TELEGRAM_WEBHOOK_SECRET\`.`),
    })
    .prefault({})
    .describe('Where Telegram calls.'),
  allow: z
    .array(z.union([z.string().min(1), z.int().transform(String)]))
    .default([])
    .describe('Ids of persons who are owners without a code.'),
  groups: z
    .enum(['mention', 'off'])
    .default('mention')
    .describe('In groups: answer persons who are known when they mention the bot or reply to it, or nobody.'),
  session_idle: z
    .string()
    .regex(/^[1-9]\d*[mhd]$/, 'it takes a number with m, h or d, e.g. 6h')
    .default('6h')
    .describe('Silence after which what was said is looked through for what to learn.'),
  progress: z.enum(['tools', 'off']).default('tools').describe('A line with the tools that a long turn uses.'),
});

const signedWebhook = z.object({
  secret: z
    .string()
    .default('')
    .describe(`Reference to a variable, \`\${NAME}\`, with the key that both sides sign with.`),
  callback: z
    .string()
    .optional()
    .describe('Address that answers are posted to; without it they stand in the response.'),
  seat: z.enum(['owner', 'guest']).default('guest').describe('Who calls.'),
});

/** Of `talaria gateway`. */
export const gatewaySchema = z.object({
  telegram: telegram.prefault({}).describe('The Telegram bot.'),
  webhook: z.record(z.string(), signedWebhook).default({}).describe('Signed webhooks by name: POST /hooks/NAME.'),
  guest_toolsets: names.describe('Toolsets that guests have.'),
});

const tierList = z.array(modelName).default([]);

export const configSchema = z.object({
  version: z.int().min(1).default(CONFIG_VERSION).describe('Version of this file.'),
  model: z.union([modelName, modelMap]).optional().describe('Model for every turn, or a map with its endpoint.'),
  providers: z.record(z.string(), provider).default({}).describe('Endpoints by name.'),
  tiers: z
    .object({
      T1: tierList.describe('Small and fast, in order of preference.'),
      T2: tierList.describe('Deliberate, in order of preference.'),
      strict: z
        .boolean()
        .default(false)
        .describe('Small work is asked of T1 alone, and fails when nobody of it answers.'),
    })
    .prefault({})
    .describe('Models by tier; the first that answers is used.'),
  toolsets: z.array(z.string()).default(['default']).describe('Toolsets that are offered to the model.'),
  tools: tools.prefault({}).describe('Tools and the prompt.'),
  agent: agent.prefault({}).describe('The turn.'),
  terminal: terminal.prefault({}).describe('The terminal tool.'),
  sandbox: sandbox.prefault({}).describe('Walls around commands.'),
  approvals: approvals.prefault({}).describe('Questions before risky commands.'),
  command_allowlist: z.array(z.string()).default([]).describe('Exact commands and walls that were allowed for good.'),
  prompt_caching: promptCaching.prefault({}).describe('Cache marks of the prompt.'),
  memory: memory.prefault({}).describe('What is remembered across sessions.'),
  web: web.prefault({}).describe('Access to the web.'),
  reflex: reflex.prefault({}).describe('The tier that needs no model.'),
  embedding: embedding.prefault({}).describe('Vectors beside words, for finding skills by meaning.'),
  compression: compression.prefault({}).describe('Long conversations.'),
  tui: tui.prefault({}).describe('The screens of golems.'),
  serve: serveSchema.prefault({}).describe('`talaria serve`.'),
  gateway: gatewaySchema.prefault({}).describe('`talaria gateway`.'),
});

export type Config = z.infer<typeof configSchema>;
export type ProviderConfig = z.infer<typeof provider>;

// Which dotted names config.yaml understands.

/** The names in `value`, each as far as it is unknown, that no setting of `schema` has. */
function unknownKeys(
  schema: z.ZodType,
  value: JsonValue | undefined,
  keys: readonly string[] = [],
): readonly (readonly string[])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = [...keys, key];
    return isKnown(schema, name) ? unknownKeys(schema, inner, name) : [name];
  });
}

/** What of `keys`, and below it of `value`, no setting of `schema` has; undefined when all are known. */
export function unknownKey(
  schema: z.ZodType,
  keys: readonly string[],
  value: JsonValue,
): readonly string[] | undefined {
  return isKnown(schema, keys) ? unknownKeys(schema, value, keys)[0] : keys;
}

/** The setting that was probably meant. */
export function nearestKey(schema: z.ZodType, keys: readonly string[]): string | undefined {
  const typed = keys.join('.');
  const last = keys.at(-1) ?? '';
  const rated = keyNames(schema, keys).map((name) => {
    const inPlace = typingErrors(typed, name, MOST_ERRORS);
    const misplaced = typingErrors(last, name.split('.').at(-1) ?? '', MOST_ERRORS - 1) + 0.5;
    return { name, errors: Math.min(inPlace, misplaced) };
  });
  rated.sort((a, b) => a.errors - b.errors);
  const [best] = rated;
  return best && best.errors <= MOST_ERRORS ? best.name : undefined;
}

const MOST_ERRORS = 3;

function isKnown(schema: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodUnion) return bare.options.some((option) => isKnown(option, [key, ...rest]));
  if (bare instanceof z.ZodRecord) return isKnown(bare.valueType, rest);
  if (bare instanceof z.ZodArray) return /^\d+$/.test(key) && isKnown(bare.element, rest);
  if (!(bare instanceof z.ZodObject)) return false;
  if (Object.hasOwn(bare.shape, key)) return isKnown(bare.shape[key], rest);
  const { catchall } = bare.def;
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

/** Dotted names of all settings; where any name may stand, the typed one does, and only what is below it counts. */
function keyNames(schema: unknown, typed: readonly string[], prefix = ''): readonly string[] {
  const bare = unwrapped(schema);
  const [key = 'NAME', ...rest] = typed;
  const below = (name: string, inner: unknown) => keyNames(inner, rest, prefix === '' ? name : `${prefix}.${name}`);
  if (bare instanceof z.ZodUnion) return bare.options.flatMap((option) => keyNames(option, typed, prefix));
  if (bare instanceof z.ZodRecord) return below(key, bare.valueType).slice(1);
  if (!(bare instanceof z.ZodObject)) return [prefix];
  const own = Object.entries(bare.shape).flatMap(([name, inner]) => below(name, inner));
  return prefix === '' ? own : [prefix, ...own];
}

function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrapped(schema.unwrap());
  return schema;
}

/** Of the whole config.yaml: Talaria's own settings and a section for each room; one that is removed takes its section with it. */
export async function settingsSchema(isAsked: (name: string) => boolean = () => true): Promise<z.ZodObject> {
  const sections: Record<string, z.ZodType> = {};
  for (const { name: room, section: name = room, settings } of await loadRooms()) {
    if (!settings || !isAsked(name)) continue;
    const section = await settings();
    sections[name] = section.prefault({}).describe(section.description ?? `Extension: ${name}.`);
  }
  return configSchema.extend(sections);
}

export interface UnknownSetting {
  readonly keys: readonly string[];
  /** The setting that was probably meant. */
  readonly near?: string;
}

/** What stands in the file and is no setting: it has no effect, and is kept when the file is written. */
export async function unknownSettings(raw: JsonObject): Promise<readonly UnknownSetting[]> {
  // Sections that are not there hold no wrong key, and most rooms have none; what was meant may stand in any of them.
  const unknown = unknownKeys(await settingsSchema((name) => Object.hasOwn(raw, name)), raw);
  if (unknown.length === 0) return [];
  const schema = await settingsSchema();
  return unknown.map((keys) => {
    const near = nearestKey(schema, keys);
    return { keys, ...(near === undefined ? {} : { near }) };
  });
}
