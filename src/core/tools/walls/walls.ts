// Owns the Walls seam: a command runs where the kernel keeps it, and what it met there is told. Knows no tool and no way to build a wall.
// Invariant: what is not opened is closed; a command that was to be enclosed and cannot be is not run.
import type { ProcessRequest } from '#base/process.ts';

declare module '#core/agent/room.ts' {
  interface Mind {
    /** Around commands. */
    readonly walls: () => Walls;
  }
}

/**
 * `walls`: commands are enclosed. `machine`: the owner said that this whole machine is the wall (a throw-away container), so commands run
 * as they are. `none`: no wall can be built here.
 */
export interface WallState {
  readonly kind: 'walls' | 'machine' | 'none';
  /** What builds them (`bubblewrap 0.8.0`), or why there are none. */
  readonly detail: string;
  /** What would mend `none`: an install line. */
  readonly fix?: string;
}

/** Between a host and the address of this machine or its network that it has: both together are one thing to say yes to. */
export const NEAR = ' at ';

/** What the owner may type, so that it is open from the next start on. */
export function settingLine(key: 'hosts' | 'paths', value: string): string {
  const list = JSON.stringify([value]).replaceAll("'", "'\\''");
  return `talaria config set sandbox.${key} '${list}' (this sets the whole list)`;
}

/**
 * One wall that can be opened for a command. Paths are absolute and link-free; a host is a name with its port,
 * `registry.npmjs.org:443`, or `name:port at ADDRESS` where that is an address of this machine or its network.
 */
export type Opening =
  | { readonly kind: 'host'; readonly host: string }
  /** The machine's own network instead of the proxy: for what speaks no HTTP, and for servers of the machine. */
  | { readonly kind: 'network' }
  | { readonly kind: 'read' | 'write'; readonly path: string };

export interface Enclosure {
  readonly sessionId: string;
  /** The session's folder as the owner opened it: all that may be written. The command's own folder must lie inside. */
  readonly folder: string;
  readonly openings: readonly Opening[];
  /** Asked while the command waits on its connection; one answer a host and command. */
  readonly askHost: (host: string) => Promise<boolean>;
}

/** What is known when a command has ended. */
export interface Met {
  /** Walls that it seems to have run into, the most telling first: opened, it may do what it could not. A guess for a question, no more. */
  readonly openings: readonly Opening[];
  /** Absolute paths that steer a later run (hooks, start files, instructions of agents), which this command made. */
  readonly planted: readonly string[];
  /** With what was planted. */
  readonly fate?: Fate;
  /** What the owner or the model should know: written into the private home, ended for a full disk. */
  readonly notes: readonly string[];
}

/** What becomes of what a command planted, once the owner was asked. */
export interface Fate {
  /** All of it, as it is now, counts as the owner's. */
  stays(): void;
  /** This one was taken away: what the owner had there before stands there again, as far as it was kept. */
  putBack(path: string): 'done' | 'nothing' | 'not kept';
  /** Last: what could not be taken away keeps commands from this folder until it is gone. */
  decided(left: readonly string[]): void;
}

export interface Enclosed {
  readonly request: ProcessRequest;
  /** Another command ran in its folder when it began: what is opened for this one it can be handed, and keep until it ends. */
  readonly isShared?: boolean;
  /** Once, when the command has ended. */
  settle(ended: { readonly output: string; readonly failed: boolean }): Promise<Met>;
}

/** Contract suite: test/contract/walls.contract.ts (built walls and `machine`). */
export interface Walls {
  /** Asked of the machine once, at the first call. */
  state(): WallState;
  /** Throws TalariaError `no-walls`, `outside-folder` for a command's folder that lies outside, `steering-left` (`Fate.decided`). */
  enclose(request: ProcessRequest, enclosure: Enclosure): Promise<Enclosed>;
  /** Removes what a session had of its own: private home, temporary folder, connections. */
  endSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}
