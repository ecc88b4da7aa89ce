// Owns which known name a mistyped one comes nearest to. Knows no kind of name. Invariant: pure; a name that is far from all has none.
import { typingErrors } from '#mind/sessions/search/word-variants.ts';

export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const most = typed.length < 6 ? 1 : 2;
  const rated = names.map((name) => ({ name, errors: typingErrors(typed.toLowerCase(), name.toLowerCase(), most) }));
  const [best] = rated.sort((a, b) => a.errors - b.errors);
  return best && best.errors <= most ? best.name : undefined;
}
