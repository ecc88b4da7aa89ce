// Owns what a person is shown first: the model and why, the machine, the walls, three things to type in this folder. Knows no rule.
// Invariant: small and never throws: a folder that may not be listed offers nothing.

import { readdirSync } from 'node:fs';
import { arch, availableParallelism, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { readRegular } from '#base/paths/open-files.ts';
import { shownPath } from '#base/paths/typed-path.ts';
import { NO_FOLDER, type ReflexFolder } from '#core/agent/reflex-rule.ts';
import { folderSuggestions, PROJECT_FILES, projectScripts } from '#core/reflex/folder.ts';
import type { WallState } from '#core/tools/walls/walls.ts';
import type { ModelInfo } from './app.ts';
import type { FoundProvider } from './models/provider-table.ts';
import { wallsLine } from './walls.ts';

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

function foundLines(model: ModelInfo, providers: readonly FoundProvider[]): readonly string[] {
  if (providers.length === 0) return ['        Add a model with /model add KEY-OR-URL, or run `talaria setup`.'];
  const others = providers.filter((provider) => !model.id.startsWith(`${provider.name}/`));
  return others.length === 0
    ? []
    : [`found   ${others.map((provider) => `${provider.name} (${provider.reason})`).join(' · ')}`];
}

const MOST_ENTRIES = 500;
const LARGEST_FILE = 2_000_000;

export function readFolder(path: string): ReflexFolder {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
      .slice(0, MOST_ENTRIES)
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    const scripts = PROJECT_FILES.filter((name) => entries.includes(name)).flatMap((name) =>
      projectScripts(name, readRegular(join(path, name), LARGEST_FILE).toString('utf8')),
    );
    return { entries, scripts };
  } catch {
    // The fixed suggestions remain.
    return NO_FOLDER;
  }
}

export interface Hardware {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly arch: string;
}

const GIB = 1024 ** 3;

export function readHardware(): Hardware {
  return { cores: availableParallelism(), memoryBytes: totalmem(), platform: platform(), arch: arch() };
}

export function hardwareLine({ cores, memoryBytes, platform: system, arch: machine }: Hardware): string {
  return `${cores} cores, ${(memoryBytes / GIB).toFixed(1)} GB memory, ${system} ${machine}`;
}

/** A local model of 4-bit weights that leaves most of the memory to everything else. */
export function localModelAdvice({ memoryBytes }: Hardware): string {
  const gib = memoryBytes / GIB;
  if (gib < 4) return 'a model of up to 1 billion parameters, e.g. Qwen3 0.6B (Q4, about 0.5 GB)';
  if (gib < 12) return 'a model of up to 4 billion parameters, e.g. Qwen3 4B (Q4, about 2.5 GB)';
  if (gib < 28) return 'a model of up to 8 billion parameters, e.g. Qwen3 8B (Q4, about 5 GB)';
  return 'a model of 14 to 32 billion parameters, e.g. Qwen3 14B (Q4, about 9 GB)';
}
