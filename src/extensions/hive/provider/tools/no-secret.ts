// Owns the refusal of secrets in what would leave this machine (seed 004, tools; design: failure, trust, money). Pure.
// Invariant: what redaction would change is not sent, neither whole nor in part.
import { PeerError } from '../../peers/peer-error.ts';

/** Throws when one of the texts holds a secret. */
export function refuseSecrets(texts: readonly string[], redact: (text: string) => string): void {
  if (texts.every((text) => redact(text) === text)) return;
  throw new PeerError('what should be sent holds a secret', { code: 'peer-secret', fix: 'Say it without the secret.' });
}
