// Owns asking every extension to forget what it keeps itself. Knows no extension: the list names them.
import type { App } from '../../app.ts';
import { EXTENSIONS, type ExtensionForgets, type ExtensionForgot } from '../../extensions.ts';
import { extensionGround } from '../../host/lend-ground.ts';
import type { CommandDeps } from '../command-deps.ts';

/** A session leaves nothing with an extension that a text or a time would not find. */
export async function forgetInExtensions(
  { deps, app }: { readonly deps: CommandDeps; readonly app: App },
  what: ExtensionForgets,
): Promise<readonly ExtensionForgot[]> {
  if (what.holds === undefined && what.before === undefined) return [];
  const { environment, home, clock } = deps;
  const ground = extensionGround({ environment, home, clock, app: async () => app });
  const forgot: ExtensionForgot[] = [];
  for (const { forget } of EXTENSIONS) if (forget) forgot.push(await forget(ground, what));
  return forgot;
}
