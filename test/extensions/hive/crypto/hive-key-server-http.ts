// The key server for other processes, over HTTP on loopback, and agents that run in processes of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { KeyChanges } from '#extensions/hive/matrix/crypto/room-crypto.ts';
import { PeerError, type PeerErrorCode } from '#extensions/hive/peers/peer-error.ts';
import type { KeyServer } from './hive-crypto-bench.ts';
import type { HiveKeyServer, ServerCall } from './hive-key-server.ts';

interface Question {
  readonly call?: ServerCall;
  readonly changes?: { readonly userId: string; readonly deviceId: string; readonly since?: string };
}

/** Gives the address. */
export async function serveKeys(server: HiveKeyServer, t: TestContext): Promise<string> {
  const http = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const question = JSON.parse(Buffer.concat(parts).toString('utf8')) as Question;
    try {
      response.end(JSON.stringify({ value: await answer(server, question) }));
    } catch (error) {
      const { code, status, message } = error as PeerError;
      response.end(JSON.stringify({ error: { code, status, message } }));
    }
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function answer(server: HiveKeyServer, { call, changes }: Question): Promise<unknown> {
  if (call !== undefined) return server.http(call.userId, call.deviceId)(call, new AbortController().signal);
  return server.changes(changes?.userId ?? '', changes?.deviceId ?? '', changes?.since);
}

export function remoteKeyServer(address: string): KeyServer {
  const ask = async (question: unknown, signal?: AbortSignal) => {
    const response = await fetch(address, { method: 'POST', body: JSON.stringify(question), signal: signal ?? null });
    const { value, error } = (await response.json()) as {
      value: unknown;
      error?: { message: string; code: PeerErrorCode; status?: number };
    };
    if (error === undefined) return value;
    throw new PeerError(error.message, { code: error.code, ...(error.status ? { status: error.status } : {}) });
  };
  return {
    http: (userId, deviceId) => async (call, signal) =>
      (await ask({ call: { ...call, userId, deviceId } }, signal)) as JsonObject,
    changes: async (userId, deviceId, since) => (await ask({ changes: { userId, deviceId, since } })) as KeyChanges,
  };
}

export interface AgentPlace {
  readonly address: string;
  readonly userId: string;
  readonly deviceId: string;
  readonly folder: string;
}

export class AgentProcess {
  readonly child: ChildProcess;
  readonly position: string | undefined;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, position: string | undefined) {
    this.child = child;
    this.#lines = lines;
    this.position = position;
  }

  static async start({ address, userId, deviceId, folder }: AgentPlace, t: TestContext): Promise<AgentProcess> {
    const script = join(import.meta.dirname, 'hive-agent-process.ts');
    const args = [script, address, userId, deviceId, folder];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = JSON.parse((await lines.next()).value ?? '{}') as { position?: string | null };
    return new AgentProcess(child, lines, first.position ?? undefined);
  }

  /** Undefined when the process died. */
  async run<T = unknown>(command: JsonObject): Promise<T | undefined> {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
    const line = await this.#lines.next();
    if (line.done) return undefined;
    const { value, error } = JSON.parse(line.value) as { value?: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return value;
  }
}
