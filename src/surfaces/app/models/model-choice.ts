// Owns which model is meant: flag, config, the provider's default, else the first id that the endpoint lists (design 5).
// Knows no client and no network. Invariant: a name means exactly one model, or it is refused with what to do and the nearest names;
// it is never sent to somebody else.
import { ok, type Refusal, refuse } from '#base/result.ts';
import { typingErrors } from '#mind/sessions/search/word-variants.ts';
import type { Config } from '../home/config-schema.ts';
import { withFix } from '../wording.ts';
import { localProvider, missingKeyFix, type ProviderProblem, withoutEnding } from './find-providers.ts';
import { type FoundProvider, LOCAL_ENDPOINTS, type LocalFile, providerRow } from './provider-table.ts';

export interface ModelChoice {
  readonly provider: FoundProvider;
  /** As the endpoint knows it; undefined: ask for its list first. */
  readonly model: string | undefined;
  /** One line for the header. */
  readonly reason: string;
}

export type ChoiceRefusal = 'missing-key' | 'no-provider' | 'no-model';

/** A refusal, and whose list of models could still say otherwise. */
type Unplaced = Refusal<ChoiceRefusal> & { readonly ask?: readonly FoundProvider[] };

/** What is known without asking anybody. */
export interface ModelGround {
  readonly providers: readonly FoundProvider[];
  readonly problems?: readonly ProviderProblem[];
  /** Ids that the endpoint has listed; empty: it never has. */
  readonly listed: (provider: FoundProvider) => readonly string[];
  /** Provider of the model that answers now: a bare name that others may have too is its own. */
  readonly present?: string;
  /** Where model files lie. */
  readonly modelsFolder?: string;
}

/** The name in config.yaml, whichever way it is written there. */
export function configuredModel(config: Config): string | undefined {
  return typeof config.model === 'object' ? (config.model.default ?? config.model.model) : config.model;
}

/** The provider in config.yaml that a bare name there belongs to. */
export function configuredProvider({ model }: Config): string | undefined {
  return typeof model === 'object' ? (model.provider ?? (model.base_url ? 'custom' : undefined)) : undefined;
}

/** What is said of a model that was chosen and cannot be had. */
export function cannotAnswer(name: string, why: string): string {
  return `${name} cannot answer: ${why}`;
}

/** Without any wish: the first provider that can answer. */
export function firstChoice(providers: readonly FoundProvider[]): ModelChoice | undefined {
  // What is paid call by call is paid for Meta alone.
  const ours = providers.filter(({ settings }) => settings.payment !== 'x402');
  const first = ours.find(({ files }) => files === undefined || files.some(({ missing }) => !missing));
  const file = first?.files?.find(({ missing }) => !missing);
  return first && { provider: first, model: file?.model ?? first.defaultModel, reason: file?.reason ?? first.reason };
}

export function isReflex(name: string | undefined): boolean {
  return name === 'reflex' || name === 'reflex/1';
}

interface Why {
  readonly reason: string;
  /** Provider that config.yaml gives beside the name. */
  readonly preferred?: string | undefined;
}

type Placed = { readonly ok: true; readonly value: ModelChoice } | Unplaced;

/** `provider/model`, a provider alone, or a model's name alone when one provider is sure to be meant. */
export function named(name: string, ground: ModelGround, why: Why): Placed {
  const meant = spelledOut(name, ground.providers, why.preferred);
  if (meant) return placed({ ...meant, reason: why.reason }, ground);
  const { preferred = '' } = why;
  const wanted = preferred || prefixOf(name) || name;
  if (isSetUpInVain(wanted, ground) || providerRow(preferred)) return nowhere(name, wanted, ground);
  return inferred(name, { ground, why, wanted });
}

/** Names in the lists of config.yaml that nobody can be found for; the rest of the list answers, else the present model. */
export function unplacedTiers(
  tiers: Config['tiers'],
  ground: ModelGround,
): readonly { readonly tier: string; readonly detail: string }[] {
  return (['T1', 'T2'] as const).flatMap((tier) =>
    tiers[tier].flatMap((name) => {
      const choice = isReflex(name) ? undefined : named(name, ground, { reason: '' });
      return choice?.ok === false ? [{ tier: `tiers.${tier}`, detail: choice.detail }] : [];
    }),
  );
}

function prefixOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('/')));
}

/** The name says itself whose model it is. */
function spelledOut(
  name: string,
  providers: readonly FoundProvider[],
  preferred: string | undefined,
): Omit<ModelChoice, 'reason'> | undefined {
  const called = (wanted: string) => providers.find((provider) => goesBy(provider, wanted));
  const prefix = prefixOf(name);
  const whole = preferred === undefined || prefix === preferred ? undefined : called(preferred);
  if (whole) return { provider: whole, model: name };
  const byPrefix = prefix === '' ? undefined : (called(prefix) ?? localServer(prefix));
  if (byPrefix) return { provider: byPrefix, model: byPrefix.files ? name : name.slice(prefix.length + 1) };
  const alone = called(name);
  return alone && { provider: alone, model: fileOf(alone, name)?.model ?? alone.defaultModel };
}

/** By what the providers are known to have, else to the only one that could. */
function inferred(
  name: string,
  { ground, why, wanted }: { readonly ground: ModelGround; readonly why: Why; readonly wanted: string },
): Placed {
  const { providers, present } = ground;
  const those = (answer: ReturnType<typeof serves>) =>
    providers.filter((provider) => serves(provider, name, ground) === answer);
  const sure = those('yes');
  const open = those('unknown').filter((provider) => mayTake(provider, name));
  if (sure.length === 0 && isFileName(name)) return { ...noFile(name, ground), ask: open };
  const candidates = sure.length > 0 ? sure : open;
  const [first] = candidates;
  const one = candidates.length === 1 ? first : candidates.find((provider) => provider.name === present);
  if (one) return placed({ provider: one, model: name, reason: why.reason }, ground);
  if (first) return { ...ambiguous(name, candidates), ask: open };
  return { ...nowhere(name, wanted, ground), ask: providers.filter(({ files }) => files === undefined) };
}

