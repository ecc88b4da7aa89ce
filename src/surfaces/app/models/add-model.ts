// Owns taking up a key or an address while talking, and in `setup`: recognise, test with one call, keep. Knows no terminal.
// Invariant: nothing is kept when the test fails; the key goes into .env and nowhere else, the rest into config.yaml.
import { basename } from 'node:path';
import { errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { userMessage } from '#core/model/message.ts';
import { type ModelClient, ModelError } from '#core/model/model-client.ts';
import { isLocalAddress } from '#core/model/providers/provider-options.ts';
import type { ModelAddition } from '../app.ts';
import { editConfig } from '../home/config.ts';
import type { ConfigEdit } from '../home/config-document.ts';
import { type Home, makeHome } from '../home/home.ts';
import { setEnvValue } from '../home/variables.ts';
import { withFix } from '../wording.ts';
import { buildClient, type ClientSurroundings, UNNAMED_MODEL } from './build-client.ts';
import { missingKeyFix } from './find-providers.ts';
import { type FoundProvider, LOCAL_ENDPOINTS, PROVIDERS, type ProviderRow, providerRow } from './provider-table.ts';

export type AddRefusal = 'missing-key' | 'no-provider' | 'no-model' | 'model-failed';

export interface AddedModel {
  readonly provider: FoundProvider;
  readonly model: string;
}

/** Key shapes that name their provider; the first that fits wins. */
const KEY_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^sk-ant-/, 'anthropic'],
  [/^sk-or-/, 'openrouter'],
  [/^AIza/, 'gemini'],
  [/^gsk_/, 'groq'],
  [/^xai-/, 'xai'],
  [/^hf_/, 'huggingface'],
  [/^csk-/, 'cerebras'],
  [/^fw_/, 'fireworks'],
  [/^sk-/, 'openai'],
];

/** Why a listing fails when nothing else can work either; other endpoints just have no listing. */
const HOPELESS: ReadonlySet<string> = new Set(['model-auth', 'model-unreachable', 'model-timeout']);

export interface AddOptions {
  readonly surroundings: ClientSurroundings;
  /** Keep without the test call. */
  readonly untested?: boolean;
}

export async function addModel(
  addition: ModelAddition,
  options: AddOptions,
  signal: AbortSignal,
): Promise<Result<AddedModel, AddRefusal>> {
  const { surroundings } = options;
  const file = /^.*\.gguf$/i.exec(addition.key?.trim() ?? '')?.[0];
  if (file !== undefined) return refuse('no-provider', fileAdvice(file, surroundings.home));
  const recognised = recognise(addition);
  if (!recognised.ok) return recognised;
  const provider = recognised.value;
  const model = await findModel(provider, addition, surroundings, signal);
  if (!model.ok) return model;
  if (!options.untested) {
    const tested = await testModel(buildClient(provider, model.value, { tier: 'T2', surroundings }), signal);
    if (!tested.ok) return tested;
  }
  const kept = await keep(provider, model.value, surroundings);
  return kept.ok ? ok({ provider, model: model.value }) : kept;
}

function fileAdvice(file: string, { models }: Home): string {
  const section = `providers: {mine: {kind: llama, path: /…/${basename(file)}}}`;
  return `${file} is a model file, no key. Put it into ${models} and name it with -m, or write into config.yaml: ${section}.`;
}

/** One small call; `ok` when the endpoint answers in its protocol at all. */
export async function testModel(client: ModelClient, signal: AbortSignal): Promise<Result<true, 'model-failed'>> {
  const request = {
    system: 'Answer with the word ok.',
    messages: [userMessage('Say ok.')],
    tools: [],
    purpose: 'probe',
    maxOutputTokens: 64,
  } as const;
  try {
    for await (const event of client.stream(request, signal)) if (event.type === 'finish') return ok(true);
    return refuse('model-failed', `${client.id} did not finish its answer.`);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const fix = error instanceof ModelError ? error.fix : undefined;
    return refuse('model-failed', withFix(errorText(error), fix));
  }
}

