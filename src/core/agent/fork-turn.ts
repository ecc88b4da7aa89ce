// Owns a turn beside a conversation: on the same frozen prompt, shown tools and stored messages, so that the provider's cache stays
// warm, with other runnable tools and a journal of its own that is thrown away. Reviews, the flush and recall summaries run it.
// Knows no learning. Invariants: nothing it does is part of the session's messages; its spans and cost are; the shown tool list and the prefix are byte-identical.

import { TalariaError } from '#base/errors.ts';
import type { Message } from '#core/model/message.ts';
import type { ModelClient, Purpose } from '#core/model/model-client.ts';
import { absentAsker, denyingApprover } from './approver.ts';
import { countTurns } from './count-turns.ts';
import { redactMessage } from './redact-message.ts';
import { missingResults } from './repair-history.ts';
import type { FrozenPrompt, SessionStore, StoredMessage } from './session-store.ts';
import type { AnyTool } from './tool.ts';
import { resultLimitFor } from './turn/cap-output.ts';
import { runTurn, type TurnLinks, type TurnMachine, type TurnMaterial } from './turn/run-turn.ts';
import { defaultStopConditions, type StopCondition } from './turn/stop-conditions.ts';
import type { TurnEvent } from './turn-event.ts';

export interface ForkRequest {
  readonly sessionId: string;
  /** The user message that is put behind the conversation; origin `model`, since nobody typed it. */
  readonly text: string;
  readonly purpose: Purpose;
  /** What may run, by name; also what runs: a tool here stands in for the session's tool of that name. Everything else is `tool-not-allowed`. */
  readonly runnable: ReadonlyMap<string, AnyTool>;
  readonly maxSteps: number;
  /** Further reasons to stop it before a step. */
  readonly stop?: readonly StopCondition[];
  /** Instead of the conversation's model. */
  readonly model?: ModelClient;
  /** Instead of the session's prompt; nothing of it is sent then, and no tool is shown. */
  readonly system?: string;
  /** Instead of the stored messages: a digest for a model with another window. */
  readonly messages?: readonly Message[];
}

/** As `runTurn`: yields events, ends with exactly one `turn-end`. Hooks do not run. Throws `no-such-session`. */
export type ForkTurn = (request: ForkRequest, signal: AbortSignal) => AsyncGenerator<TurnEvent, void>;

export interface ForkParts {
  readonly store: SessionStore;
  /** The conversation's model now; asked at the start of each fork. */
  readonly model: () => ModelClient;
  readonly machine: Pick<TurnMachine, 'clock' | 'place'> & {
    /** The session's tools by name: what a fork may not run is refused as `tool-not-allowed`, not as unknown. */
    readonly access: Pick<TurnMachine['access'], 'tools'>;
  };
}

async function promptOf(store: SessionStore, { sessionId, system }: ForkRequest): Promise<FrozenPrompt> {
  if (system !== undefined) return { system, tools: [] };
  return (await store.loadPrompt(sessionId)) ?? { system: '', tools: [] };
}

/** Nobody sits at a fork: whatever needs an approval or an answer is denied, and no approval of the owner counts for it. */
export function createForkTurn(parts: ForkParts): ForkTurn {
  return async function* forkTurn(request, signal) {
    const { store } = parts;
    const session = await store.get(request.sessionId);
    if (!session) throw noSuchSession(request.sessionId);
    const prompt = await promptOf(store, request);
    const history = request.messages ?? (await store.messages(session.id)).map((stored) => stored.message);
    const { id: sessionId, source, cwd } = session;
    const material: TurnMaterial = {
      info: { sessionId, source, cwd, turn: countTurns(history) },
      purpose: request.purpose,
      prompt,
      history: [...history, ...missingResults(history)],
      input: { text: request.text, origin: 'model' },
    };
    yield* runTurn(
      material,
      { ...forkMachine(parts, request, { cwd, prompt }), ...forkLinks(parts, sessionId) },
      signal,
    );
  };
}

function forkMachine(
  parts: ForkParts,
  request: ForkRequest,
  { cwd, prompt }: { readonly cwd: string; readonly prompt: FrozenPrompt },
): TurnMachine {
  const { clock, place, access } = parts.machine;
  const model = request.model ?? parts.model();
  return {
    clock,
    model: () => model,
    hooks: [],
    stop: [...defaultStopConditions(request.maxSteps), ...(request.stop ?? [])],
    place: { ...place, cwd, asker: absentAsker, resultLimit: resultLimitFor(model.traits.contextWindow) },
    access: {
      tools: new Map([...access.tools, ...request.runnable]),
      shown: new Set(prompt.tools.map((tool) => tool.name)),
      runnable: new Set(request.runnable.keys()),
      approver: denyingApprover,
      allowList: { has: () => false, add: () => undefined },
    },
  };
}

/** What a fork says is kept for its next step only; message ids are negative, since no such message is stored. */
function forkLinks({ store, machine }: ForkParts, sessionId: string) {
  let lastId = 0;
  const recordSpans: TurnLinks['recordSpans'] = async (spans) => {
    if (spans.length > 0) await store.recordSpans(spans);
  };
  const journal: TurnLinks['journal'] = async (message, spans): Promise<StoredMessage> => {
    await recordSpans(spans);
    lastId -= 1;
    const { redact } = machine.place;
    return { id: lastId, sessionId, at: machine.clock.now(), message: redactMessage(message, redact) };
  };
  return { journal, recordSpans, takeSteers: () => [] };
}

function noSuchSession(id: string): TalariaError {
  return new TalariaError(`there is no session ${id}`, { code: 'no-such-session', fix: 'See `talaria sessions`.' });
}
