// Owns the Tool seam: what a tool is, what it may see, what it gives back. Tools live in the room whose data they touch.
// Knows no tool. Contract suite: test/contract/tool.contract.ts.
import type { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { lazy } from '#base/lazy.ts';
import type { Result } from '#base/result.ts';
import type { Message } from '#core/model/message.ts';
import type { ApprovalDecision, Approver, Asker, Reach } from './approver.ts';

/** What one call got as its surroundings. */
export interface ToolContext {
  readonly sessionId: string;
  readonly callId: string;
  /** Absolute folder that relative paths start from. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly asker: Asker;
  /** Absolute folder for output that is too large to show; it may not exist yet. A tool names its file after `callId`. */
  readonly spillFolder: string;
  /** The conversation so far, oldest first, without the call itself. */
  readonly history: () => readonly Message[];
  /** Takes the values of known secrets out of a text; a tool that writes output to a file itself passes it through here. */
  readonly redact: (text: string) => string;
  /** Live output for the surface; never part of the result. */
  readonly progress: (chunk: string) => void;
  /** Whom this turn asks, for turns that a call begins; absent: nobody. */
  readonly approver?: Approver;
  /** Names of the tools that may run in this turn; absent: not known. */
  readonly runnable?: ReadonlySet<string>;
  /** US dollars that the turn may still cost; absent: no limit. */
  readonly dollarsLeft?: number;
  /** Asks the owner in the middle of a call, e.g. for a wall that a command met; remembered and reported as a call's own risk is. Absent: nobody to ask. */
  readonly approve?: (asked: Asked) => Promise<ApprovalDecision>;
  /** Did this session make the file at this absolute path, and nobody change it since? Absent: not known. */
  readonly isOwnFile?: (path: string) => boolean;
  /** Was something at this absolute path before the session's first command here, whatever has replaced it since? Absent: not known. */
  readonly stoodBefore?: (path: string) => boolean;
}

/** What one call did to one file, for surfaces: the model never sees it. */
export interface FileChange {
  /** Relative in the working folder, absolute elsewhere. */
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted';
  /** Lines. */
  readonly added: number;
  readonly removed: number;
  /** Unified hunks, or one line about files that are no text; not the whole when `more` lines are left out. */
  readonly diff: string;
  readonly more: number;
  /** Why the file as it was could not be kept: an undo cannot bring it back. */
  readonly unkept?: string;
}

/** The call that changes files, and the folder that paths are shown relative to. */
export interface FileCall {
  readonly sessionId: string;
  readonly turn: number;
  readonly callId: string;
  readonly cwd: string;
  /** One line to the owner, e.g. what could not be kept. */
  readonly tell?: (text: string) => void;
}

/**
 * Contract. `keep` makes durable what stands at these absolute, link-free paths, and in all of `folder`, and throws when it cannot record
 * it: the call does not run then. What it gives is called once, when the call has ended; it never throws. `stillRuns`: the call left a
 * command running that may write on, so nothing is told yet.
 */
export interface FileKeeper {
  keep(
    call: FileCall,
    paths: readonly string[],
    folder?: string,
  ): Promise<(stillRuns: boolean) => Promise<readonly FileChange[]>>;
  /** Did this session make the file, and nobody change it since? */
  isOwn(sessionId: string, path: string): boolean;
  /** Was it, or anything in it, there when the session first kept a folder? False also where nothing was kept yet. */
  stoodBefore(sessionId: string, path: string): boolean;
}

export interface ToolOutput {
  /** What the model reads. Caps and spill are the loop's business, unless the tool says that it did both. */
  readonly text: string;
  readonly isError?: boolean;
  /** Default `foreign`; `observed` only when every word is our own record. */
  readonly origin?: 'foreign' | 'observed';
  readonly exitCode?: number;
  /** File that already holds the whole output, when `text` is only its head and tail. */
  readonly spill?: string;
  /** It holds no more than so many bytes of it: the session may save no more. */
  readonly spillBytes?: number;
  /** Size of the whole output when `text` is not all of it. */
  readonly totalBytes?: number;
  /** Pictures that it shows, as files hold them; what is none is said in the result. */
  readonly images?: readonly { readonly bytes: Uint8Array; readonly name?: string }[];
  /** The call left a command running. */
  readonly stillRuns?: boolean;
  /** US dollars of turns that the call began: they count into what this one may cost. null: not known. */
  readonly cost?: number | null;
}

/** What the owner is asked: why, under what his answer may be remembered, what would run, and how far it goes (absent: beyond). */
export interface Asked {
  readonly reason: string;
  readonly key: string;
  readonly preview: string;
  /** What stands under the preview and is no part of what is told later: the words of a file. */
  readonly more?: string;
  readonly reach?: Reach;
}

/**
 * How dangerous one call is. `never` cannot be approved; `ask` needs an approval that may be remembered under `key`. An empty key: it is asked
 * anew each time, also where all else is approved.
 */
export type Risk =
  | { readonly level: 'none' }
  | (Asked & { readonly level: 'ask' })
  | { readonly level: 'never'; readonly reason: string };

/**
 * Contract. `run` gets validated input; it returns failures that a model can act on as `isError` text and throws only for bugs and
 * broken I/O (the loop turns that into an error result too). It stops soon after the signal aborts and leaves no process behind.
 * `effect: 'read'` promises that calls may run at the same time in any order.
 */
export interface Tool<Input = unknown> {
  readonly name: string;
  /** Model-facing; short, since every request pays for it. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Somebody else's JSON Schema, shown as it is instead of that of `input`, which takes any object then. */
  readonly parameters?: JsonObject;
  /** The toolset it belongs to: `terminal`, `file`, `memory`, … */
  readonly toolset: string;
  readonly effect: 'read' | 'write';
  /** `rare`: found by `tool_search` where its toolset was not named. `when-many`: with all of its kind, once they would fill the prompt. Absent: shown. */
  readonly defer?: 'rare' | 'when-many';
  /** The call that one of this tool is: all that goes with a call, permission, hooks, trail, goes with that one. */
  readonly standsFor?: (input: Input) => { readonly name: string; readonly arguments: JsonObject };
  /** Refusal = why it cannot be used here and what would mend it; asked once when a session's tool list is frozen. */
  readonly available?: () => Result<true>;
  readonly risk?: (input: Input, context: ToolContext) => Risk;
  /** Absolute, link-free paths of files that the call may make, change or remove: each is kept before it runs. */
  readonly writes?: (input: Input, context: ToolContext) => readonly string[];
  /** Absolute, link-free path of a folder in which the call may change anything, whatever it names. */
  readonly changes?: (input: Input, context: ToolContext) => string | undefined;
  /** What an owner who is asked sees behind the risk's own preview, e.g. a difference; it changes nothing. */
  readonly preview?: (input: Input, context: ToolContext) => Promise<string>;
  /** One line for the surface, e.g. `$ ls -la`. Default: the name and its first argument. */
  readonly summary?: (input: Input) => string;
  /** Characters of output that the model sees before the rest is spilled; default the loop's cap. */
  readonly outputLimit?: number;
  readonly run: (input: Input, context: ToolContext, signal: AbortSignal) => Promise<ToolOutput>;
  /** The tool with all its work, where this is only what a request says of it; asked for before a call is weighed. */
  readonly load?: () => Promise<AnyTool>;
}

/** What a request says of a tool, and what a prompt is frozen by. */
export type ToolCard<Input> = Omit<
  Tool<Input>,
  'risk' | 'writes' | 'changes' | 'preview' | 'summary' | 'run' | 'load' | 'standsFor'
>;

/** A tool whose input type is its own business: how registries hold tools. */
export type AnyTool = Tool<never>;

/** Types a tool by its schema and forgets the input type, so that lists of tools need no casts. */
export function defineTool<Input>(tool: Tool<Input>): AnyTool {
  return tool as unknown as AnyTool;
}

/** A tool whose code is loaded with its first call. */
export function lateTool<Input>(card: ToolCard<Input>, load: () => Promise<AnyTool>): AnyTool {
  const loaded = lazy(load);
  return {
    ...(card as ToolCard<never>),
    load: loaded,
    run: async (input, context, signal) => (await loaded()).run(input, context, signal),
  };
}
