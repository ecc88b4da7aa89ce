// Owns `models show`, `tools` and `context`: what answers, what a session is shown, and where the tokens of a request go. Knows no prompt's content.
// Invariant: a session counts what it really sends, its own frozen prompt and its live messages; figures are estimates and say so,
// corrected by what its provider counted.

import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { estimateTokens } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand, line, refused } from '#core/agent/command-spec.ts';
import { countFactor, messageTokens, promptTokens } from '#core/agent/history.ts';
import type { FrozenPrompt, Span, StoredMessage } from '#core/agent/session-store.ts';
import { findSession } from '#mind/sessions/find-session.ts';
import type { App } from '../app.ts';
import { type CommandDeps, lastSessionHere } from './command-deps.ts';

export function modelsCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'models show',
    summary: 'Show which model answers and why, and what else is there',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const model = app.model();
      const others = app.models();
      yield line(`${model.id} (${model.tier}): ${model.reason}`);
      yield {
        type: 'table',
        columns: ['model', 'tier', 'window', 'why'],
        rows: others.map((other) => [other.id, other.tier, String(other.contextWindow), other.reason]),
      };
      yield { type: 'data', value: { model, models: others } as unknown as JsonValue };
    },
  });
}

export function toolsCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'tools',
    summary: 'List the tools a session is shown, and why others are not',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const { tools, schemas, unavailable, deferred } = await (await deps.app()).tools();
      const tokens = new Map(schemas.map((schema) => [schema.name, estimateTokens(JSON.stringify(schema))]));
      yield {
        type: 'table',
        columns: ['tool', 'toolset', 'effect', 'tokens', 'what it does'],
        rows: tools.map((tool) => [
          tool.name,
          tool.toolset,
          tool.effect,
          `~${tokens.get(tool.name) ?? 0}`,
          tool.description.split('\n')[0] ?? '',
        ]),
      };
      for (const { name, toolset, description } of deferred)
        yield line(`found by tool_search: ${name} (${toolset}): ${description.split('\n')[0] ?? ''}`);
      for (const { name, reason } of unavailable) yield line(`not shown: ${name}: ${reason}`);
      yield {
        type: 'data',
        value: {
          tools: tools.map(({ name, toolset, effect, description }) => ({ name, toolset, effect, description })),
          deferred: deferred.map(({ name, toolset, effect, description }) => ({ name, toolset, effect, description })),
          unavailable: unavailable.map(({ name, reason }) => ({ name, reason })),
        },
      };
    },
  });
}

interface Share {
  readonly part: string;
  readonly tokens: number;
}

/** What a provider counted for the session's last request, over our estimate of that request. */
interface Counted {
  readonly model: string;
  readonly tokens: number;
  readonly factor: number;
}

interface Weighed {
  readonly of: string;
  readonly shares: readonly Share[];
  readonly counted?: Counted | undefined;
}

export function contextCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'context',
    summary: "Show where the prompt's tokens go",
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['session'],
    input: z.object({
      session: z
        .string()
        .optional()
        .describe('Session id, `last`, or `new`; default: the session you are in, else the last one of this folder'),
    }),
    async *run({ session }, context): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const id = session ?? context.sessionId ?? (await lastSessionHere(app, context.cwd)) ?? 'new';
      const weighed = id === 'new' ? newSession(app, context.cwd) : await storedSession(app, id);
      if (!weighed) {
        yield refused('no-such-session', `There is no session ${id}.`, '`talaria sessions list` shows them.');
        return;
      }
      yield* shown(weighed, app);
    },
  });
}

function* shown(weighed: Weighed, app: App): Generator<CommandOutput> {
  const { of, counted } = weighed;
  const { id, contextWindow: window } = app.model();
  const parts = correctedShares(weighed);
  const total = parts.reduce((sum, share) => sum + share.tokens, 0);
  yield {
    type: 'table',
    columns: ['part', 'tokens', 'of the window'],
    rows: [...parts, { part: 'total', tokens: total }].map(({ part, tokens }) => [
      part,
      `~${tokens}`,
      percent(tokens, window),
    ]),
  };
  const how = counted
    ? `estimated, corrected by what ${counted.model} counted for the last request (${counted.tokens} tokens)`
    : 'estimated at four characters a token';
  yield line(`${of}; ${how}; window of ${id}: ${window} tokens`);
  const corrected = counted ? { counted: { model: counted.model, tokens: counted.tokens } } : {};
  yield {
    type: 'data',
    value: { window, total, estimated: true, ...corrected, parts: parts.map((share) => ({ ...share })) },
  };
}

function newSession(app: App, cwd: string): Weighed {
  const shares = app.promptSections(cwd).map(({ name, text }) => ({ part: name, tokens: estimateTokens(text) }));
  return { of: 'a new session here', shares };
}

/** Tokens that the next request of a stored session takes, as `context` counts them; undefined when there is no such session. */
export async function contextTokens(app: App, sessionId: string): Promise<number | undefined> {
  const weighed = await storedSession(app, sessionId);
  return weighed && correctedShares(weighed).reduce((sum, { tokens }) => sum + tokens, 0);
}

function correctedShares({ shares, counted }: Weighed): readonly Share[] {
  return shares.map(({ part, tokens }) => ({ part, tokens: Math.round(tokens * (counted?.factor ?? 1)) }));
}

async function storedSession({ doors: { sessions: store } }: App, name: string): Promise<Weighed | undefined> {
  const found = await findSession(store, name);
  if (!found.ok) return undefined;
  const { id } = found.value;
  const [prompt = { system: '', tools: [] }, messages, spans] = await Promise.all([
    store.loadPrompt(id),
    store.messages(id),
    store.spans(id),
  ]);
  const history = messages.reduce((sum, { message }) => sum + messageTokens(message), 0);
  const shares = [
    { part: 'system prompt', tokens: estimateTokens(prompt.system) },
    { part: 'schemas', tokens: estimateTokens(JSON.stringify(prompt.tools)) },
    { part: `history (${messages.length} messages)`, tokens: history },
  ];
  return { of: `session ${id}`, shares, counted: countedFor(prompt, messages, spans) };
}

/** Undefined when nobody counted, or when the conversation was compressed since. */
function countedFor(
  prompt: FrozenPrompt,
  messages: readonly StoredMessage[],
  spans: readonly Span[],
): Counted | undefined {
  const step = spans.findLast((span) => span.kind === 'step' && span.purpose === 'answer' && span.status === 'ok');
  const tokens = step?.usage?.inputTokens ?? 0;
  const isWhole = ({ message }: StoredMessage) =>
    message.role === 'assistant' && message.cut !== 'failed' && message.cut !== 'aborted';
  const answer = messages.findLastIndex(isWhole);
  const sent = messages.slice(0, Math.max(0, answer));
  if (!step || tokens === 0 || answer < 0 || sent.some(({ at }) => at > step.startedAt + step.ms)) return undefined;
  const estimate = sent.reduce((sum, { message }) => sum + messageTokens(message), promptTokens(prompt));
  const model = step.detail ?? step.name;
  const factor = countFactor(tokens, estimate);
  return factor === undefined ? undefined : { model, tokens, factor };
}

function percent(tokens: number, window: number): string {
  return `${((tokens / window) * 100).toFixed(1)} %`;
}