function recognise(addition: ModelAddition): Result<FoundProvider, 'missing-key' | 'no-provider'> {
  const key = addition.key?.trim() || undefined;
  const baseUrl = addition.baseUrl?.trim().replace(/\/+$/, '') || undefined;
  if (baseUrl !== undefined && !/^https?:\/\/[^\s/]+/.test(baseUrl))
    return refuse('no-provider', `${baseUrl} is no address; it begins with http:// or https://.`);
  const name = addition.provider ?? nameOf(key, baseUrl);
  if (!name)
    return refuse(
      'no-provider',
      `The key has no shape that names its provider. Say --provider NAME: ${PROVIDERS.map((row) => row.name).join(', ')}; or give a --base-url.`,
    );
  if (!/^[a-z][a-z0-9-]{0,40}$/.test(name))
    return refuse('no-provider', `${name} cannot be the name of a provider: small letters, digits and hyphens.`);
  const row = providerRow(name);
  if (!row && !baseUrl) return refuse('no-provider', `${name} is not a known provider; give its --base-url too.`);
  if (row && !baseUrl && !key) return refuse('missing-key', `${name} needs a key. ${missingKeyFix(name)}`);
  return ok(providerOf(name, row, { key, baseUrl }));
}

function nameOf(key: string | undefined, baseUrl: string | undefined): string | undefined {
  if (baseUrl) {
    const host = URL.parse(baseUrl)?.host;
    const known = [...LOCAL_ENDPOINTS, ...PROVIDERS].find((row) => URL.parse(row.baseUrl)?.host === host);
    return known?.name ?? (isLocalAddress(baseUrl) ? 'local' : 'custom');
  }
  return key ? KEY_SHAPES.find(([shape]) => shape.test(key))?.[1] : undefined;
}

function providerOf(
  name: string,
  row: ProviderRow | undefined,
  given: { readonly key: string | undefined; readonly baseUrl: string | undefined },
): FoundProvider {
  const baseUrl = withVersion(given.baseUrl ?? row?.baseUrl ?? '');
  const ownAddress = given.baseUrl !== undefined && given.baseUrl !== row?.baseUrl;
  return {
    name,
    kind: row?.kind ?? 'openai',
    baseUrl,
    ...(given.key ? { apiKey: given.key } : {}),
    keyVariable: row?.keyVariables[0] ?? `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`,
    ...(row?.defaultModel && !ownAddress ? { defaultModel: row.defaultModel } : {}),
    aggregator: row?.aggregator ?? true,
    local: isLocalAddress(baseUrl),
    reason: 'you added it',
    settings: {},
  };
}

/** People paste the bare address of a local server; the protocol lives below `/v1`. */
function withVersion(baseUrl: string): string {
  const path = URL.parse(baseUrl)?.pathname ?? '/';
  return path === '/' || path === '' ? `${baseUrl}/v1` : baseUrl;
}

async function findModel(
  provider: FoundProvider,
  addition: ModelAddition,
  surroundings: ClientSurroundings,
  signal: AbortSignal,
): Promise<Result<string, 'no-model' | 'model-failed'>> {
  const wanted = addition.model?.startsWith(`${provider.name}/`)
    ? addition.model.slice(provider.name.length + 1)
    : addition.model;
  if (wanted) return ok(wanted);
  if (provider.defaultModel) return ok(provider.defaultModel);
  const listed = await surroundings.lists.fetch(provider, signal);
  if (!listed.ok) return HOPELESS.has(listed.reason) ? refuse('model-failed', listed.detail) : ok(UNNAMED_MODEL);
  const first = listed.value[0];
  return first ? ok(first.id) : refuse('no-model', `${provider.baseUrl} lists no model; name one with --model.`);
}

async function keep(
  provider: FoundProvider,
  model: string,
  { home }: ClientSurroundings,
): Promise<Result<true, 'model-failed'>> {
  makeHome(home);
  const { name, baseUrl, apiKey, keyVariable } = provider;
  const row = providerRow(name);
  const edits: readonly ConfigEdit[] = [
    ...(!row && apiKey ? [{ path: ['providers', name, 'api_key'], value: `\${${keyVariable}}` }] : []),
    ...(baseUrl === row?.baseUrl ? [] : [{ path: ['providers', name, 'base_url'], value: baseUrl }]),
    { path: ['model'], value: `${name}/${model}` },
  ];
  if (apiKey && keyVariable) await setEnvValue(home.env, keyVariable, apiKey);
  const edited = await editConfig(home.config, edits);
  return edited.ok ? ok(true) : refuse('model-failed', `It works, but config.yaml was not changed: ${edited.detail}`);
}