/** Names in the order of their likeness, of all that are known here; of one provider with few models every one. */
export function nearestNames(
  name: string,
  providers: readonly FoundProvider[],
  listed: ModelGround['listed'],
): readonly string[] {
  const known = providers.flatMap((provider) =>
    modelsOf(provider, listed(provider)).map((model) => `${provider.name}/${model}`),
  );
  const unique = [...new Set(known)];
  const isShort = providers.length === 1 && unique.length <= FEW;
  const rated = [...unique, 'reflex']
    .map((one) => ({ one, errors: unlikeness(name.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.errors - b.errors);
  const near = rated.filter(({ errors, one }) => errors < FAR || (isShort && one !== 'reflex'));
  return near.slice(0, isShort ? FEW : 3).map(({ one }) => one);
}

export function saidNearest(near: readonly string[]): string {
  return near.length === 0 ? '`talaria models` lists what there is.' : `Nearest: ${near.join(', ')}.`;
}

const FAR = 100;
/** So many names are read at a glance. */
const FEW = 5;
/** So short a piece is part of too many names. */
const LEAST_PART = 3;

/** Typing errors between what stands behind the providers, up to a third of it; a part of a name is nearer than a wrong one. */
function unlikeness(typed: string, known: string): number {
  const ends = [typed, known].map((name) => name.slice(name.lastIndexOf('/') + 1));
  const [short = '', bare = ''] = ends.toSorted((a, b) => a.length - b.length);
  if (short.length >= LEAST_PART && bare.includes(short)) return 0.5;
  const most = Math.ceil(bare.length / 3);
  const errors = typingErrors(short, bare, most);
  return errors > most ? FAR : errors;
}

function modelsOf({ files, defaultModel }: FoundProvider, ids: readonly string[]): readonly string[] {
  if (files) return files.map(({ model }) => model);
  return [...(defaultModel ? [defaultModel] : []), ...ids];
}

function fileOf({ files = [] }: FoundProvider, name: string): LocalFile | undefined {
  const wanted = withoutEnding(name);
  return files.find(({ model, names }) => model === wanted || names.includes(wanted));
}

/** A section of config.yaml that names a file is another name for `llama`. */
function goesBy({ name, files = [] }: FoundProvider, wanted: string): boolean {
  return name === wanted || files.some(({ names }) => names.includes(wanted) && !wanted.includes('/'));
}

/** config.yaml has it, and something is missing: nobody else is meant. */
function isSetUpInVain(provider: string, { problems = [] }: ModelGround): boolean {
  return problems.some((problem) => problem.provider === provider);
}

/** A server that people run on their machine may be named before it was ever found. */
function localServer(name: string): FoundProvider | undefined {
  const row = LOCAL_ENDPOINTS.find((one) => one.name === name);
  return row && localProvider(row);
}

export function serves(provider: FoundProvider, model: string, { listed }: ModelGround): 'yes' | 'no' | 'unknown' {
  if (provider.files) return fileOf(provider, model) ? 'yes' : 'no';
  if (model === provider.defaultModel) return 'yes';
  const ids = listed(provider);
  if (ids.length === 0) return 'unknown';
  return ids.some((id) => isCalled(id, model)) ? 'yes' : 'no';
}

/** Endpoints take short forms of what they list: `claude-opus-4-1` of a dated id, `qwen3` of `qwen3:latest`, and variants of it: `…:free`. */
function isCalled(id: string, model: string): boolean {
  const bare = id.replace(/^models\//, '');
  const wanted = model.replace(/^models\//, '');
  if (bare === wanted || bare === `${wanted}:latest` || bare === wanted.replace(/:[a-z-]+$/, '')) return true;
  return bare.startsWith(`${wanted}-`) && /^\d{4}-?\d{2}-?\d{2}$/.test(bare.slice(wanted.length + 1));
}

/** Where a name may go that nobody has listed: one of a known maker's goes to a router alone. */
function mayTake(provider: FoundProvider, name: string): boolean {
  if (provider.aggregator || !name.includes('/')) return true;
  return providerRow(prefixOf(name)) === undefined && providerRow(provider.name) === undefined;
}

function placed(choice: ModelChoice, ground: ModelGround): Placed {
  const { provider, model } = choice;
  if (model === undefined) return ok(choice);
  const file = fileOf(provider, model);
  if (file?.missing) return refuse('no-provider', `llama/${file.model}: ${file.missing}.`);
  if (file) return ok({ ...choice, model: file.model });
  if (serves(provider, model, ground) !== 'no') return ok(choice);
  if (provider.files) return noFile(model, ground);
  const near = saidNearest(nearestNames(`${provider.name}/${model}`, [provider], ground.listed));
  return { ...refuse('no-model', `${provider.name} has no model ${model}. ${near}`), ask: [provider] };
}

/** A path or a file name, or one of `llama`, which has nothing but files. */
function isFileName(name: string): boolean {
  return name.toLowerCase().endsWith('.gguf') || name === 'llama' || name.startsWith('llama/');
}

function noFile(name: string, { providers, listed, modelsFolder }: ModelGround): Refusal<ChoiceRefusal> {
  const files = providers.filter((provider) => provider.files);
  const where = modelsFolder === undefined ? '' : ` in the models folder (${modelsFolder})`;
  const near = saidNearest(nearestNames(withoutEnding(name), files, listed));
  return refuse('no-model', `There is no model file for ${name}${where}. ${near}`);
}

function ambiguous(name: string, candidates: readonly FoundProvider[]): Refusal<ChoiceRefusal> {
  const names = candidates.map((provider) => `${provider.name}/${name}`);
  return refuse('no-model', `${name} does not say whose model it is. Say one of: ${names.slice(0, 4).join(', ')}.`);
}

function nowhere(name: string, provider: string, ground: ModelGround): Refusal<ChoiceRefusal> {
  const problem = ground.problems?.find((one) => one.provider === provider);
  if (problem) return refuse('missing-key', withFix(`${provider} cannot be used: ${problem.message}`, problem.fix));
  const known = providerRow(provider);
  if (known) return refuse('missing-key', `${known.name} has no key here. ${missingKeyFix(known.name)}`);
  const near = nearestNames(name, ground.providers, ground.listed);
  const fix = 'Run `talaria setup`, set a key such as OPENAI_API_KEY, or start a local server.';
  if (ground.providers.length === 0 || provider !== name)
    return refuse('no-provider', `No provider is set up for ${name}. ${near.length > 0 ? saidNearest(near) : fix}`);
  return refuse('no-model', `There is no model ${name} here. ${saidNearest(near)}`);
}
