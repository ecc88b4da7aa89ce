// Owns the refusal of secrets in what would leave this machine (seed 004, tools; design: failure, trust, money). Pure.
// Invariant: what redaction would change is not sent, neither whole nor in part, and no blank, unseen character or other form hides it.
import { PeerError } from '../../peers/peer-error.ts';

const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Throws when one of the texts holds a secret. */
export function refuseSecrets(texts: readonly string[], redact: (text: string) => string): void {
  if (texts.flatMap(readings).every((text) => redact(text) === text)) return;
  throw new PeerError('what should be sent holds a secret', { code: 'peer-secret', fix: 'Say it without the secret.' });
}

/** As it stands, as one sees it, and as whoever gets it can put it together. */
function readings(text: string): readonly string[] {
  const seen = text.normalize('NFKC').replace(UNSEEN, '');
  return [text, text.replace(/\s+/g, ''), seen, seen.replace(/[\s\u2800]+/gu, '')];
}
