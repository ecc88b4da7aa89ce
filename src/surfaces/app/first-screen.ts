// Owns what the first screen says: what Talaria is, what it found, three things to type (reflex notes, last line).
// Knows no terminal. Invariant: every line is true of this machine and this folder; each suggestion works as it stands.
import { shownPath } from '#base/paths/typed-path.ts';
import { folderSuggestions } from '#core/reflex/folder.ts';
import type { WallState } from '#core/tools/walls/walls.ts';
import type { ModelInfo } from './app.ts';
import { hardwareLine, readHardware } from './home/hardware.ts';
import type { FoundProvider } from './models/found-provider.ts';
import { readFolder } from './parts/read-folder.ts';

export interface FirstScreenFacts {
  readonly model: ModelInfo;
  readonly providers: readonly FoundProvider[];
  readonly cwd: string;
  readonly homeRoot: string;
  readonly walls: WallState;
  /** The person's own folder. */
  readonly userHome: string;
}

export function firstScreen({ model, providers, cwd, homeRoot, userHome, walls }: FirstScreenFacts): readonly string[] {
  const suggestions = folderSuggestions(readFolder(cwd));
  return [
    'Talaria: an agent that acts in this folder, remembers across sessions, and says what its answers rest on.',
    `model   ${model.id} (${model.tier}): ${model.reason}`,
    ...foundLines(model, providers),
    `folder  ${shownPath(cwd, userHome)} · home ${shownPath(homeRoot, userHome)} · ${hardwareLine(readHardware())}`,
    `walls   ${wallsLine(walls)}`,
    'Try:',
    ...suggestions.map((text) => `  ${text}`),
  ];
}

/** In one line what keeps commands in, or what would. */
export function wallsLine({ kind, detail, fix }: WallState): string {
  if (kind === 'walls') return `commands stay in this folder (${detail}); the network is asked for`;
  if (kind === 'machine') return `none: commands run as you do (${detail})`;
  return `none (${detail}): you are asked before every command that does more than read${fix === undefined ? '' : `; ${fix}`}`;
}

function foundLines(model: ModelInfo, providers: readonly FoundProvider[]): readonly string[] {
  if (providers.length === 0) return ['        Add a model with /model add KEY-OR-URL, or run `talaria setup`.'];
  const others = providers.filter((provider) => !model.id.startsWith(`${provider.name}/`));
  return others.length === 0
    ? []
    : [`found   ${others.map((provider) => `${provider.name} (${provider.reason})`).join(' · ')}`];
}
