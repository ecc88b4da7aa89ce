// Owns where the external skill folders of config.yaml lie. Knows no skill.
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../home/config.ts';
import type { Home } from '../../home/home.ts';

/** Absolute; `~` is the person's folder, what is relative starts from the home. */
export function externalSkillFolders(
  { config }: LoadedConfig,
  { home, userHome }: { readonly home: Home; readonly userHome: string },
): readonly string[] {
  return config.skills.external_dirs.map((folder) =>
    resolve(
      home.root,
      folder.replace(/^~(?=$|[/\\])/, () => userHome),
    ),
  );
}
