// Owns the mind beside its golem (hierarchy notes A10, D1): JSON-RPC 2.0, one object a line, on a Unix socket or on standard input and output; both ends.
// Knows the mind by its contract alone. Invariants: the golem is always the caller; no method executes anything; a line that is no request, too long,
// or of an unknown method gets an error and ends nothing else; a call ends in time on the caller's side whatever the other does.
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import { type RunningProcess, startProcess } from '#base/process.ts';
import { issueText } from '#base/schema-issue.ts';
import type { Ground } from '#core/agent/room.ts';
import { DEATH_CAUSES } from '#mind/skills/format/testament.ts';
import { MIND_PATIENCE_MS, withPatience } from '../heartbeat.ts';
import { type GolemHooks, HOOKS, MIND, type Reply } from '../hooks.ts';
import { EVOLUTION_SHARE, type Phase } from '../vitals.ts';
import type { Mind } from './mind.ts';

const LONGEST_LINE = 10 * 1024 ** 2;
const LONGEST_PATH = 100;
const DREAM_MS = 600_000;
const DEATH_MS = 20_000;
const HEALTH_MS = 30_000;
const MISSES = 3;

const CODES = {
  ...{ busy: -32001, 'not-initialised': -32002, 'over-budget': -32003, 'dead-golem': -32004 },
  ...{ 'no-method': -32601, 'wrong-params': -32602 },
} as const;

/** As D1 spells them. */
const METHODS = {
  session: 'hook.session',
  context: 'hook.context',
  toolResult: 'hook.tool_result',
  afterTurn: 'hook.after_turn',
  end: 'hook.end',
  dreamOnset: 'hook.dream_onset',
  death: 'hook.death',
} as const satisfies Record<keyof GolemHooks, string>;

const text = z.string();
const whole = z.int().min(0);
const observation = z.looseObject({
  ...{ text, tag: text, signals: z.array(z.looseObject({ name: text, value: z.number() })) },
});
const pad = z.looseObject({ pleasure: z.number(), arousal: z.number(), dominance: z.number() });
const feedback = z.looseObject({
  ...{ tool: text, success: z.boolean(), outcome_value: z.number().nullable(), tick: whole, context: text },
  skill: z.looseObject({ name: text, version: whole }).optional(),
});
const record = z.looseObject({
  ...{ tick: whole, observation, tier: z.enum(['T0', 'T1', 'T2']), deviated: z.boolean() },
  actions: z.array(z.looseObject({ label: text, status: text, has_changed: z.boolean() })),
  outcome: z.looseObject({ verified: z.boolean(), success: z.boolean(), summary: text }).optional(),
  session: z.looseObject({ id: text }).optional(),
  prediction: z.looseObject({ category: text, claim: text, p: z.number().min(0).max(1) }).optional(),
  ...{ faults: z.array(text).optional(), steers: z.array(text).optional() },
});
const phase = z.enum(Object.keys(EVOLUTION_SHARE) as [Phase]);

/** What each method cannot do without; what is more stays. */
const WANTED: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries({
    'hook.session': z.looseObject({ reason: z.enum(['start', 'resume']) }),
    'hook.context': z.looseObject({ tick: whole, observation, pad, categories: z.array(text) }),
    'hook.tool_result': z.looseObject({ feedback }),
    'hook.after_turn': z.looseObject({ record }),
    'hook.dream_onset': z.looseObject({ tick: whole, budget_usd: z.number().min(0), phase }),
    'hook.death': z.looseObject({ tick: whole, cause: z.enum(DEATH_CAUSES) }),
    get_skill: z.looseObject({ name: text }),
    'skills.search': z.looseObject({ text }),
    'skills.rollback': z.looseObject({ name: text }),
  }),
);

/** A path that the system takes: a long one lies in a private folder of the temporary one (C50). */
export function socketPath(wanted: string): string {
  if (Buffer.byteLength(wanted) <= LONGEST_PATH) return wanted;
  const folder = join(tmpdir(), `talaria-${process.getuid?.() ?? 0}`);
  privateFolder(folder);
  return join(folder, `${sha256(wanted).slice(0, 24)}.sock`);
}

