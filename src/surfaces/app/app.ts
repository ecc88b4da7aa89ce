// Owns the shape of the composed agent: what a surface, an example or a test may do with it. Composition is compose.ts.
// Knows no terminal. Invariant: after `shutdown` nothing of the app runs any more and every file of the home is closed.
import type { Clock } from '#base/clock.ts';
import type { EventSource } from '#base/fabric.ts';
import type { Result } from '#base/result.ts';
import type { Approver, Asker } from '#core/agent/approver.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { PromptSection } from '#core/agent/frozen-prompt.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { MemoryProvider } from '#core/agent/memory-provider.ts';
import type { ReflexQuestion, ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Doors, Forgets, Forgot, OpenRoom, Room, SessionPlace, TurnRequest } from '#core/agent/room.ts';
import type { SessionStart } from '#core/agent/session-store.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { SessionEvent, TurnEvent } from '#core/agent/turn-event.ts';
import type { ImagePart, Origin } from '#core/model/message.ts';
import type { ModelClient, Tier } from '#core/model/model-client.ts';
import type { ImageRefusal } from '#core/model/pictures.ts';
import type { RememberedApprovals } from '#core/tools/core-tools.ts';
import type { ShownTools } from '#core/tools/deferred-tools.ts';
import type { ToolsetRefusal } from '#core/tools/tool-registry.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { Environment } from './environment.ts';
import type { LoadedConfig } from './home/config.ts';
import type { Home } from './home/home.ts';

export interface AppOptions {
  readonly environment: Environment;
  /** For this run only, before config: `provider/model`, or `reflex`. */
  readonly model?: string;
  /** For this run only, instead of the configured toolsets. */
  readonly toolsets?: readonly string[];
  readonly clock?: Clock;
  /** One turn and out: reviews are recorded and left to a start that stays. */
  readonly oneShot?: boolean;
  /** It runs until it is stopped, for others. */
  readonly serves?: boolean;
  readonly run?: RunSettings;
  /** A session begins in this folder: whether it may is asked before anything is made. */
  readonly door?: SessionDoor;
  /** What an embedding program or a test brings along. */
  readonly extra?: AppExtras;
}

/** A chat or a turn is to begin. */
export interface SessionDoor {
  /** `--here`. */
  readonly isMeant: boolean;
  /** Absent: nobody sits there. */
  readonly ask?: (question: string) => Promise<string>;
}

/** For this run only, before config. */
export interface RunSettings {
  /** The others are shown as ever, for the prompt's cache, and answer `tool-not-allowed`. */
  readonly allowedTools?: readonly string[];
  readonly maxSteps?: number;
  /** `read-only`: what may change something is refused. `auto`: what would be asked is answered with yes, unless the configuration denies it. */
  readonly permission?: Permission;
  /** Stands at the end of the prompt of each new session. */
  readonly appendPrompt?: string;
}

export type Permission = 'ask' | 'read-only' | 'auto';

/** What becomes of a risky call in this run: asked, denied, run; `read-only`: nothing that may change something runs at all. */
export type ApprovalMode = 'ask' | 'deny' | 'off' | 'read-only';

export interface AppExtras {
  readonly tools?: readonly AnyTool[];
  readonly hooks?: readonly Hooks[];
  /** Opened after those of the house. */
  readonly rooms?: readonly Room[];
  /** Memory beside the files; `memory.provider` chooses one of them. */
  readonly memoryProviders?: readonly MemoryProvider[];
  /** Used instead of those of the machine. */
  readonly walls?: Walls;
  /** Used instead of every configured provider. */
  readonly client?: ModelClient;
}

/** The model that answers, and why it was chosen. */
export interface ModelInfo {
  /** `<provider>/<model>` or `reflex/1`. */
  readonly id: string;
  readonly tier: Tier;
  /** One line: `OPENAI_API_KEY is set`. */
  readonly reason: string;
  readonly contextWindow: number;
}

/** What one session works with instead of what the run has. */
export interface SessionMeans {
  /** As `switchModel` takes it; the run's switches do not reach this conversation then. */
  readonly model?: string;
  readonly toolsets?: readonly string[];
  /** Tools of this conversation alone. */
  readonly extraTools?: readonly AnyTool[];
  readonly maxSteps?: number;
  /** Of one answer of its model. */
  readonly maxOutputTokens?: number;
  /** MCP servers of this conversation alone, as `mcp_servers` has them. */
  readonly servers?: NonNullable<SessionPlace['servers']>;
  /** Instead of the run's, and asked anew for each call; what the configuration or a run of `read-only` denies stays denied. */
  readonly permission?: () => Permission;
  /** Who talks. A `guest` is somebody else: his words are `foreign`, nothing that is known of the owner is shown, and nothing acts or keeps. */
  readonly seat?: 'owner' | 'guest';
}

