// Owns `context`: where the tokens of a request go, part by part. Knows no prompt's content.
// Invariant: figures are estimates and say so; a stored session counts its own frozen prompt, not today's.
import { z } from 'zod';
import { estimateTokens } from '#base/text.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { App } from '../app.ts';
import { findSession } from '../find-session.ts';
import { type CommandDeps, line } from './command-deps.ts';

interface Share {
  readonly part: string;
  readonly tokens: number;
}

export function contextCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'context',
    summary: "Show where the prompt's tokens go",
    surfaces: ['cli', 'chat'],
    positional: ['session'],
    input: z.object({ session: z.string().optional().describe('Session id or `last`; default: a new session here') }),
    async *run({ session }, context): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const shares = session === undefined ? newSession(app, context.cwd) : await storedSession(app, session);
      if (!shares) {
        yield refused('no-such-session', `There is no session ${session}.`, '`talaria sessions list` shows them.');
        return;
      }
      const window = app.model().contextWindow;
      const total = shares.reduce((sum, share) => sum + share.tokens, 0);
      yield {
        type: 'table',
        columns: ['part', 'tokens', 'of the window'],
        rows: [...shares, { part: 'total', tokens: total }].map(({ part, tokens }) => [
          part,
          `~${tokens}`,
          percent(tokens, window),
        ]),
      };
      yield line(`estimated at four characters a token; window of ${app.model().id}: ${window} tokens`);
      yield {
        type: 'data',
        value: { window, total, estimated: true, parts: shares.map(({ part, tokens }) => ({ part, tokens })) },
      };
    },
  });
}

function newSession(app: App, cwd: string): readonly Share[] {
  return app.promptSections(cwd).map(({ name, text }) => ({ part: name, tokens: estimateTokens(text) }));
}

async function storedSession(app: App, name: string): Promise<readonly Share[] | undefined> {
  const found = await findSession(app.store, name);
  if (!found.ok) return undefined;
  const prompt = await app.store.loadPrompt(found.value.id);
  const messages = await app.store.messages(found.value.id);
  return [
    { part: 'system prompt', tokens: estimateTokens(prompt?.system ?? '') },
    { part: 'schemas', tokens: estimateTokens(JSON.stringify(prompt?.tools ?? [])) },
    {
      part: `history (${messages.length} messages)`,
      tokens: estimateTokens(JSON.stringify(messages.map((stored) => stored.message.parts))),
    },
  ];
}

function percent(tokens: number, window: number): string {
  return `${((tokens / window) * 100).toFixed(1)} %`;
}
