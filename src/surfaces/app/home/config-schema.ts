// Owns the shape of config.yaml and what each key means; docs/reference/config.md is generated from the descriptions.
// Knows no file. Invariant: every key has a default, so that an empty file is a whole configuration (notes core 2.1).

import { z } from 'zod';
import { DEFAULT_MAX_STEPS } from '#core/agent/turn/stop-conditions.ts';

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
  path: z
    .string()
    .optional()
    .describe('GGUF file of a local engine; relative paths start in the models folder of the home.'),
  context_length: z.int().min(1024).optional().describe('Context window in tokens.'),
  tool_calling: z
    .enum(['structured', 'text'])
    .optional()
    .describe('How tools are called; default by the name of the model.'),
  input_price: z.number().min(0).optional().describe('US dollars for a million input tokens.'),
  output_price: z.number().min(0).optional().describe('US dollars for a million output tokens.'),
});

const agent = z.object({
  max_steps: z.int().min(1).max(10_000).default(DEFAULT_MAX_STEPS).describe('Model calls that one turn may take.'),
  max_cost: z.number().positive().optional().describe('US dollars that one turn may cost; no limit when absent.'),
  tool_output_chars: z.int().min(500).optional().describe('Characters of one tool result that the model sees.'),
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

const memory = z.object({
  enabled: z.boolean().default(true).describe('Put MEMORY.md and USER.md into the prompt and offer the memory tool.'),
  provider: z.string().default('').describe('One external memory provider beside the files.'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe(`What that provider is given, by name of variable; secrets as \`\${NAME}\`, kept in .env.`),
  nudge_interval: z
    .int()
    .min(0)
    .default(10)
    .describe('Turns of the owner until the conversation is reviewed for facts to keep; 0: never.'),
});

/** hermes-agent writes `write_approval` as a boolean: true asks. */
const writeApproval = z.preprocess(
  (value) => (typeof value === 'boolean' ? (value ? 'draft' : 'apply') : value),
  z.enum(['draft', 'apply']),
);

const skills = z.object({
  enabled: z.boolean().default(true).describe('List skills in the prompt and offer the skill tools.'),
  creation_nudge_interval: z
    .int()
    .min(0)
    .default(10)
    .describe('Steps with tool calls until the conversation is reviewed for procedures; 0: never.'),
  write_approval: writeApproval
    .default('draft')
    .describe('New skills of unattended surfaces: wait as drafts for your yes, or `apply` at once.'),
  external_dirs: z.array(z.string()).default([]).describe('Further folders of skills, read only.'),
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

const learning = z.object({
  enabled: z.boolean().default(true).describe('Review conversations in the background.'),
  budget: z
    .object({
      hour: z.int().min(0).optional().describe('Tokens of any 60 minutes; none: a fifth of the day.'),
      day: z.int().min(0).optional().describe('Tokens of any 24 hours; none: by `budget_share` and `budget_floor`.'),
    })
    .prefault({})
    .describe('What learning may cost at most.'),
  budget_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('Share of all other tokens of a day that learning may take, where `budget.day` says nothing.'),
  budget_floor: z
    .int()
    .min(0)
    .default(100_000)
    .describe('Tokens a day that it may take at least, where `budget.day` says nothing.'),
});

/** `web.enabled` alone decides whether the web toolset is shown. */
const web = z.object({
  enabled: z.boolean().default(false).describe('Offer web_fetch.'),
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

const tierList = z.array(modelName).default([]);

export const configSchema = z.object({
  version: z.int().min(1).default(CONFIG_VERSION).describe('Version of this file.'),
  model: z.union([modelName, modelMap]).optional().describe('Model for every turn, or a map with its endpoint.'),
  providers: z.record(z.string(), provider).default({}).describe('Endpoints by name.'),
  tiers: z
    .object({
      T1: tierList.describe('Small and fast, in order of preference.'),
      T2: tierList.describe('Deliberate, in order of preference.'),
    })
    .prefault({})
    .describe('Models by tier; the first that answers is used.'),
  toolsets: z.array(z.string()).default(['default']).describe('Toolsets that are offered to the model.'),
  agent: agent.prefault({}).describe('The turn.'),
  terminal: terminal.prefault({}).describe('The terminal tool.'),
  sandbox: sandbox.prefault({}).describe('Walls around commands.'),
  approvals: approvals.prefault({}).describe('Questions before risky commands.'),
  command_allowlist: z.array(z.string()).default([]).describe('Exact commands and walls that were allowed for good.'),
  prompt_caching: promptCaching.prefault({}).describe('Cache marks of the prompt.'),
  memory: memory.prefault({}).describe('What is remembered across sessions.'),
  web: web.prefault({}).describe('Access to the web.'),
  reflex: reflex.prefault({}).describe('The tier that needs no model.'),
  skills: skills.prefault({}).describe('Procedures that are kept.'),
  embedding: embedding.prefault({}).describe('Vectors beside words, for finding skills by meaning.'),
  learning: learning.prefault({}).describe('Reviews and what they may cost.'),
  compression: compression.prefault({}).describe('Long conversations.'),
});

export type Config = z.infer<typeof configSchema>;
export type ProviderConfig = z.infer<typeof provider>;
