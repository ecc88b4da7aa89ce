// Owns how an error of the peer layer ends a command: exit code, the owner's words, what to do. Pure.
import type { Refusal } from '#base/result.ts';
import { type Failure, failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { SIGN_IN } from '../hive-account.ts';
import type { PeerError, PeerErrorCode } from '../peers/peer-error.ts';

/** It may not be, as things stand; what is not named here was tried and did not work out. */
const REFUSED: ReadonlySet<PeerErrorCode> = new Set([
  'peers-not-configured',
  'peers-forbidden',
  'peers-encryption',
  'peer-unknown',
  'peer-ambiguous',
  'peer-left',
]);

const FIXES: Readonly<Partial<Record<PeerErrorCode, string>>> = {
  'peers-not-configured': SIGN_IN,
  'peers-auth': SIGN_IN,
  'peers-too-large': 'Say it in fewer words, or in several messages.',
  'peers-encryption': 'See what is missing: talaria peers doctor',
  'peer-left': 'It has to be introduced again.',
};

export function peerFailure(error: PeerError): Failure {
  const code = error.code as PeerErrorCode;
  const fix = error.fix ?? FIXES[code] ?? 'See what is wrong: talaria peers doctor';
  if (code === 'peers-too-large') return wrongUse(code, error.message, fix);
  return (REFUSED.has(code) ? refused : failed)(code, error.message, fix);
}

export function notConfigured({ reason, detail }: Refusal): Failure {
  return refused(reason, detail, SIGN_IN);
}
