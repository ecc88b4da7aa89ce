// Owns two ways of putting things: what went wrong with what to do about it, and which known name a mistyped one comes nearest to. Pure.
// Invariant: two sentences stay two sentences, whether or not the first one came with its full stop.
import { typingErrors } from '#mind/sessions/search/word-variants.ts';

export function withFix(message: string, fix: string | undefined): string {
  if (!fix) return message;
  const first = message.trimEnd();
  return /[.!?:…]["'”’)\]]?$/u.test(first) ? `${first} ${fix}` : `${first}. ${fix}`;
}

export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const most = typed.length < 6 ? 1 : 2;
  const rated = names.map((name) => ({ name, errors: typingErrors(typed.toLowerCase(), name.toLowerCase(), most) }));
  const [best] = rated.sort((a, b) => a.errors - b.errors);
  return best && best.errors <= most ? best.name : undefined;
}
