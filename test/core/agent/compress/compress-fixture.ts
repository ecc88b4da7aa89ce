/** Conversations that are long enough to be compressed, over either store, with a model that answers whatever it is asked. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { CompressionSettings } from '#core/agent/compress/compressor.ts';
import { type Conversation, type ConversationParts, openConversation } from '#core/agent/conversation.ts';
import type { SessionStore, StoredMessage } from '#core/agent/session-store.ts';
import { defaultStopConditions } from '#core/agent/turn/run-step.ts';
import { type Message, userMessage } from '#core/model/message.ts';
import type { AnyTool, Hooks, ModelClient, ModelRequest, TurnEvent } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { echoTool, schemaOf } from '../turn-fixture.ts';

export const clock = createManualClock();
export const signal = new AbortController().signal;

/** A record as a well-behaved model writes it. */
export const RECORD = `## Goal
- Ship the harbour service #1
## Done
- Chose the port #2
## Open
- Write the docs #3
## Decisions
- Postgres, not MySQL #4`;

export interface Desk {
  /** Texts of the memory; the prompt is built of them. */
  memory: string;
  builds: number;
}

export interface PartsOptions {
  readonly store: SessionStore;
  readonly model: ModelClient;
  readonly desk?: Desk;
  readonly tools?: readonly AnyTool[];
  readonly hooks?: readonly Hooks[];
  readonly compression?: CompressionSettings;
}

export function conversationParts(options: PartsOptions): ConversationParts {
  const { store, model, tools = [echoTool()], hooks = [], desk = { memory: '', builds: 0 } } = options;
  return {
    store,
    model,
    buildPrompt: () => {
      desk.builds += 1;
      return { system: `You are exact.\n${desk.memory}`, tools: tools.map(schemaOf) };
    },
    machine: {
      clock,
      hooks,
      stop: defaultStopConditions(20),
      place: { cwd: tmpdir(), clock, asker: absentAsker, spillFolder: tmpdir(), redact: (text) => text },
      access: {
        tools: new Map(tools.map((tool) => [tool.name, tool])),
        approver: denyingApprover,
        allowList: { has: () => false, add: () => undefined },
      },
    },
    ...(options.compression ? { compression: options.compression } : {}),
  };
}

export async function open(parts: ConversationParts, resume?: string): Promise<Conversation> {
  const request = resume === undefined ? { start: { source: 'test', cwd: tmpdir() } } : { resume };
  const opened = await openConversation(request, parts, signal);
  assert.ok(opened.ok, opened.ok ? '' : opened.detail);
  return opened.value;
}

export function say(conversation: Conversation, text: string): Promise<readonly TurnEvent[]> {
  return Array.fromAsync(conversation.send(text, { signal }));
}

/** Answers each kind of request by its own rule, for ever. */
export function answering(
  rules: {
    readonly answer?: (request: ModelRequest) => ScriptedStep;
    readonly summary?: (request: ModelRequest) => ScriptedStep;
    readonly contextWindow?: number;
  } = {},
): ScriptedModel {
  const { answer = () => 'Noted.', summary = () => RECORD, contextWindow = 16_384 } = rules;
  const step = (request: ModelRequest): ScriptedStep => {
    model.push(step);
    return request.purpose === 'compress' ? summary(request) : answer(request);
  };
  const model = createScriptedModel([step], { traits: { contextWindow } });
  return model;
}

/** About `tokens` tokens of plain words. */
export function words(tokens: number, about = 'harbour'): string {
  const word = `${about} water light `;
  return word.repeat(Math.ceil((tokens * 4) / word.length));
}

export function stored(messages: readonly Message[]): readonly StoredMessage[] {
  return messages.map((message, i) => ({ id: i + 1, sessionId: 's', at: i, message }));
}

export function said(text: string): Message {
  return { role: 'assistant', model: 'm', parts: [{ type: 'text', text, origin: 'model' }] };
}

export function called(callId: string, name: string, args: Record<string, string>): Message {
  return {
    role: 'assistant',
    model: 'm',
    parts: [{ type: 'tool-call', callId, name, arguments: args, origin: 'model' }],
  };
}

export function gave(
  callId: string,
  name: string,
  text: string,
  failed: { readonly exitCode?: number; readonly isError?: boolean } = {},
): Message {
  const { isError = false, exitCode } = failed;
  const observed = { ms: 1, bytes: text.length, ...(exitCode === undefined ? {} : { exitCode }) };
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name, text, isError, origin: 'foreign', observed }] };
}

export { userMessage };

export function breaks(events: readonly TurnEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'prefix-break' ? [event.reason] : []));
}

export function notices(events: readonly TurnEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
}

export function endOf(events: readonly TurnEvent[]): Extract<TurnEvent, { type: 'turn-end' }> {
  const end = events.at(-1);
  assert.ok(end?.type === 'turn-end', 'a turn ends with turn-end');
  return end;
}
