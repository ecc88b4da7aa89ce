// Owns the door for programs that embed Talaria (`talaria`): open a home, talk, listen, bring tools. Knows no terminal.
// Invariant: without an approver every risky call is denied; `close` leaves nothing running and every file closed.
import { isAbsolute, resolve } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { type Approver, type Asker, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { MemoryProvider } from '#core/agent/memory-provider.ts';
import type { Room } from '#core/agent/room.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { SessionEvent, TurnEvent } from '#core/agent/turn-event.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { SearchHit } from '#mind/sessions/search/message-search.ts';
import type { ConversationOptions, ModelInfo } from './app.ts';
import { readEnvironment } from './environment.ts';
import { leftOutNotice } from './home/trust.ts';
import { composeApp } from './house.ts';

export interface TalariaOptions {
  /** Folder of the home; default TALARIA_HOME, else `~/.talaria`. Made when it is not there. */
  readonly home?: string;
  /** Folder that tools work in; default the current one. */
  readonly cwd?: string;
  /** `provider/model`, or `reflex`; default as the command line chooses. */
  readonly model?: string;
  /** Used instead of every configured provider: a client of your own, or a scripted one. */
  readonly client?: ModelClient;
  readonly toolsets?: readonly string[];
  /** What your program brings along; its tools are always shown. */
  readonly extras?: TalariaExtras;
}

export interface TalariaExtras {
  readonly tools?: readonly AnyTool[];
  readonly hooks?: readonly Hooks[];
  readonly rooms?: readonly Room[];
  /**
   * Memory beside the files. `memory.provider` in config.yaml chooses one by its name; the files stay, and the others are not started.
   * One that cannot be used is a notice. What it keeps outside the home is not in `talaria backup`.
   */
  readonly memoryProviders?: readonly MemoryProvider[];
}

export interface TalkOptions extends Pick<ConversationOptions, 'model' | 'toolsets' | 'userId' | 'chatId'> {
  /** Folder that its tools work in; default that of the home's opening. */
  readonly cwd?: string;
  /** Id of a session, to go on with it; default a new one. */
  readonly resume?: string;
  /** Asked about risky calls; default everything that would be asked is denied. */
  readonly approver?: Approver;
  /** Asked when the agent has a question; default nobody is there. */
  readonly asker?: Asker;
  /** Name of your program in the stored session; default `api`. */
  readonly source?: string;
}

/** The end of one turn. */
export type TurnResult = Extract<TurnEvent, { type: 'turn-end' }>;

/** One conversation. Its turns run one at a time. */
export interface Talk {
  readonly sessionId: string;
  /** One turn as a stream of events; the last one is `turn-end`. Throws `turn-running` while another runs. */
  send(text: string, options?: { readonly signal?: AbortSignal }): AsyncGenerator<TurnEvent, void>;
  /** One turn, collected: resolves also for a failed turn, whose `outcome` and `error` say why. */
  ask(text: string, options?: { readonly signal?: AbortSignal }): Promise<TurnResult>;
  /** A line for the turn under way, taken between two steps. */
  steer(text: string): void;
  close(): Promise<void>;
}

export interface Talaria {
  /** Absolute path. */
  readonly home: string;
  readonly model: () => ModelInfo;
  /** What the opening had to tell: a quarantined file, a newer configuration, a missing key. */
  readonly notices: readonly string[];
  /** Throws TalariaError `no-such-session`, `owned-elsewhere`, `model-unknown` or `unknown-toolset`. */
  talk(options?: TalkOptions): Promise<Talk>;
  /** Events of every turn of this process, with its session. The returned function ends the subscription. */
  subscribe(listener: (told: SessionEvent) => void): () => void;
  /** Stored messages, best first; any text is a legal question. */
  search(question: string, options?: { readonly limit?: number }): Promise<readonly SearchHit[]>;
  /** Stops running turns, drains background work, closes the home. Idempotent. */
  close(): Promise<void>;
}

/** Throws TalariaError: `config-invalid`, `missing-key`, `disk-full`, what the database says. */
export async function openTalaria(options: TalariaOptions = {}): Promise<Talaria> {
  const { home, cwd, model, client, toolsets, extras = {} } = options;
  const process = readEnvironment();
  const folder = cwd === undefined ? process.cwd : resolve(process.cwd, cwd);
  const variables =
    home === undefined ? process.variables : { ...process.variables, TALARIA_HOME: absolute(home, process.cwd) };
  const app = await composeApp({
    environment: { ...process, variables, cwd: folder },
    ...(model === undefined ? {} : { model }),
    ...(toolsets === undefined ? {} : { toolsets }),
    extra: { ...extras, ...(client ? { client } : {}) },
  });
  const leftOut = leftOutNotice(app.home, folder);
  return {
    home: app.home.root,
    model: app.model,
    notices: [...app.notices, ...app.modelNotices, ...(leftOut ? [leftOut] : [])],
    subscribe: (listener) => app.events.subscribe(listener),
    search: (question, limits = {}) => app.doors.sessions.search(question, limits),
    close: () => app.shutdown(),
    talk: async (talk = {}) => {
      const { approver = denyingApprover, asker = absentAsker, source = 'api' } = talk;
      const where = resolve(folder, talk.cwd ?? '.');
      const opened = await app.openConversation({ ...talk, source, cwd: where, approver, asker });
      if (!opened.ok) throw new TalariaError(opened.detail, { code: opened.reason });
      return asTalk(opened.value);
    },
  };
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function asTalk(conversation: Conversation): Talk {
  const send: Talk['send'] = (text, { signal = new AbortController().signal } = {}) =>
    conversation.send(text, { signal });
  return {
    sessionId: conversation.session.id,
    send,
    ask: async (text, options) => {
      let end: TurnResult | undefined;
      for await (const event of send(text, options)) if (event.type === 'turn-end') end = event;
      if (!end) throw new TalariaError('the turn ended without its last event', { code: 'turn-broken' });
      return end;
    },
    steer: (text) => conversation.steer(text),
    close: () => conversation.close(),
  };
}