export interface ConversationOptions
  extends SessionMeans,
    Pick<SessionStart, 'userId' | 'chatId' | 'parentId' | 'title'> {
  /** Id of a session to go on with. */
  readonly resume?: string;
  /** Go on with the last session of this source and folder. */
  readonly continueLast?: boolean;
  /** Id of the new session; refused as `session-exists` when there is one of that name. */
  readonly newId?: string;
  readonly source: string;
  readonly cwd: string;
  readonly approver: Approver;
  readonly asker: Asker;
}

export type OpenRefusal = 'no-such-session' | 'owned-elsewhere' | 'session-exists' | 'model-unknown' | ToolsetRefusal;

/** A place to ask that is added while talking: a key, or the address of an endpoint. */
export interface ModelAddition {
  /** Name of a known provider; found from the shape of the key when absent. */
  readonly provider?: string;
  readonly key?: string;
  readonly baseUrl?: string;
  readonly model?: string;
}

export interface App {
  readonly home: Home;
  readonly clock: Clock;
  readonly loaded: LoadedConfig;
  readonly environment: Environment;
  /** What the rooms lend. */
  readonly doors: Doors;
  readonly events: EventSource<SessionEvent>;
  /** What a person should be told once at the start: a quarantined file, a newer config. */
  readonly notices: readonly string[];
  /** The same about models: a key that is not set. For whoever is about to use one. */
  readonly modelNotices: readonly string[];
  readonly model: () => ModelInfo;
  /** Tokens that the model that would answer this tier now reads at once. */
  readonly windowOf: (tier: Tier) => number;
  /** Every model that could be switched to without further setup. */
  readonly models: () => readonly ModelInfo[];
  /** One of them for a single conversation, by its id; absent: what would answer now. */
  readonly modelFor: (name?: string) => Result<ModelClient, 'model-unknown'>;
  /** `reflex`, `provider/model`, or a model of the present provider. The next step of every open conversation that has no model of its own uses it. */
  switchModel(name: string): Promise<Result<ModelInfo, 'missing-key' | 'no-provider' | 'no-model'>>;
  /** Tests it with one call, keeps key and address in the home, and switches to it. Nothing is kept when the test fails. */
  addModel(
    addition: ModelAddition,
    signal: AbortSignal,
  ): Promise<Result<ModelInfo, 'missing-key' | 'no-provider' | 'no-model' | 'model-failed'>>;
  /** What may run without being asked for again, because the owner said so. */
  readonly approvals: () => RememberedApprovals;
  /** What holds in this run, or with this permission: its own word comes before the configuration's, but for what that denies. */
  readonly approvalMode: (permission?: Permission) => ApprovalMode;
  /** What keeps commands in. */
  readonly walls: () => Walls;
  /** By name, whether a session is shown them or not. */
  readonly allTools: () => ReadonlyMap<string, AnyTool>;
  /** What a new session in this folder would be shown, what it could find, and what it could not use, with the reason. */
  tools(cwd?: string): Promise<ShownTools>;
  /** What the prompt of a new session in `cwd` is made of. */
  promptSections(cwd: string): readonly PromptSection[];
  readonly reflexRules: () => Promise<readonly ReflexRule[]>;
  /** The numbered question with which reflex/1 ended a conversation's last turn. */
  readonly reflexQuestion: (talk: Pick<Conversation, 'history' | 'prompt'>) => Promise<ReflexQuestion | undefined>;
  /** Does reflex/1 go first for its own forms, beside the present model? */
  readonly isReflexFirst: () => boolean;
  /** What Talaria is, what it found, and three things to type in this folder. */
  firstScreen(): Promise<readonly string[]>;
  /** Of every room: see `OpenRoom.deliveries`. */
  deliveries: NonNullable<OpenRoom['deliveries']>;
  /** What rooms take over of a home of hermes-agent. */
  readonly imports: () => readonly NonNullable<OpenRoom['imports']>[];
  /** What `forget` takes out of what the rooms keep themselves. */
  forget(what: Forgets): Promise<readonly Forgot[]>;
  /** Commands of the shell and the chat, those of all rooms included. */
  commands(): Promise<readonly AnyCommand[]>;
  openConversation(options: ConversationOptions): Promise<Result<Conversation, OpenRefusal>>;
  /** A turn in a session of its own, with nothing runnable but what was asked for and nobody to answer questions. */
  runExtensionTurn(request: TurnRequest, signal: AbortSignal): AsyncIterable<TurnEvent>;
  /** Would a session with these open? */
  allows(means: Pick<SessionMeans, 'model' | 'toolsets'>): Promise<Result<true, OpenRefusal>>;
  /** Keeps a picture, for a message. */
  keepImage(
    bytes: Uint8Array,
    about: { readonly name?: string; readonly origin: Origin },
  ): Result<ImagePart, ImageRefusal>;
  /** Takes known secrets and key-shaped texts out. */
  readonly redact: (text: string) => string;
  /** Held until it settles, or until shutdown's patience ends; a failure becomes a logged event. */
  background(name: string, work: Promise<unknown>): void;
  /** Idempotent, also under SIGTERM: stops running turns, drains background work, closes every store. */
  shutdown(): Promise<void>;
}
