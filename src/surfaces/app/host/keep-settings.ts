// Owns writing what an extension wants kept in config.yaml and `.env`. Knows no extension.
// Invariant: everything is checked before anything is written; new secrets are written before the settings that refer to them, old ones go
// after them, so that a kill between two writes leaves the old settings or the new ones whole.
import { TalariaError } from '#base/errors.ts';
import { settingsSchema } from '../commands/config/settings-schema.ts';
import { editConfigTogether } from '../home/edit-config.ts';
import { setEnvValues } from '../home/env-file.ts';
import { type Home, makeHome } from '../home/home.ts';
import type { SettingsChange } from './extension-ground.ts';

export async function keepSettings(home: Home, { config = [], secrets = {} }: SettingsChange): Promise<void> {
  const edit = editConfigTogether(await settingsSchema());
  makeHome(home);
  const checked = await edit(home.config, config, { dryRun: true });
  if (!checked.ok) throw new TalariaError(checked.detail, { code: checked.reason });
  const entries = Object.entries(secrets);
  await setEnvValues(home.env, Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
  const done = await edit(home.config, config);
  if (!done.ok) throw new TalariaError(done.detail, { code: done.reason });
  await setEnvValues(home.env, Object.fromEntries(entries.filter(([, value]) => value === undefined)));
}
