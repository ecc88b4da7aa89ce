// Owns what a room above core is to the rest of the house (design 2): one front, `room.ts`, says it as data, and the app loops over its list
// of fronts. Knows no room. Invariant: a front and the grounds open nothing when they are made. Contract suite: test/contract/room.contract.ts.
import type { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import type { Fabric } from '#base/fabric.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import type { Embedder } from '#core/model/embedders.ts';
import type { Origin, UserPart } from '#core/model/message.ts';
import type { ModelClient, Purpose, Tier } from '#core/model/model-client.ts';
import type { Approver } from './approver.ts';
import type { AnyCommand } from './command-spec.ts';
import type { PromptSources } from './frozen-prompt.ts';
import type { HealthLine, HealthLook } from './health.ts';
import type { Hooks } from './hooks.ts';
import type { MemoryProvider } from './memory-provider.ts';
import type { ReflexRule, ReflexTask } from './reflex-rule.ts';
import type { AnyTool, FileKeeper } from './tool.ts';
import type { SessionEvent, TurnEvent } from './turn-event.ts';

/** What a folder exports as `room` of its `room.ts`. */
export interface Room {
  /** Kebab-case: the first word of its commands, and its section of config.yaml. */
  readonly name: string;
  /** Its section, where that is not its name. */
  readonly section?: string;
  /** Shape of its section, every key with a default. */
  readonly settings?: () => Promise<z.ZodType>;
  /** Names in `memory.env`, and of variables, whose values are secrets: no command of the agent sees them, and they are redacted. */
  readonly secrets?: readonly string[];
  /** Doors that it lends: who asks for one opens the room. */
  readonly lends?: readonly (keyof Doors)[];
  /** Its tables in state.db, whose every table is made when the file is opened. */
  readonly tables?: RoomSchema;
  /** The memory provider that it brings; opened when `memory.provider` names it. */
  readonly provider?: { readonly name: string; readonly open: (ground: Ground) => Promise<MemoryProvider> };
  /** Making the list opens nothing. */
  readonly commands?: (ground: Ground) => Promise<readonly AnyCommand[]>;
  /** What `doctor` says of what the room keeps: it works in a broken home, opens no agent, and changes nothing unless it is to repair. */
  readonly doctor?: (ground: Ground, look: HealthLook) => Promise<readonly HealthLine[]>;
  /** Not with the agent: when a door of it is asked for, by whoever needs it. */
  readonly opens?: 'when-asked';
  /** Once in an agent, in the order of the list; what it throws ends the start. */
  readonly open?: (ground: RoomGround) => OpenRoom | Promise<OpenRoom>;
}

/** One thing to tell. */
export interface Delivery {
  /** The same when it is told again. */
  readonly ref: string;
  /** `local`, `telegram:CHAT`, `webhook:NAME`. */
  readonly to: string;
  readonly text: string;
}

/** What a room adds to an agent. Names that are taken end the start with `name-taken`. */
export interface OpenRoom {
  /** Those of `lends`. */
  readonly doors?: Partial<Doors>;
  readonly tools?: readonly AnyTool[];
  /** Tools of one session, before they are frozen; quick, and nothing is started for it. Names that are taken end the session's start. */
  readonly sessionTools?: (session: SessionPlace) => Promise<readonly AnyTool[]>;
  /** A line for the owner at the start of a chat, where something happened that he has not seen. */
  readonly news?: () => Promise<readonly string[]>;
  /**
   * What it has for a channel: targets as `telegram:*`, where `*` stands for anything. `keep` makes it durable elsewhere before it counts as told;
   * a `ref` may come to it twice.
   */
  readonly deliveries?: (to: string, keep: (all: readonly Delivery[]) => Promise<void>) => Promise<void>;
  readonly hooks?: readonly Hooks[];
  /** Loaded when the model-free tier answers. */
  readonly rules?: () => Promise<readonly ReflexRule[]>;
  readonly tasks?: readonly ReflexTask[];
  /** They run one at a time, a late one once; a failing one is a notice and runs again at its next time. */
  readonly jobs?: readonly Job[];
  /** What stands in the prompt of a session that starts now, for a window of so many tokens. */
  readonly prompt?: (window: number) => Partial<Pick<PromptSources, 'memory' | 'skills'>>;
  /** Keeps what stood in files before calls change them. */
  readonly files?: FileKeeper;
  /** Takes out of what the room keeps what is to be forgotten. The last room of the list comes first: what is found through a room goes before it. */
  readonly forget?: (what: Forgets) => Promise<readonly Forgot[]>;
  /** A file or folder of a home of hermes-agent that becomes this room's own, by its name there. */
  readonly imports?: {
    readonly entry: string;
    readonly bring: (from: string, dryRun: boolean) => Promise<readonly Brought[]>;
  };
  /** When the program ends: waits for what runs beside the turns, until the signal aborts. */
  readonly settle?: (signal: AbortSignal) => Promise<void>;
  /** What else it adds to an agent, for a room whose doors are asked for where there is none. */
  readonly seated?: () => Promise<Omit<OpenRoom, 'doors' | 'close' | 'seated'>>;
  /** Once, when its jobs have stopped and before its databases close. */
  readonly close?: () => void | Promise<void>;
}

/** `left`: why it did not come, or not whole; `broken`: it could not be read. */
export interface Brought {
  readonly name: string;
  readonly outcome: 'taken' | 'here' | { readonly left: string; readonly broken?: true };
}

/** Where a session is about to begin, or to go on. */
export interface SessionPlace {
  readonly cwd: string;
  readonly seat?: 'owner' | 'guest';
  /** MCP servers that its surface brings, by name. */
  readonly servers?: Readonly<Record<string, JsonObject>>;
}

export interface Job {
  /** Unique within the room. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A session, everything before a time, or whatever holds a text. */
export interface Forgets {
  /** Stored messages that are meant. */
  readonly sessions: readonly ForgottenSession[];
  /** Given with a text: does another one, as it is or within JSON, hold it? */
  readonly holds?: (text: string) => boolean;
  /** Given with a text: takes it out of another one. */
  readonly replace?: (text: string) => string;
  readonly text?: string;
  /** Epoch ms. */
  readonly before?: number;
  /** Also out of what the owner keeps. */
  readonly everywhere: boolean;
  readonly signal: AbortSignal;
}

export interface ForgottenSession {
  readonly key: number;
  readonly id: string;
  readonly title: string | undefined;
  /** Nothing of it is left. */
  readonly whole: boolean;
  readonly messages: readonly ForgottenMessage[];
}

export interface ForgottenMessage {
  readonly id: number;
  readonly role: string;
  readonly text: string;
  /** File that holds the whole output of a tool. */
  readonly spill?: string;
  /** Hashes of its pictures. */
  readonly blobs?: readonly string[];
}

export interface Forgot {
  /** What was counted, in the plural. */
  readonly name: string;
  readonly count: number;
  /** Files whose freed bytes another process still holds. */
  readonly busy?: readonly string[];
}

/** Absolute paths. */
export interface Places {
  readonly home: string;
  /** The person's own folder: what `~` stands for. */
  readonly userHome: string;
  readonly config: string;
  /** The local skills folder. */
  readonly skills: string;
  /** One folder for each version of a skill, with its manifest. */
  readonly skillBackups: string;
  readonly memories: string;
  /** What waits for the owner's yes. */
  readonly pending: string;
  /** What stood in files before the agent changed them. */
  readonly checkpoints: string;
  readonly cache: string;
  /** Whole outputs of tools whose preview the model saw. */
  readonly spill: string;
  readonly stateDatabase: string;
  readonly evidenceDatabase: string;
  /** Bytes of pictures, by their hash. */
  readonly blobs: string;
  readonly engines: string;
  readonly models: string;
  /** File of the lease that every unattended writer of the home takes. */
  readonly lease: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** What a room's commands and tools may use. */
export interface Ground {
  readonly clock: Clock;
  readonly places: Places;
  /** Variables of the process, `.env` of the home counted in. */
  readonly variables: Variables;
  /** What a command of the owner's gets of them: none that holds a secret, unless he named it. Throws `config-invalid`. */
  readonly commandVariables: () => Promise<Variables>;
  /** Program and first arguments that start Talaria again from anywhere. */
  readonly program: readonly string[];
  /** Tells the owner one sentence: at the start of a chat, later in the log. Absent where nobody listens. */
  readonly notice?: (text: string) => void;
  /** What config.yaml says, read without composing the agent. Throws `config-invalid`. */
  readonly settings: () => Promise<Settings>;
  /** Throws TalariaError `config-value`, `config-newer`, `secret`, `env-invalid`; nothing was written then. */
  readonly keep: (change: SettingsChange) => Promise<void>;
  /** Throws TalariaError `home-read-only` or `home-newer` where nothing may be changed; opens state.db, which says so. */
  readonly writable: () => Promise<void>;
  /** Opens the room that lends it, and what that asks for, and nothing else. */
  readonly door: <Name extends keyof Doors>(name: Name) => Promise<Doors[Name]>;
  /** Composes the agent, once. */
  readonly open: () => Promise<Mind>;
  /** Another home in this process, opened as this one is. Keys of this one count there as keys of the process; opens nothing by itself. */
  readonly homeAt: (place: HomeAt) => OpenedHome;
}

export interface HomeAt {
  /** Absolute. */
  readonly root: string;
  /** Absolute folder that its tools work in. */
  readonly cwd: string;
  /** Of everything in it; default that of this ground. */
  readonly clock?: Clock;
  /** Opened after those of the house. */
  readonly rooms?: readonly Room[];
}

export interface OpenedHome {
  readonly ground: Ground;
  /** Ends what runs there and closes its files. Idempotent. */
  readonly shutdown: () => Promise<void>;
}

/** What `open` is given besides. All of it ends with the room. */
export interface RoomGround extends Ground {
  readonly events: Fabric<SessionEvent>;
  readonly notice: (text: string) => void;
  readonly log: (event: string, text: string) => void;
  /** Takes the values of known secrets out; `redactSecrets` of base takes key-shaped texts out. */
  readonly redact: (text: string) => string;
  readonly background: Background;
  /** Work for after the first turn. */
  readonly later: (name: string, work: () => Promise<unknown>) => void;
  /** False: one turn and out. */
  readonly stays: boolean;
  /** It runs until it is stopped, for others: what is due is done here. */
  readonly serves: boolean;
  /** How state.db is opened here. */
  readonly opening: StateOpening;
  readonly embedder: () => Promise<Embedder | undefined>;
  /** Memory beside the files: of the rooms' own only the one that `memory.provider` names is opened, and all are installed. */
  readonly providers: () => Promise<{
    readonly known: readonly MemoryProvider[];
    readonly installed: readonly string[];
  }>;
  readonly seat: Seat;
  /** A file of its own in the home, `NAME.db` or one folder deeper, never another's. Throws `file-name` or `name-taken`. */
  readonly database: (fileName: string, schema: RoomSchema) => Database;
}

export interface Background {
  /** Aborts when the program ends. */
  readonly signal: AbortSignal;
  /** Held until it settles; a failure becomes a logged event. */
  hold(name: string, work: Promise<unknown>): void;
}

export interface StateOpening {
  /** Tables of the other rooms. */
  readonly rooms: readonly RoomSchema[];
  readonly readOnly?: boolean;
  /** Where writers show that they have the file open. */
  readonly flags?: string;
  /** Files that are there only once it was. */
  readonly traces?: () => readonly string[];
}

/** What a turn will find. All but `small` may be asked when the agent is composed, and throws before. */
export interface Seat {
  readonly model: () => ModelClient;
  readonly forTier: (tier: Tier) => ModelClient;
  /** Absent: no small model is configured. */
  readonly small?: () => ModelClient | undefined;
  readonly tools: () => ReadonlyMap<string, AnyTool>;
  /** What a session of this run can do: skills are offered by it. */
  readonly shown: () => Shown;
  /** Can a person answer in this session? */
  readonly isAttended: (sessionId: string) => boolean;
  /** And is he asked? */
  readonly isAsked: (sessionId: string) => boolean;
}

export interface Shown {
  readonly platform: string;
  readonly tools: ReadonlySet<string>;
  readonly toolsets: ReadonlySet<string>;
}

/** What rooms lend each other: who lends a door adds it by `declare module '#core/agent/room.ts' { interface Doors { … } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it
export interface Doors {}

/** The composed agent, as far as a room may see it: the doors of the rooms that opened with it, and a turn. */
export interface Mind extends Doors {
  /** The one turn function. With `system` nothing of memory, skills or the project is in the prompt, and no session is kept. */
  readonly runTurn: (request: TurnRequest, signal: AbortSignal) => AsyncIterable<TurnEvent>;
  readonly config: Settings['section'];
  /** Tier of what would answer a turn now; T0: there is no language model. */
  readonly answering: () => Tier;
  /** Tokens that the model that would answer this tier now reads at once. */
  readonly window: (tier: Tier) => number;
  /** Would a turn with these begin? */
  readonly allows: (means: Pick<TurnRequest, 'model'> & Pick<ToolChoice, 'toolsets'>) => Promise<Result<true>>;
  /** Takes known secrets and key-shaped texts out. */
  readonly redact: (text: string) => string;
}

export interface Settings {
  /** `memory.provider` */
  readonly provider: string;
  /** `memory.env` with `${NAME}` filled in; an entry whose variable is not set is absent. */
  readonly env: Readonly<Record<string, string>>;
  /** Does config.yaml have this section? */
  readonly has: (name: string) => boolean;
  /** A room's section, checked; defaults come from the schema. Throws `config-invalid` naming line and key. */
  readonly section: <T>(name: string, schema: z.ZodType<T>) => T;
}

/** Everything is checked before anything is written; then new secrets, the settings as one write, and last the secrets that go. */
export interface SettingsChange {
  /** Undefined takes one out. */
  readonly config?: readonly { readonly path: readonly string[]; readonly value: JsonValue | undefined }[];
  /** For `.env`, by name of variable; undefined takes one out. */
  readonly secrets?: Variables;
}

export interface ToolChoice {
  /** Default those of the run. Throws `unknown-toolset`. */
  readonly toolsets?: readonly string[];
  /** Toolsets whose tools are left out, however they came in. */
  readonly without?: readonly string[];
  /** Nothing but these: a child has no more than its parent. */
  readonly within?: ReadonlySet<string>;
}

export interface TurnRequest {
  readonly text: string;
  readonly purpose: Purpose;
  readonly tier: Tier;
  /** The tools that are shown and may run, by name or by toolset; nothing else is runnable. */
  readonly tools: readonly string[] | ToolChoice;
  readonly maxSteps: number;
  /** US dollars; default `agent.max_cost`. */
  readonly maxCost?: number;
  /** What its session is listed as; default `extension`. What a `golem` does is judged by its domain, and by nobody here. */
  readonly source?: 'golem' | 'subagent' | 'cron' | 'mcp';
  /** The call that asks for it: its session is listed as a child of that one. */
  readonly parent?: { readonly sessionId: string; readonly callId: string };
  /** Goes on in this session. Throws `no-such-session` or `owned-elsewhere`. */
  readonly resume?: string;
  /** Absolute folder that its tools work in; default that of the run. */
  readonly cwd?: string;
  /** Whom risky calls are put to; default nobody: they are denied. */
  readonly approver?: Approver;
  /** Default `owner`; what a `guest` is, SessionMeans of the app says. */
  readonly seat?: 'owner' | 'guest';
  /** False: no block of memory is in the prompt. */
  readonly memory?: boolean;
  /** Parts before the text. */
  readonly extra?: readonly UserPart[];
  /** Whose words the text is; default `model`. */
  readonly origin?: Origin;
  /** Instead of the frozen prompt: nothing of memory, skills or the project is sent, no tool runs, and no session is kept but for its cost. */
  readonly system?: string;
  /** `provider/model` instead of the tier's. Throws `model-unknown` when it is not set up. */
  readonly model?: string;
  /** Only together with `system`. */
  readonly maxOutputTokens?: number;
}
