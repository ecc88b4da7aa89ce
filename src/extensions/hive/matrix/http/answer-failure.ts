// Owns what a server's refusal means: status and error body become one PeerError. Knows no endpoint. Pure.
// Invariant: no text of it holds the token; what the server wrote is shortened and stripped of control characters.
import { parseTime } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { PeerError, type PeerErrorCode, type PeerErrorOptions } from '../../peers/peer-error.ts';
import { textAt } from '../events/json-access.ts';

export interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  /** The error body; empty when it was no JSON. */
  readonly body: JsonObject;
  /** Origin of the homeserver. */
  readonly server: string;
  /** Epoch ms. */
  readonly now: number;
}

export function answerFailure(refusal: Refusal): PeerError {
  const { status, server } = refusal;
  const errcode = textAt(refusal.body, 'errcode');
  const code = codeOf(status, errcode);
  const wait = retryAfterMs(refusal);
  const options: PeerErrorOptions = {
    code,
    status,
    retryable: code === 'peers-server-error' || code === 'peers-rate-limited',
    fix: fixOf(code, server, wait),
    ...(errcode === undefined ? {} : { errcode: plain(errcode, 60) }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
  const said = plain(textAt(refusal.body, 'error') ?? '', 200);
  const reason = [errcode === undefined ? '' : plain(errcode, 60), said].filter((part) => part !== '').join(': ');
  return new PeerError(`${server} answered ${status}${reason === '' ? '' : ` (${reason})`}`, options);
}

function codeOf(status: number, errcode: string | undefined): PeerErrorCode {
  if (status === 401 || errcode === 'M_UNKNOWN_TOKEN' || errcode === 'M_MISSING_TOKEN') return 'peers-auth';
  if (status === 429 || errcode === 'M_LIMIT_EXCEEDED') return 'peers-rate-limited';
  if (status >= 500) return 'peers-server-error';
  if (status === 413 || errcode === 'M_TOO_LARGE') return 'peers-too-large';
  // A refusal without the API's own word comes from something else than such a server.
  return errcode === undefined || errcode === 'M_UNRECOGNIZED' ? 'peers-bad-response' : 'peers-forbidden';
}

function fixOf(code: PeerErrorCode, server: string, wait: number | undefined): string {
  switch (code) {
    case 'peers-auth':
      return 'Sign in again: talaria peers login';
    case 'peers-rate-limited':
      return wait === undefined ? 'Try again later.' : `Try again in ${Math.max(1, Math.ceil(wait / 1_000))} s.`;
    case 'peers-server-error':
      return `Try again; if it stays, look at the log of ${server}.`;
    case 'peers-too-large':
      return 'Send less at once.';
    case 'peers-bad-response':
      return 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver.';
    default:
      return 'Run talaria peers doctor to see what the account may do.';
  }
}

/** Milliseconds; undefined when nothing readable was said. */
function retryAfterMs({ headers, body, now }: Refusal): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = value === '' ? undefined : parseTime(value);
  if (date !== undefined) return Math.max(0, date - now);
  const asked = body.retry_after_ms;
  return typeof asked === 'number' && asked >= 0 && Number.isFinite(asked) ? asked : undefined;
}

function plain(text: string, max: number): string {
  return ellipsize(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), max);
}
