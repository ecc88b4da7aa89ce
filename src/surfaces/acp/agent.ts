// Owns the agent's side of the Agent Client Protocol: many sessions of one editor, each with folder, servers, mode and model of its own, and
// questions that are put to the person there. Knows no event and no block. Invariants: a session has one turn at a time, and the next prompt
// waits for it; a question that is not answered with a yes is a no; what fails is an error with our code and the way out.
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type * as acp from '@agentclientprotocol/sdk';
// biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { openBlobs } from '#base/blobs.ts';
import { isoTime } from '#base/clock.ts';
import { errorText, known, TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import { spellUnseen } from '#base/text/unseen.ts';
import type { CommandContext } from '#core/agent/command-spec.ts';
import { type Conversation, stopRequest } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { App, ConversationOptions, Permission } from '#surfaces/app/app.ts';
import { enterSession } from '#surfaces/app/home/session-door.ts';
import { leftOutNotice } from '#surfaces/app/home/trust.ts';
import { pastUpdates, readPrompt, type Sight, said, textContent, updatesOf, Wrong } from './updates.ts';

export type EditorGround = { readonly version: string; readonly app: () => Promise<App> };
type Stdio = NonNullable<CommandContext['stdio']>;

/** Ends with the input, or with the signal; the conversations end with the app. */
export async function serveEditor(ground: EditorGround, { input, output }: Stdio, signal: AbortSignal): Promise<void> {
  // What a library says to a person must not stand between lines of the protocol.
  Object.assign(console, { log: console.error, info: console.error, debug: console.error });
  const connection = new Editor(ground).agent().connect(ndJsonStream(Writable.toWeb(output), Readable.toWeb(input)));
  signal.addEventListener('abort', () => connection.close());
  if (!signal.aborted) await connection.closed;
  input.destroy();
}

const MODES = [
  { id: 'ask', name: 'Ask', description: 'Risky calls are asked.' },
  { id: 'read-only', name: 'Read only', description: 'Nothing that may change something runs.' },
  { id: 'auto', name: 'Auto', description: 'What stays in the folder or the network runs unasked.' },
] satisfies readonly (acp.SessionMode & { readonly id: Permission })[];

const ONCE: acp.PermissionOption = { optionId: 'once', name: 'Allow once', kind: 'allow_once' };
const ALWAYS: acp.PermissionOption = { optionId: 'always', name: 'Always allow', kind: 'allow_always' };
const NO: acp.PermissionOption = { optionId: 'deny', name: 'Reject', kind: 'reject_once' };

const COMPRESS = { name: 'compress', description: 'Make room: what was said becomes a summary.' };
const WHAT_FOR = { hint: 'what for' };

interface Seat {
  readonly talk: Conversation;
  readonly sight: Omit<Sight, 'shown'>;
  readonly chosen: { mode: Permission };
  /** Of all that was asked and is not answered. */
  stop: AbortController;
  /** The turn that was asked for last; never rejects. */
  last: Promise<unknown>;
}

class Editor {
  readonly #ground: EditorGround;
  readonly #seats = new Map<string, Seat>();
  #client: acp.AgentContext | undefined;

  constructor(ground: EditorGround) {
    this.#ground = ground;
  }

  agent(): acp.AgentApp {
    const { initialize, session } = methods.agent;
    return agent({ name: 'talaria' })
      .onConnect(({ client }) => {
        this.#client = client;
      })
      .onRequest(initialize, () => this.#initialize().catch(told))
      .onRequest(session.new, ({ params }) => this.#begin(params).catch(told))
      .onRequest(session.load, ({ params }) => this.#begin(params, params.sessionId).catch(told))
      .onRequest(session.list, ({ params }) => this.#list(params).catch(told))
      .onRequest(session.close, ({ params }) => this.#leave(params.sessionId).catch(told))
      .onRequest(session.prompt, ({ params, signal }) => this.#prompt(params, signal).catch(told))
      .onRequest(session.setMode, async ({ params }) => {
        await this.#choose({ ...params, configId: 'mode', value: params.modeId }).catch(told);
      })
      .onRequest(session.setConfigOption, ({ params }) => this.#choose(params).catch(told))
      .onNotification(session.cancel, ({ params }) => cancel(this.#seat(params.sessionId)));
  }

  async #initialize(): Promise<acp.InitializeResponse> {
    const model = (await this.#ground.app()).modelFor();
    const promptCapabilities = { image: model.ok && model.value.traits.images === true, embeddedContext: true };
    const can = { promptCapabilities, sessionCapabilities: { list: {}, close: {} }, mcpCapabilities: { http: true } };
    const agentInfo = { name: 'talaria', title: 'Talaria', version: this.#ground.version };
    const agentCapabilities = { loadSession: true, ...can };
    return { protocolVersion: PROTOCOL_VERSION, agentInfo, agentCapabilities, authMethods: [] };
  }

  /** One that goes on is told again before the answer. */
  async #begin({ cwd, mcpServers }: acp.NewSessionRequest, resume?: string) {
    const app = await this.#ground.app();
    const isFolder = isAbsolute(cwd) && known(() => statSync(cwd))?.isDirectory();
    if (!isFolder) throw new Wrong(`cwd must be the whole path of a folder: ${cwd}`, { code: 'no-such-folder' });
    await enterSession({ ...app.environment, cwd }, { isMeant: true });
    // Beginnings and titles, which a person may type, are no ids.
    if (resume !== undefined && !(await app.doors.sessions.get(resume))) throw unknownSession(resume);
    if (resume !== undefined) await this.#leave(resume);
    const own = app.approvalMode();
    const chosen: Seat['chosen'] = { mode: own === 'off' ? 'auto' : own === 'deny' ? 'ask' : own };
    let id = '';
    const opened = await app.openConversation({
      ...{ source: 'acp', cwd, servers: serversOf(mcpServers), permission: () => chosen.mode },
      ...this.#person(() => id),
      ...(resume === undefined ? {} : { resume }),
    });
    if (!opened.ok) throw new TalariaError(opened.detail, { code: opened.reason });
    const talk = opened.value;
    const sight = { cwd, blobs: openBlobs(app.home.blobs) };
    const seat: Seat = { talk, sight, chosen, stop: new AbortController(), last: Promise.resolve() };
    id = talk.session.id;
    this.#seats.set(id, seat);
    await this.#say(seat, pastUpdates(talk.history, sight));
    // An editor knows the session when it has read the answer.
    app.clock.after(0, () => app.background('commands of an editor', this.#offer(app, seat)));
    const modes = { currentModeId: chosen.mode, availableModes: MODES };
    return { sessionId: id, modes, configOptions: optionsOf(app, seat) };
  }

  async #offer(app: App, seat: Seat): Promise<void> {
    const skills = app.doors.skills.list().map(({ name, description }) => ({ name, description, input: WHAT_FOR }));
    const leftOut = seat.talk.history.length > 0 ? undefined : leftOutNotice(app.home, seat.sight.cwd);
    await this.#say(seat, said('agent_thought', leftOut ?? ''));
    await this.#say(seat, [{ sessionUpdate: 'available_commands_update', availableCommands: [COMPRESS, ...skills] }]);
  }

  async #list({ cwd }: acp.ListSessionsRequest): Promise<acp.ListSessionsResponse> {
    const { doors } = await this.#ground.app();
    const all = await doors.sessions.list({ spoken: true, limit: 100, ...(cwd ? { cwd } : {}) });
    const sessions = all.map(({ id: sessionId, cwd: folder, title = null, lastActiveAt }) => {
      return { sessionId, cwd: folder, title, updatedAt: isoTime(lastActiveAt) };
    });
    return { sessions };
  }

  #seat(sessionId: string): Seat {
    const seat = this.#seats.get(sessionId);
    if (!seat) throw unknownSession(sessionId);
    return seat;
  }

  /** Its life goes on with whoever opens it next. */
  async #leave(sessionId: string): Promise<void> {
    const seat = this.#seats.get(sessionId);
    if (!seat) return;
    this.#seats.delete(sessionId);
    cancel(seat);
    await seat.last;
    await seat.talk.leave();
  }

  async #prompt({ sessionId, prompt }: acp.PromptRequest, asked: AbortSignal): Promise<acp.PromptResponse> {
    const seat = this.#seat(sessionId);
    const signal = AbortSignal.any([asked, seat.stop.signal]);
    const turn = seat.last.then(() => (signal.aborted ? 'cancelled' : this.#turn(seat, prompt, signal)));
    seat.last = turn.catch(() => undefined);
    const stopReason = await turn.catch((error) => (signal.aborted ? 'cancelled' : Promise.reject(error)));
    return { stopReason };
  }

  async #turn(seat: Seat, blocks: readonly acp.ContentBlock[], signal: AbortSignal): Promise<acp.StopReason> {
    const app = await this.#ground.app();
    const { text, extra } = readPrompt(blocks, app, seat.talk.model.traits.contextWindow);
    const sight = { ...seat.sight, shown: new Map() };
    let finish: string | undefined;
    const isSkill = app.doors.skills.list().some(({ name }) => text.split(/\s/, 1)[0] === `/${name}`);
    const asked = isSkill ? `Use the skill ${text.slice(1)}` : text;
    for await (const event of text === '/compress'
      ? seat.talk.compress(signal)
      : seat.talk.send(asked, { signal, extra })) {
      await this.#say(seat, updatesOf(event, sight));
      if (event.type === 'step-end') finish = event.finish;
      if (event.type === 'turn-end') return stopReason(event, finish);
    }
    return 'end_turn';
  }

  async #choose({ sessionId, configId, value }: acp.SetSessionConfigOptionRequest) {
    const [app, seat] = [await this.#ground.app(), this.#seat(sessionId)];
    const mode = configId === 'mode' ? MODES.find(({ id }) => id === value) : undefined;
    const model = configId === 'model' ? app.modelFor(String(value)) : undefined;
    if (mode) seat.chosen.mode = mode.id;
    else if (model?.ok) seat.talk.switchModel(model.value);
    else throw new Wrong(model?.detail ?? `there is no ${configId} ${value}`, { code: 'no-such-option' });
    return { configOptions: optionsOf(app, seat) };
  }

  async #say({ talk }: Seat, updates: readonly acp.SessionUpdate[]): Promise<void> {
    const { id: sessionId } = talk.session;
    for (const update of updates) await this.#client?.notify(methods.client.session.update, { sessionId, update });
  }

  #person(id: () => string): Pick<ConversationOptions, 'approver' | 'asker'> {
    return {
      approver: {
        approve: async ({ callId: toolCallId, preview, reason, key }, signal) => {
          const shown = spellUnseen(preview, (code) => `\\u{${code.toString(16)}}`);
          const call = { toolCallId, content: [textContent(`${shown}\n\n${reason}`)] };
          const answer = await this.#ask(id(), call, key === '' ? [ONCE, NO] : [ONCE, ALWAYS, NO], signal);
          return { decision: answer === 'once' || answer === 'always' ? answer : 'deny' };
        },
      },
      asker: {
        ask: async ({ question: title, choices }, signal) => {
          const options = [...choices.map((name, i) => ({ ...ONCE, optionId: String(i), name })), NO];
          const call = { toolCallId: `question: ${title}`, title };
          const answer = choices.length > 0 ? await this.#ask(id(), call, options, signal) : undefined;
          const chosen = choices[Number(answer)];
          return chosen === undefined ? refuse('nobody-there', 'None was chosen; ask in your answer.') : ok(chosen);
        },
      },
    };
  }

  /** After the call was told. Undefined: cancelled, an editor that cannot ask, or an answer that was not offered. */
  async #ask(sessionId: string, call: acp.ToolCallUpdate, options: acp.PermissionOption[], signal: AbortSignal) {
    await (await this.#ground.app()).clock.sleep(0, signal);
    const asked: acp.RequestPermissionRequest = { sessionId, toolCall: { ...call, status: 'pending' }, options };
    const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const answer = this.#client?.request(methods.client.session.requestPermission, asked, waiting);
    const outcome = (await answer?.catch(() => undefined))?.outcome;
    signal.throwIfAborted();
    const taken = outcome?.outcome === 'selected' ? outcome.optionId : undefined;
    return options.some(({ optionId }) => optionId === taken) ? taken : undefined;
  }
}

function unknownSession(id: string): TalariaError {
  const fix = 'session/list names the sessions, session/load opens one.';
  return new TalariaError(`session ${id} is not open here`, { code: 'no-such-session', fix });
}

const PROTOCOL_CODES: Readonly<Record<string, number>> = { 'no-such-session': -32_002, 'session-folder': -32_602 };

function told(error: unknown): never {
  const { code = 'failed', fix } = error instanceof TalariaError ? error : {};
  const number = PROTOCOL_CODES[code] ?? (error instanceof Wrong ? -32_602 : -32_603);
  throw new RequestError(number, errorText(error), { code, fix });
}

function cancel(seat: Seat): void {
  seat.stop.abort(stopRequest());
  seat.stop = new AbortController();
}

/** As `mcp_servers` has them. */
function serversOf(given: readonly acp.McpServer[]): Readonly<Record<string, JsonObject>> {
  const pairs = (list: readonly acp.EnvVariable[]) => Object.fromEntries(list.map(({ name, value }) => [name, value]));
  const servers = given.map((one): [string, JsonObject] => {
    if (!('type' in one)) return [one.name, { command: one.command, args: one.args, env: pairs(one.env) }];
    if (one.type === 'http') return [one.name, { url: one.url, headers: pairs(one.headers) }];
    throw new Wrong(`${one.name}: ${one.type} is not spoken, http and stdio are`, { code: 'no-sse' });
  });
  return Object.fromEntries(servers);
}

function optionsOf(app: App, { talk, chosen }: Seat): acp.SessionConfigOption[] {
  const named = new Map([[talk.model.id, ''], ...app.models().map(({ id, reason }) => [id, reason] as const)]);
  const models = [...named].map(([value, description]) => ({ value, name: value, description }));
  const modes = MODES.map(({ id: value, ...mode }) => ({ ...mode, value }));
  return [
    { type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: chosen.mode, options: modes },
    { type: 'select', id: 'model', name: 'Model', category: 'model', currentValue: talk.model.id, options: models },
  ];
}

const STOPS = { aborted: 'cancelled', stopped: 'max_turn_requests', length: 'max_tokens', done: 'end_turn' } as const;

function stopReason({ outcome, error }: Extract<TurnEvent, { type: 'turn-end' }>, finish?: string): acp.StopReason {
  const { code, message, fix = '' } = error ?? { code: 'failed', message: 'the turn failed' };
  if (outcome === 'failed') throw new TalariaError(message, { code, fix });
  return outcome === 'done' && finish === 'refusal' ? 'refusal' : STOPS[outcome];
}
