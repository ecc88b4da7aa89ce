// Owns `config show|get|set|unset|path`: the configuration as a person sees and changes it. Knows the file through home/ only.
// Invariant: a value is checked before it is written; no value of a variable is ever shown.
import { z } from 'zod';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import {
  type AnyCommand,
  type CommandOutput,
  defineCommand,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import { editConfig, loadConfig } from '../home/config.ts';
import { nearestKey, settingsSchema, unknownKey } from '../home/config-schema.ts';
import { makeHome } from '../home/home.ts';
import { hopelessSetting } from '../walls.ts';
import type { CommandDeps } from './command-deps.ts';

export function configCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [show(deps), get(deps), set(deps), unset(deps), path(deps)];
}

function show(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'config show',
    summary: 'Show every setting with its value',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run() {
      const { config, readOnly } = await settings(deps);
      if (readOnly !== undefined) yield line(`${readOnly}.`);
      const rows = leaves(config, '');
      yield { type: 'table', columns: ['key', 'value'], rows: rows.map(([key, value]) => [key, shown(value)]) };
      yield { type: 'data', value: config };
    },
  });
}

function get(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'config get',
    summary: 'Show one setting',
    surfaces: ['cli'],
    readOnly: true,
    positional: ['key'],
    input: z.object({ key: z.string().describe('Dotted name, e.g. agent.max_steps') }),
    examples: ['talaria config get agent.max_steps'],
    async *run({ key }): AsyncGenerator<CommandOutput> {
      const { config, raw } = await settings(deps);
      const value = valueAt(config, key) ?? valueAt(raw, key);
      if (value === undefined) {
        const unknown = await unknownName(key, null);
        yield unknown ??
          failed('config-unset', `${key} is not set and has no default.`, '`talaria config show` lists every setting.');
        return;
      }
      yield line(shown(value));
      yield { type: 'data', value };
    },
  });
}

function set(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'config set',
    summary: 'Change one setting; comments and other keys stay',
    surfaces: ['cli'],
    positional: ['key', 'value'],
    input: z.object({
      key: z.string().describe('Dotted name, e.g. terminal.timeout'),
      value: z.string().describe('A number, true, false, a JSON list, or text'),
      force: z.boolean().default(false).describe('Also a name that is no setting of this version'),
    }),
    examples: ['talaria config set terminal.timeout 60', 'talaria config set model openai/gpt-5-mini'],
    async *run({ key, value, force }, { signal }): AsyncGenerator<CommandOutput> {
      const wanted = readValue(value);
      const then = ' Nothing was changed; --force sets it all the same.';
      const refusal = force
        ? undefined
        : ((await unknownName(key, wanted, then)) ?? (await unknownModel(deps, key, wanted, signal)));
      if (refusal) yield refusal;
      else yield* edit(deps, key, wanted);
    },
  });
}

function unset(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'config unset',
    summary: 'Remove one setting, so that its default holds',
    surfaces: ['cli'],
    positional: ['key'],
    input: z.object({ key: z.string().describe('Dotted name, e.g. terminal.timeout') }),
    async *run({ key }): AsyncGenerator<CommandOutput> {
      const { raw } = await loadConfig(deps.home.config);
      const unknown = valueAt(raw, key) === undefined ? await unknownName(key, null) : undefined;
      if (unknown) yield unknown;
      else yield* edit(deps, key, undefined);
    },
  });
}

function path(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'config path',
    summary: 'Show where the configuration lies',
    surfaces: ['cli'],
    readOnly: true,
    input: z.object({}),
    async *run() {
      yield line(deps.home.config);
      yield { type: 'data', value: { config: deps.home.config, env: deps.home.env, home: deps.home.root } };
    },
  });
}

/** With the sections of extensions; one that cannot be read stands there as it is in the file. */
async function settings(deps: CommandDeps) {
  const { config, raw, readOnly } = await loadConfig(deps.home.config);
  const parsed = (await settingsSchema()).safeParse(raw);
  return { config: (parsed.success ? parsed.data : config) as JsonValue, raw, readOnly };
}

async function unknownName(key: string, value: JsonValue, then = ''): Promise<CommandOutput | undefined> {
  const schema = await settingsSchema();
  const unknown = unknownKey(schema, keysOf(key), value);
  if (unknown === undefined || unknown.length === 0) return undefined;
  const near = nearestKey(schema, unknown);
  const hint = near === undefined ? '`talaria config show` lists the settings.' : `Did you mean ${near}?`;
  return refused('config-key', `There is no setting ${unknown.join('.')}.`, hint + then);
}

/** A model that `--model` would refuse; no list is asked for, and what only lacks its key may be set before it. */
async function unknownModel(
  deps: CommandDeps,
  key: string,
  value: JsonValue,
  signal: AbortSignal,
): Promise<CommandOutput | undefined> {
  if (key !== 'model' || typeof value !== 'string') return undefined;
  const { knownModels } = await import('../models/model-desk.ts');
  const { isReflex, named } = await import('../models/model-choice.ts');
  if (isReflex(value)) return undefined;
  const choice = named(value, await knownModels(deps, signal), { reason: '' });
  if (choice.ok || choice.reason === 'missing-key') return undefined;
  return refused(choice.reason, choice.detail, 'Nothing was changed; --force sets it all the same.');
}

function keysOf(key: string): readonly string[] {
  return key.split('.').filter(Boolean);
}

async function* edit(deps: CommandDeps, key: string, value: JsonValue | undefined): AsyncGenerator<CommandOutput> {
  const keys = keysOf(key);
  if (keys.length === 0) {
    yield wrongUse('config-key', 'A setting has a dotted name, e.g. agent.max_steps.');
    return;
  }
  const hopeless = value === undefined ? undefined : hopelessSetting(keys.join('.'), value, deps);
  if (hopeless !== undefined) {
    yield wrongUse('config-value', hopeless, 'Nothing was changed.');
    return;
  }
  if (value !== undefined) makeHome(deps.home);
  const edited = await editConfig(deps.home.config, [{ path: keys, value }], { schema: await settingsSchema() });
  if (edited.ok) {
    yield line(value === undefined ? `${key} is unset` : `${key} is now ${shown(value)}`);
    yield { type: 'data', value: { key, value: value ?? null } };
  } else if (edited.reason === 'config-value') yield wrongUse(edited.reason, edited.detail, 'Nothing was changed.');
  else if (edited.reason === 'config-newer') yield failed(edited.reason, edited.detail, 'Update Talaria.');
  else yield refused(edited.reason, edited.detail, 'Nothing was changed.');
}

function readValue(text: string): JsonValue {
  const parsed = /^(?:-?\d|true$|false$|null$|[[{"])/.test(text) ? parseJson(text) : undefined;
  return parsed?.ok ? parsed.value : text;
}

function valueAt(value: JsonValue | undefined, key: string): JsonValue | undefined {
  let found = value;
  for (const part of key.split('.'))
    found = isJsonObject(found) && Object.hasOwn(found, part) ? found[part] : undefined;
  return found;
}

function leaves(value: JsonValue, prefix: string): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(value)) return [[prefix, value]];
  return Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : leaves(inner, prefix ? `${prefix}.${key}` : key),
  );
}

function shown(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
