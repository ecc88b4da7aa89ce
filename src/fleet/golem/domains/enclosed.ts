// Owns what the real domains stand on: one shell line inside walls, an end for what still runs, and what was so at an earlier time. Knows no
// check and no repository. Invariants: nobody is ever asked; what is not named stays closed; what steers later runs and was planted is taken
// away; when a run settles, nothing of it runs.
import { homedir } from 'node:os';
import { AbortedError, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { type ProcessResult, runProcess, withoutVariables } from '#base/process.ts';
import { headTail } from '#base/text.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { isHostNamed } from '#core/tools/public-address.ts';
import { isWithin } from '#core/tools/risk/place.ts';
import { plainOutput } from '#core/tools/terminal/command-output.ts';
import { removedNote } from '#core/tools/terminal/enclosed-run.ts';
import { type Enclosed, type Enclosure, NEAR, type Opening, type Walls } from '#core/tools/walls/walls.ts';
import type { Acted } from './domain.ts';

interface EnclosedLine {
  readonly line: string;
  /** Open beside the scratch folder: absolute, or below the folder that the line runs in; with `:ro` at the end for reading. */
  readonly paths?: readonly string[];
  /** `name`, `name:port`, `*.name`. A server of this machine or its network is named with its port. */
  readonly hosts?: readonly string[];
  /** Default 60 s. */
  readonly timeoutMs?: number;
  /** Of the text that is kept, head and tail; default 4,000. */
  readonly chars?: number;
}

export interface EnclosedRun {
  readonly status: Acted['status'];
  /** Absent where it was ended, or never began. */
  readonly exitCode?: number;
  /** Both streams. */
  readonly text: string;
  readonly ms: number;
  /** `no-walls`, `not-begun`, or what the walls refuse with. */
  readonly blockReason?: string;
}

/** Throws only what the signal was aborted with. */
export type RunLine = (asked: EnclosedLine, signal: AbortSignal) => Promise<EnclosedRun>;

export interface EnclosedPlace {
  readonly walls: () => Promise<Walls>;
  /** A scratch folder that exists: all that may be written, unless `paths` says more. */
  readonly work: string;
  /** Where lines run; seen, and not written, when it lies outside of `work`. */
  readonly cwd: string;
  /** Without keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

const TIMEOUT_MS = 60_000;
export const MOST_CHARS = 4_000;
const MOST_BYTES = 50_000_000;
/** Says when the line begins: what ends before it did is no failure of the line. */
const SCRIPT = 'exec 2>&1; cd -- "$2" && echo "$3" && eval "set --; $1"';

export function createEnclosedRunner(place: EnclosedPlace): { readonly run: RunLine } {
  const env = { ...plainVariables(place.env), TERM: 'dumb', PAGER: 'cat', NO_COLOR: '1' };
  return {
    async run(asked, signal) {
      throwIfAborted(signal);
      const walls = await place.walls();
      const { kind, detail } = walls.state();
      if (kind === 'none') return blocked('no-walls', detail);
      const mark = randomHex(8);
      const argv = ['/bin/sh', '-c', SCRIPT, 'sh', asked.line, realPath(place.cwd), mark];
      try {
        const enclosed = await walls.enclose({ argv, cwd: place.work, env }, enclosureOf(place, asked));
        return await execute(enclosed, { asked, mark, clock: place.clock }, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof TalariaError)) throw error;
        return blocked(error.code, error.message);
      }
    },
  };
}

/** Nothing of what another git, or this Node, was told. */
export function plainVariables(env: EnclosedPlace['env']): EnclosedPlace['env'] {
  const isForeign = (name: string) => /^(?:GIT_.*|NODE_(?:OPTIONS|COMPILE_CACHE|TEST_CONTEXT|CHANNEL_FD))$/.test(name);
  return { ...withoutVariables(env, Object.keys(env).filter(isForeign)), GIT_TERMINAL_PROMPT: '0' };
}

function blocked(blockReason: string, text: string): EnclosedRun {
  return { status: 'blocked', blockReason, text: cut(text, MOST_CHARS), ms: 0 };
}

function cut(text: string, most: number): string {
  return headTail(text, Math.floor(most * 0.4), Math.floor(most * 0.6) - 60);
}

async function execute(
  { request, settle }: Enclosed,
  { asked, mark, clock }: { readonly asked: EnclosedLine; readonly mark: string; readonly clock: Clock },
  signal: AbortSignal,
): Promise<EnclosedRun> {
  const { timeoutMs = TIMEOUT_MS, chars = MOST_CHARS } = asked;
  const result = await runProcess({ ...request, limits: { timeoutMs, maxBytes: MOST_BYTES }, clock }, signal);
  const isOk = result.ended === 'exit' && result.exitCode === 0;
  const met = await settle({ output: result.output.text, failed: !isOk });
  const taken = met.planted.length > 0 ? [removedNote(met)] : [];
  throwIfAborted(signal);
  return told(result, mark, isOk ? taken : [...taken, ...met.notes], chars);
}

function told(result: ProcessResult, mark: string, notes: readonly string[], chars: number): EnclosedRun {
  const { ended, exitCode, ms, output, error } = result;
  const begun = output.text.indexOf(mark);
  if (begun < 0 && (ended === 'exit' || ended === 'not-started'))
    return blocked('not-begun', [plainOutput(output.text), error ?? ''].join('\n').trim());
  const said = plainOutput(output.text.slice(begun < 0 ? 0 : begun + mark.length + 1));
  const parts = [said, ...(ended === 'exit' ? [] : [`[ended: ${ended}]`]), ...notes].filter((part) => part !== '');
  const status = ended === 'exit' && exitCode === 0 ? 'ok' : 'failed';
  return { status, ...(exitCode === undefined ? {} : { exitCode }), text: cut(parts.join('\n'), chars), ms };
}

function enclosureOf({ work, cwd, env }: EnclosedPlace, { paths = [], hosts = [] }: EnclosedLine): Enclosure {
  const [folder, from] = [realPath(work), realPath(cwd)];
  const userHome = env.HOME ?? homedir();
  const named = paths.map((path): Opening => {
    const full = typedPath(path.replace(/:ro$/, ''), { cwd: from, userHome });
    return { kind: path.endsWith(':ro') ? 'read' : 'write', path: realPath(full) };
  });
  const seen: readonly Opening[] = isWithin(from, folder) ? [] : [{ kind: 'read', path: from }];
  return { sessionId: 'golem', folder, openings: [...seen, ...named], askHost: async (host) => isListed(host, hosts) };
}

/** @param asked `name:port`, or `name:port at ADDRESS` near by: whoever owns a name leads it where they like, so that one is named whole. */
function isListed(asked: string, hosts: readonly string[]): boolean {
  const [target = '', near] = asked.split(NEAR);
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(target) ?? [];
  return hosts.some(
    (one) => one === asked || one === target || (near === undefined && isHostNamed(one, { host, port: Number(port) })),
  );
}

/** What runs within it ends with `close`, which waits for that. */
export function createLifetime() {
  const ended = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    async within<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const either = AbortSignal.any([signal, ended.signal]);
      throwIfAborted(either);
      const one = work(either);
      running.add(one);
      return one.finally(() => running.delete(one));
    },
    async close(): Promise<void> {
      ended.abort(new AbortedError('it was closed'));
      await Promise.allSettled(running);
    },
  };
}

type State = Readonly<Record<string, string>>;

const MOST_MOMENTS = 500;

/** Of each name what was last said of it, and when, epoch ms; in memory. */
export function createPast() {
  const moments: { readonly at: number; readonly state: State }[] = [];
  return {
    note(state: State, at: number): void {
      const last = moments.at(-1)?.state ?? {};
      if (share(last, state) > 0) moments.push({ at, state });
      if (moments.length > MOST_MOMENTS) moments.shift();
    },
    /** Share of the names of which something else is said than at that time. */
    changed(sinceMs: number): number {
      const then = moments.findLast(({ at }) => at <= sinceMs) ?? moments[0];
      return share(then?.state ?? {}, moments.at(-1)?.state ?? {});
    },
  };
}

function share(one: State, other: State): number {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.filter((name) => one[name] !== other[name]).length / Math.max(1, names.length);
}