/** Answers one line after the other; an answer goes out as soon as it is there. Ends with its input, or when the golem has died. */
export function serveLines(mind: Mind, input: Readable, output: Writable): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const running = new Set<Promise<void>>();
  const wasDead = mind.isDead();
  /** What was asked before is answered; nothing more is heard. */
  const end = () => {
    input.pause();
    void Promise.all(running).then(() => ended.resolve());
  };
  const say = (reply: JsonObject) => void (output.writable && output.write(`${JSON.stringify(reply)}\n`));
  readLines(input, {
    line: (line) => {
      const work = answerLine(mind, line).then((reply) => {
        if (reply !== undefined) say(reply);
        if (mind.isDead() && !wasDead) end();
      });
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    tooLong: () => {
      say(errorReply(null, -32600, 'a line is longer than 10 MB'));
      end();
    },
    end,
  });
  return ended.promise;
}

function readLines(
  input: Readable,
  heard: { readonly line: (line: string) => void; readonly tooLong: () => void; readonly end: () => void },
): void {
  let held: Buffer[] = [];
  let size = 0;
  input.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = Buffer.concat([...held, rest.subarray(0, at)]).toString('utf8');
      [held, size, rest] = [[], 0, rest.subarray(at + 1)];
      if (line.trim() !== '') heard.line(line);
    }
    size += rest.length;
    if (size > LONGEST_LINE) return heard.tooLong();
    held.push(rest);
  });
  input.on('error', () => undefined);
  input.on('close', heard.end);
  input.on('end', heard.end);
}

/** Undefined: a notification, which gets no answer, whatever became of it. */
async function answerLine(mind: Mind, line: string): Promise<JsonObject | undefined> {
  const read = parseJson(line);
  if (!read.ok) return errorReply(null, -32700, 'it is no JSON');
  if (!isJsonObject(read.value)) return errorReply(null, -32600, 'it is no request');
  const { id = null, method, params = {}, jsonrpc } = read.value;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (typeof id === 'object' && id !== null))
    return errorReply(null, -32600, 'it is no request');
  const reply = await performed(mind, method, params).then(
    (result) => ({ jsonrpc: '2.0', id, result }),
    (error: unknown) =>
      errorReply(id, CODES[(errorCode(error) ?? '') as keyof typeof CODES] ?? -32603, errorText(error)),
  );
  return read.value.id === undefined ? undefined : reply;
}

/** Throws TalariaError with a code of `CODES`. */
async function performed(mind: Mind, method: string, params: JsonValue): Promise<JsonValue> {
  const wanted = (WANTED.get(method) ?? z.looseObject({})).safeParse(params);
  const [issue] = wanted.error?.issues ?? [];
  if (issue)
    throw new TalariaError(`${method}: ${issue.path.join('.') || 'params'} ${issueText(issue)}`, {
      code: 'wrong-params',
    });
  const result = await perform(mind, method, params as JsonObject);
  if (result === undefined) throw new TalariaError(`there is no method ${method}`, { code: 'no-method' });
  return result;
}

function errorReply(id: JsonValue, code: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Undefined: there is no such method. */
async function perform(mind: Mind, method: string, params: JsonObject): Promise<JsonValue | undefined> {
  const hook = HOOKS.find((name) => METHODS[name] === method);
  if (hook !== undefined) return (await mind[hook](params as never)) as unknown as JsonValue;
  const name = String(params.name);
  switch (method) {
    case 'health_check':
      return { ...MIND, needs: [...MIND.needs], ok: true };
    case 'list_skills':
      return [...mind.skills()];
    case 'get_skill':
      return (mind.skill(name) ?? null) as unknown as JsonValue;
    case 'skills.search':
      return (await mind.search(String(params.text))) as unknown as JsonValue;
    case 'skills.rollback':
      return { done: await mind.rollback(name) };
    case 'skills.export':
      return (await mind.end({})) as unknown as JsonValue;
    case 'events.drain':
      return [];
    default:
      return undefined;
  }
}

/** Listens until the signal, the golem's death or, with `once`, the leaving of its one caller. Throws `socket-taken`. */
export async function serveSocket(
  mind: Mind,
  path: string,
  { signal, once = false }: { readonly signal: AbortSignal; readonly once?: boolean },
): Promise<void> {
  await clearStale(path);
  const done = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    void serveLines(mind, socket, socket).then(() => {
      sockets.delete(socket);
      socket.destroySoon();
      // Who only looks whether somebody is there is no caller.
      if (mind.isDead() || (once && sockets.size === 0 && socket.bytesRead > 0)) done.resolve();
    });
  });
  await listening(server, path);
  // Its golem may be killed before it called.
  const alone = systemClock.after(START_MS, () => void (once && sockets.size === 0 && done.resolve()));
  const stop = () => done.resolve();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await done.promise;
  signal.removeEventListener('abort', stop);
  alone();
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  rmSync(path, { force: true });
}

