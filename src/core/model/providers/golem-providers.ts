// Owns who a golem asks for inference, in which order and for which tier (hierarchy R0.136), and what that makes of the tables of its golem.toml.
// Knows no file and no network. Invariants: the order is that of the list, whatever order was written; nobody is asked for a tier that is not
// his, or cannot be paid; a key is never a value here, only the name of its variable.
import type { Tier } from '../model-client.ts';

type GolemTier = Exclude<Tier, 'T0'>;

/** Local first, direct last; others come behind them, for both tiers. `key`: variable of the key; `paidBy`: a call at a time, from a wallet. */
export const GOLEM_PROVIDERS: readonly {
  readonly name: string;
  readonly tiers: readonly GolemTier[];
  readonly key?: string;
  readonly paidBy?: 'x402';
}[] = [
  { name: 'local-hermes', tiers: ['T1', 'T2'] },
  { name: 'venice', tiers: ['T1', 'T2'], key: 'VENICE_API_KEY' },
  { name: 'bankr', tiers: ['T2'], paidBy: 'x402' },
  { name: 'bardo-gateway', tiers: ['T1', 'T2'], paidBy: 'x402' },
  { name: 'openrouter', tiers: ['T1', 'T2'], key: 'OPENROUTER_API_KEY' },
  { name: 'anthropic', tiers: ['T2'], key: 'ANTHROPIC_API_KEY' },
  { name: 'openai', tiers: ['T2'], key: 'OPENAI_API_KEY' },
];

/** Said with the name of the provider before it. */
export const UNPAID =
  'is not configured: it is paid by x402, call by call, as only what Meta asks is; its base_url is wanted';

interface InferenceTable {
  readonly name: string;
  /** Address up to and including `/v1`; absent: that of the known provider. */
  readonly endpoint?: string | undefined;
  readonly model: string;
  readonly tier: GolemTier;
  /** `${NAME}` */
  readonly api_key?: string | undefined;
  /** US dollars for a million tokens. */
  readonly input_price?: number | undefined;
  readonly output_price?: number | undefined;
}

export type InferenceTables = {
  readonly 'local-hermes'?:
    | (Pick<InferenceTable, 'model' | 'tier' | 'input_price' | 'output_price'> & { readonly endpoint: string })
    | undefined;
  readonly providers?: readonly InferenceTable[];
};

type ProviderSection = Readonly<
  Partial<Record<'base_url' | 'api_key' | 'default_model', string> & Record<'input_price' | 'output_price', number>>
>;

/** `providers` and `tiers` as config.yaml takes them; `unused`: a sentence for each table that nothing came of. */
export function golemInference(
  { 'local-hermes': local, providers: others = [] }: InferenceTables,
  variables: Readonly<Record<string, string | undefined>>,
) {
  const providers: Record<string, ProviderSection> = {};
  const tiers: Record<GolemTier, string[]> = { T1: [], T2: [] };
  const unused: string[] = [];
  const tables = [...(local ? [{ ...local, name: 'local-hermes' }] : []), ...others];
  for (const table of tables.sort((a, b) => rankOf(a) - rankOf(b))) {
    const { name, model, tier } = table;
    const section = providers[name] ?? sectionOf(table);
    const problem = problemOf(table, variables) ?? (isOf(section, table) ? undefined : TWICE);
    if (problem !== undefined) {
      unused.push(`${name} ${problem}.`);
      continue;
    }
    providers[name] = section;
    tiers[tier].push(`${name}/${model}`);
  }
  return { providers, tiers: { ...tiers, strict: true }, unused };
}

function sectionOf({ model, endpoint, api_key, input_price, output_price }: InferenceTable): ProviderSection {
  const address = { ...(endpoint ? { base_url: endpoint } : {}), ...(api_key ? { api_key } : {}) };
  const inPrice = input_price === undefined ? {} : { input_price };
  return { default_model: model, ...address, ...inPrice, ...(output_price === undefined ? {} : { output_price }) };
}

function isOf({ base_url, api_key }: ProviderSection, table: InferenceTable): boolean {
  return base_url === table.endpoint && api_key === table.api_key;
}

const TWICE = 'stands there with two endpoints or keys: give the second one another name';

function rankOf({ name }: InferenceTable): number {
  return GOLEM_PROVIDERS.findIndex((one) => one.name === name) >>> 0;
}

/** Why it cannot answer. An endpoint of one's own may need no key. */
function problemOf(
  { name, endpoint, tier, api_key }: InferenceTable,
  variables: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { tiers, key, paidBy } = GOLEM_PROVIDERS.find((one) => one.name === name) ?? {};
  if (tiers && !tiers.includes(tier)) return `is for ${tiers.join(' and ')}, and never asked for ${tier}`;
  if (paidBy) return UNPAID;
  const variable = api_key?.replace(/^\$\{|\}$/g, '') ?? (endpoint ? undefined : key);
  return variable === undefined || variables[variable] ? undefined : `cannot be used: ${variable} is not set`;
}
