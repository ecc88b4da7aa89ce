// Owns turns that an extension runs on a system prompt of its own: forks without tools, memory, skills or history, all beside one session
// that holds nothing but their cost. Knows no extension. Invariant: no such session before the first turn; the turn is the one turn function.
import { TalariaError } from '#base/errors.ts';
import { absentAsker } from '#core/agent/approver.ts';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import { createForkTurn } from '#core/agent/fork-turn.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { AppParts } from './app-parts.ts';

export type InnerTurn = TurnRequest & { readonly system: string };

export type RunInnerTurn = (request: InnerTurn, signal: AbortSignal) => AsyncGenerator<TurnEvent>;

export function createInnerTurns(parts: Pick<AppParts, 'clock' | 'home' | 'mind' | 'models' | 'redact'>): RunInnerTurn {
  const { clock, home, mind, models, redact } = parts;
  const place = { cwd: home.root, clock, asker: absentAsker, spillFolder: home.spill, redact };
  const access = { tools: new Map() };
  const forkTurn = createForkTurn({ store: mind.store, model: models.desk.current, machine: { clock, place, access } });
  let session: Promise<{ readonly id: string }> | undefined;
  return async function* innerTurn(request, signal) {
    const model = modelOf(models.desk, request);
    session ??= mind.store.create({ source: 'extension', cwd: home.root });
    const { text, purpose, system, maxSteps } = request;
    const fork = { sessionId: (await session).id, text, purpose, system, maxSteps, model, messages: [] };
    yield* forkTurn({ ...fork, runnable: new Map() }, signal);
  };
}

function modelOf(desk: AppParts['models']['desk'], { model, tier, maxOutputTokens }: InnerTurn): ModelClient {
  const chosen = model === undefined ? undefined : desk.byName(model);
  if (chosen && !chosen.ok)
    throw new TalariaError(chosen.detail, { code: 'model-unknown', fix: 'See `talaria models`.' });
  const client = chosen?.value ?? desk.forTier(tier);
  return maxOutputTokens === undefined ? client : limited(client, maxOutputTokens);
}

function limited(client: ModelClient, maxOutputTokens: number): ModelClient {
  const { id, tier, traits } = client;
  return { id, tier, traits, stream: (request, signal) => client.stream({ ...request, maxOutputTokens }, signal) };
}