async function listening(server: Server, path: string): Promise<void> {
  if (!existsSync(dirname(path))) privateFolder(dirname(path));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new TalariaError(`cannot listen at ${path}: ${errorText(error)}`, { code: 'socket-taken', cause: error })),
    );
    // From its first moment on it is nobody else's.
    const before = process.umask(0o177);
    server.listen(path, resolve);
    process.umask(before);
  });
}

/** What a dead process left is taken away; what answers is somebody's, and so is what is no socket. */
async function clearStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const left = await new Promise<boolean>((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(false)).once('connect', () => socket.destroy());
    socket.once('error', (error) => resolve(['ECONNREFUSED', 'ENOENT'].includes(String(errorCode(error)))));
  });
  if (found.isSocket() && left) return rmSync(path, { force: true });
  throw new TalariaError(`${path} is ${found.isSocket() ? 'answered by another process' : 'no socket'}`, {
    code: 'socket-taken',
    fix: 'End that process, or name another path: --socket, or hermes.socket in golem.toml.',
  });
}

export interface RemoteMind extends GolemHooks {
  /** False: what answers is no mind. */
  health(): Promise<boolean>;
  /** False once the other end is gone. */
  readonly isOpen: () => boolean;
  close(): void;
}

/** Undefined: nobody answers there, or somebody who is no mind. */
async function greetMind(path: string, clock: Clock): Promise<RemoteMind | undefined> {
  const remote = await connectMind(path, clock).catch(() => undefined);
  const isMind = await remote?.health().catch(() => false);
  if (!isMind) remote?.close();
  return isMind ? remote : undefined;
}

type Waiting = { readonly resolve: (value: JsonValue) => void; readonly reject: (error: Error) => void };

/** The caller's end of one connection. Throws when nobody answers. */
async function connectMind(path: string, clock: Clock): Promise<RemoteMind> {
  const socket = createConnection(path);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  const gone = () => {
    for (const { reject } of waiting.values()) reject(new TalariaError('the mind is gone', { code: 'mind-gone' }));
    waiting.clear();
  };
  readLines(socket, { line: (line) => settle(waiting, line), tooLong: () => socket.destroy(), end: gone });
  const call = async (method: string, params: JsonObject, patienceMs = MIND_PATIENCE_MS): Promise<JsonValue> => {
    if (socket.destroyed) throw new TalariaError('the mind is gone', { code: 'mind-gone' });
    last += 1;
    const id = last;
    const answered = new Promise<JsonValue>((resolve, reject) => waiting.set(id, { resolve, reject }));
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return withPatience(answered, patienceMs, clock).finally(() => waiting.delete(id));
  };
  const hooks = Object.fromEntries(
    HOOKS.map((name) => [
      name,
      (asked: JsonObject) => call(METHODS[name], asked, { dreamOnset: DREAM_MS, death: DEATH_MS }[name as string]),
    ]),
  );
  return {
    ...(hooks as unknown as GolemHooks),
    health: async () => {
      const told = await call('health_check', {});
      return isJsonObject(told) && told.name === MIND.name;
    },
    isOpen: () => !socket.destroyed,
    close: () => socket.destroy(),
  };
}

/** Answers of unknown calls, and what is no answer, are passed over. */
function settle(waiting: Map<number, Waiting>, line: string): void {
  const read = parseJson(line);
  if (!read.ok || !isJsonObject(read.value)) return;
  const { id, result, error } = read.value;
  const one = typeof id === 'number' ? waiting.get(id) : undefined;
  if (one === undefined) return;
  waiting.delete(id as number);
  if (!isJsonObject(error)) {
    one.resolve(result ?? null);
    return;
  }
  const code = Object.entries(CODES).find(([, number]) => number === error.code)?.[0] ?? 'mind-failed';
  one.reject(new TalariaError(String(error.message), { code }));
}

/** How long a new process has until it answers, ms. */
const START_MS = 20_000;
/** Memory before speed: code that is compiled, and the compilers, would be half of what a mind holds. */
const LEAN = ['--max-semi-space-size=1', '--optimize-for-size', '--no-opt', '--no-maglev', '--no-sparkplug'];

