// Owns getting a yes for what cannot be taken back. Knows no command. Invariant: without a person only --yes agrees.
import { ok, type Result, refuse } from '#base/result.ts';
import type { CommandContext } from '#core/agent/command-spec.ts';

export async function agreed(
  { ask }: CommandContext,
  { yes, question }: { readonly yes: boolean; readonly question: string },
): Promise<Result<true, 'needs-yes' | 'not-agreed'>> {
  if (yes) return ok(true);
  if (!ask) return refuse('needs-yes', 'nobody is here to agree: add --yes');
  const answer = await ask(`${question} [y/N]`);
  return /^\s*y(?:es)?\s*$/i.test(answer) ? ok(true) : refuse('not-agreed', 'you did not agree');
}
