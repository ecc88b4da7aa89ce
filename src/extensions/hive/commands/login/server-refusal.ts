// Owns what a refusal of a server before signing in means to a person: code, words, fix. Pure.
// Invariant: the server's own words are quoted, short and on one line.
import { PeerError, type PeerErrorCode } from '../../peers/peer-error.ts';
import { shownLine } from '../shown-text.ts';
import type { ServerReply } from './ask-server.ts';

interface Meaning {
  readonly code: PeerErrorCode;
  readonly fix: string;
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  M_USER_IN_USE: { code: 'peers-forbidden', fix: 'Leave --register out to sign in, or take another name.' },
  M_EXCLUSIVE: { code: 'peers-forbidden', fix: 'Take another name: this one is kept for something else.' },
  M_INVALID_USERNAME: { code: 'peers-forbidden', fix: 'A name has small letters, digits and . _ - = / only.' },
  M_WEAK_PASSWORD: { code: 'peers-forbidden', fix: 'Choose a longer password.' },
  M_USER_DEACTIVATED: { code: 'peers-forbidden', fix: 'The account was closed: make another one with --register.' },
  M_UNKNOWN_TOKEN: { code: 'peers-auth', fix: 'Sign in again: talaria peers login URL USER' },
  M_LIMIT_EXCEEDED: { code: 'peers-rate-limited', fix: 'Wait a little, then try again.' },
};

const WRONG_PASSWORD = 'Check user and password; --register makes a new account.';
const CLOSED = 'Ask whoever runs the server for an account, or for a registration token (MATRIX_REGISTRATION_TOKEN).';

export function serverRefusal(
  { status, body }: ServerReply,
  { url, doing, registers = false }: { readonly url: string; readonly doing: string; readonly registers?: boolean },
): PeerError {
  const name = typeof body.errcode === 'string' ? body.errcode : '';
  const said = typeof body.error === 'string' ? `: ${shownLine(body.error, 200)}` : '';
  const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
  const { code, fix } = meaning ?? byStatus(status, registers);
  return new PeerError(`${url} does not ${doing}${said} (${shownLine(name || `HTTP ${status}`, 60)})`, {
    code,
    status,
    fix: withWait(fix, body.retry_after_ms),
  });
}

function byStatus(status: number, registers: boolean): Meaning {
  if (status === 429) return { code: 'peers-rate-limited', fix: 'Wait a little, then try again.' };
  if (status >= 500) return { code: 'peers-server-error', fix: 'Try again later.' };
  if (status === 401 || status === 403) return { code: 'peers-auth', fix: registers ? CLOSED : WRONG_PASSWORD };
  return { code: 'peers-bad-response', fix: 'Check the address, and that it is a Matrix server.' };
}

function withWait(fix: string, ms: unknown): string {
  return typeof ms === 'number' && ms > 0 && ms < 86_400_000 ? `${fix} It asks for ${Math.ceil(ms / 1_000)} s.` : fix;
}