/** `isAsking`: a model answers, and the agent is composed for it. */
type Place = { readonly name: string; readonly socket: string; readonly isAsking: boolean };

/** The mind as a process of its own: started, watched and started again; while it is away every call fails at once, and the tick goes on. */
export async function openSidecar(ground: Ground, at: Place): Promise<GolemHooks & { close(): Promise<void> }> {
  const sidecar = new Sidecar(ground, at);
  await sidecar.open();
  const call =
    <Name extends keyof GolemHooks>(hook: Name) =>
    (asked: never) =>
      sidecar.call(hook, asked);
  return {
    ...(Object.fromEntries(HOOKS.map((name) => [name, call(name)])) as unknown as GolemHooks),
    close: () => sidecar.close(),
  };
}

class Sidecar {
  readonly #ground: Ground;
  readonly #path: string;
  readonly #argv: readonly string[];
  readonly #stop = new AbortController();
  #child: { readonly process: RunningProcess; readonly end: AbortController; isOver: boolean } | undefined;
  #remote: RemoteMind | undefined;
  #starting: Promise<void> | undefined;
  /** What was answered to `death`: its process is over then. */
  #died: Reply<unknown> | undefined;
  #misses = 0;
  #cancel: (() => void) | undefined;

  constructor(ground: Ground, { name, socket, isAsking }: Place) {
    const [node = '', ...script] = ground.program;
    this.#ground = ground;
    this.#path = socketPath(socket);
    const command = ['golem', 'mind', name, '--socket', this.#path, '--once', ...(isAsking ? [] : ['--rules'])];
    this.#argv = [node, ...(script.length > 0 ? LEAN : []), ...script, ...command];
  }

  /** Throws TalariaError `mind-gone`; nothing is left running then. */
  async open(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#watch();
  }

  async call<Name extends keyof GolemHooks>(hook: Name, asked: never): Promise<unknown> {
    if (this.#died !== undefined) {
      if (hook === 'death') return { ...this.#died, events: [] };
      throw new TalariaError('the golem is dead', { code: 'dead-golem' });
    }
    if (this.#remote?.isOpen() === true) {
      const reply = await (this.#remote[hook] as (given: never) => Promise<Reply<unknown>>)(asked);
      if (hook === 'death') this.#died = reply;
      return reply;
    }
    this.#restart();
    throw new TalariaError('the mind is starting again', { code: 'mind-gone' });
  }

  async close(): Promise<void> {
    this.#cancel?.();
    this.#stop.abort();
    this.#remote?.close();
    await this.#starting;
    await this.#child?.process.result;
  }

  /** One that does not answer is ended first, for it holds the socket. */
  async #start(): Promise<void> {
    const { clock } = this.#ground;
    this.#remote?.close();
    this.#remote = undefined;
    this.#child?.end.abort();
    await this.#child?.process.result;
    const until = clock.monotonic() + START_MS;
    while (this.#remote === undefined) {
      if (this.#child?.isOver !== false) this.#child = this.#spawn();
      this.#remote = await greetMind(this.#path, clock);
      if (this.#remote === undefined && clock.monotonic() > until)
        throw new TalariaError(`the mind did not start: ${this.#child.process.output().text}`, { code: 'mind-gone' });
      if (this.#remote === undefined) await clock.sleep(20, this.#stop.signal);
    }
    this.#misses = 0;
  }

  #spawn() {
    const { places, variables } = this.#ground;
    const end = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, end.signal]);
    const env = { ...variables, TALARIA_HOME: places.home };
    const child = { process: startProcess({ argv: this.#argv, cwd: places.home, env }, signal), end, isOver: false };
    void child.process.result.then(() => {
      child.isOver = true;
    });
    return child;
  }

  #restart(): void {
    if (this.#stop.signal.aborted || this.#died !== undefined) return;
    const begin = () => this.#start().then(() => this.#remote?.session({ reason: 'start' }));
    const over = () => {
      this.#starting = undefined;
    };
    this.#starting ??= begin().then(over, over);
  }

  #watch(): void {
    this.#cancel = this.#ground.clock.after(HEALTH_MS, () => {
      const looked = this.#remote?.health() ?? Promise.resolve(false);
      void looked
        .catch(() => false)
        .then((isMind) => {
          this.#misses = isMind ? 0 : this.#misses + 1;
          if (this.#misses >= MISSES) this.#restart();
        });
      this.#watch();
    });
  }
}
