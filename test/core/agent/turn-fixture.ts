/** One turn with real parts: tools that do real things to a list, a journal that keeps what it is given. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import { type Approver, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Span, StoredMessage } from '#core/agent/session-store.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { defaultStopConditions, type StopCondition } from '#core/agent/turn/run-step.ts';
import { runTurn, type TurnMachine, type TurnMaterial } from '#core/agent/turn/run-turn.ts';
import type { ModelClient, ToolSchema } from '#core/model/model-client.ts';
import type { Hooks, Message, TurnEvent } from '#public/talaria.ts';

export interface TurnOptions {
  readonly model: ModelClient;
  readonly tools?: readonly AnyTool[];
  readonly hooks?: readonly Hooks[];
  readonly approver?: Approver;
  readonly stop?: readonly StopCondition[];
  readonly history?: readonly Message[];
  readonly runnable?: ReadonlySet<string>;
}

export interface RanTurn {
  readonly events: TurnEvent[];
  readonly journal: Message[];
  readonly spans: Span[];
  readonly end: Extract<TurnEvent, { type: 'turn-end' }>;
}

export interface TurnHandles {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: TurnEvent) => void;
  readonly steers?: string[];
  readonly failJournalAt?: number;
}

export function schemaOf(tool: AnyTool): ToolSchema {
  return { name: tool.name, description: tool.description, parameters: { type: 'object' } };
}

/** A tool that answers `echo: <text>` and notes when it ran. */
export function echoTool(ran: string[] = [], effect: 'read' | 'write' = 'write'): AnyTool {
  return defineTool({
    name: 'echo',
    description: 'Echo a text.',
    input: z.object({ text: z.string() }),
    toolset: 'test',
    effect,
    run: async ({ text }) => {
      ran.push(text);
      return { text: `echo: ${text}` };
    },
  });
}

export async function playTurn(text: string, options: TurnOptions, handles: TurnHandles = {}): Promise<RanTurn> {
  const journal: Message[] = [];
  const spans: Span[] = [];
  const events: TurnEvent[] = [];
  const tools = options.tools ?? [];
  const material: TurnMaterial = {
    info: { sessionId: 's1', source: 'test', cwd: tmpdir(), turn: 1 },
    purpose: 'answer',
    prompt: { system: 'system', tools: tools.map(schemaOf) },
    history: options.history ?? [],
    input: { text, origin: 'owner' },
  };
  const machine: TurnMachine = {
    clock: systemClock,
    model: () => options.model,
    access: {
      tools: new Map(tools.map((tool) => [tool.name, tool])),
      shown: new Set(tools.map((tool) => tool.name)),
      ...(options.runnable ? { runnable: options.runnable } : {}),
      approver: options.approver ?? denyingApprover,
      allowList: { has: () => false, add: () => undefined },
    },
    place: {
      cwd: tmpdir(),
      clock: systemClock,
      asker: absentAsker,
      spillFolder: spillFolder(),
      redact: (value) => value,
    },
    hooks: options.hooks ?? [],
    stop: options.stop ?? defaultStopConditions(20),
  };
  const links = {
    journal: async (message: Message, more: readonly Span[]): Promise<StoredMessage> => {
      if (journal.length + 1 === handles.failJournalAt)
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      journal.push(message);
      spans.push(...more);
      return { id: journal.length, sessionId: 's1', at: 0, message };
    },
    recordSpans: async (more: readonly Span[]) => {
      spans.push(...more);
    },
    takeSteers: () =>
      (handles.steers?.splice(0) ?? []).map((text) => ({ type: 'text', text, origin: 'owner' }) as const),
  };
  for await (const event of runTurn(
    material,
    { ...machine, ...links },
    handles.signal ?? new AbortController().signal,
  )) {
    events.push(event);
    handles.onEvent?.(event);
  }
  const end = events.at(-1);
  if (end?.type !== 'turn-end') throw new Error('the turn did not end with turn-end');
  return { events, journal, spans, end };
}

let folder: string | undefined;
function spillFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'talaria-turn-'));
  return folder;
}

/** Every call has exactly one result, directly in the messages after it. */
export function unansweredCalls(messages: readonly Message[]): readonly string[] {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
      : [],
  );
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.parts[0].callId] : []));
  return [
    ...calls.filter((id) => results.filter((other) => other === id).length !== 1),
    ...results.filter((id) => !calls.includes(id)),
  ];
}
