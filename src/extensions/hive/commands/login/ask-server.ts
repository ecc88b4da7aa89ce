// Owns one request to a server that nobody is signed in to yet. A refusal of the server is an answer here, since signing in and up go on by
// it; nothing is tried twice. Knows no endpoint. Invariants: no error holds what was sent; a password follows no redirect.
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { readAnswer, readBody } from '../../matrix/http/read-answer.ts';
import { timeFailure, wireFailure } from '../../matrix/http/wire-failure.ts';
import { PeerError } from '../../peers/peer-error.ts';

export interface ServerQuestion {
  readonly method: 'GET' | 'POST';
  /** Whole address. */
  readonly url: string;
  readonly body?: JsonObject;
  readonly token?: string;
}

export interface ServerReply {
  readonly status: number;
  readonly body: JsonObject;
}

/** Throws PeerError when there is no answer, or one that is no JSON object. */
export type AskServer = (question: ServerQuestion, signal: AbortSignal) => Promise<ServerReply>;

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 1_048_576;
const CHECK = 'Check the address (https or http, and the port), and that a Matrix server runs there.';

export function createAskServer(clock: Clock): AskServer {
  return async (question, signal) => {
    const server = new URL(question.url).origin;
    const limit = deadline(clock, signal, TIMEOUT_MS, () => timeFailure(server));
    try {
      return await exchange(question, server, limit.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw forTyped(limit.signal.aborted ? limit.signal.reason : error, server);
    } finally {
      limit.clear();
    }
  };
}

/** What was typed is at fault here, not a variable. */
function forTyped(error: unknown, server: string): PeerError {
  const known = error instanceof PeerError ? error : wireFailure(error, server);
  const { code, message, retryable, cause, status } = known;
  return new PeerError(message, {
    code: code as 'peers-unreachable',
    retryable,
    fix: known.code === 'peers-server-error' ? 'Try again later.' : CHECK,
    ...(cause === undefined ? {} : { cause }),
    ...(status === undefined ? {} : { status }),
  });
}

async function exchange(question: ServerQuestion, server: string, signal: AbortSignal): Promise<ServerReply> {
  const { method, url, body, token } = question;
  const isPost = method === 'POST';
  const response = await fetch(url, {
    method,
    signal,
    redirect: isPost || token !== undefined ? 'manual' : 'follow',
    headers: {
      ...(isPost ? { 'content-type': 'application/json' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: isPost ? JSON.stringify(body ?? {}) : null,
  });
  const { status } = response;
  const text = await readBody(response, { maxBytes: MOST_BYTES, isCut: false, onBytes: () => undefined, server });
  const parsed = parseJsonObject(text);
  if (parsed.ok) return { status, body: parsed.value };
  if (status >= 500)
    throw new PeerError(`${server} has a fault (HTTP ${status})`, {
      code: 'peers-server-error',
      status,
      retryable: true,
    });
  return { status, body: readAnswer(text, server) };
}
