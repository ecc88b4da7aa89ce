// Owns `reflex/1`: the ModelClient that needs no model. It only matches (reflex 1), on nothing but the request and its folder.
// Knows no tool: rules come from the rooms that own them. Invariant: no state between requests, no network, cost 0.
import { type Clock, systemClock } from '#base/clock.ts';
import { newId } from '#base/ids.ts';
import { isJsonObject, parseJson } from '#base/json.ts';
import { NO_FOLDER, type ReflexFolder, type ReflexRule, type ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ReflexTask } from '#core/agent/reflex-task.ts';
import { messageText } from '#core/model/message.ts';
import {
  type ModelClient,
  type ModelEvent,
  type ModelRequest,
  NO_USAGE,
  type Purpose,
} from '#core/model/model-client.ts';
import { REFLEX_ID, renderStep } from './answer.ts';
import { decideTurn } from './decide-turn.ts';
import { metaRules } from './meta-rules.ts';
import { TEXTS } from './words.ts';

/** Calls that are a task as data, and no person's line. */
const TASKS: ReadonlySet<Purpose> = new Set(['recurse', 'peers']);

export interface ReflexOptions {
  readonly clock?: Clock;
  readonly tasks?: readonly ReflexTask[];
  /** What the folder of a session offers, by its frozen prompt. */
  readonly folder?: (system: string) => ReflexFolder;
}

export function createReflexClient(rules: readonly ReflexRule[], options: ReflexOptions = {}): ModelClient {
  const clock = options.clock ?? systemClock;
  const all = [...rules, ...metaRules(rules)];
  return {
    id: REFLEX_ID,
    tier: 'T0',
    traits: { contextWindow: 1_000_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      signal.throwIfAborted();
      const step = TASKS.has(request.purpose)
        ? await answerTask(request, options.tasks ?? [])
        : decide(request, all, { now: clock.now(), folder: options.folder?.(request.system) ?? NO_FOLDER });
      if (step.type === 'call') {
        for (const call of step.calls) {
          signal.throwIfAborted();
          yield { type: 'tool-call', callId: newId('call'), name: call.name, arguments: call.arguments };
        }
      } else {
        yield { type: 'text-delta', text: renderStep(step) };
      }
      signal.throwIfAborted();
      const reason = step.type === 'call' ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: NO_USAGE, model: REFLEX_ID, tier: 'T0', cost: 0 };
    },
  };
}

/** Only an owner's turn may act: a review or a flush carries the owner's old lines, which must not run again. */
function decide(
  request: ModelRequest,
  rules: readonly ReflexRule[],
  around: { readonly now: number; readonly folder: ReflexFolder },
): ReflexStep {
  if (request.purpose !== 'answer') return { type: 'say', text: TEXTS.notOwner };
  const tools = new Set(request.tools.map((tool) => tool.name));
  return decideTurn({ messages: request.messages, surroundings: { system: request.system, tools, ...around }, rules });
}

/** A task that is data: the last message is one JSON object that names its schema. */
async function answerTask({ messages }: ModelRequest, tasks: readonly ReflexTask[]): Promise<ReflexStep> {
  const last = messages.findLast((message) => message.role === 'user');
  const asked = last === undefined ? undefined : parseJson(messageText(last));
  const input = asked?.ok && isJsonObject(asked.value) ? asked.value : undefined;
  const task = tasks.find(({ schema }) => schema === input?.schema_version);
  if (input === undefined || task === undefined) return { type: 'say', text: TEXTS.notOwner };
  return { type: 'say', text: (await task.load())(input) };
}
