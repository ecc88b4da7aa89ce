// Owns gathering what a session's prompt is built from: SOUL.md, the folder, the project file, memory. Building is core/agent's.
// Invariant: a source that cannot be read as text is left out, never an error: a prompt can always be built; so is a project
// file that the owner has not agreed to.
import { readFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { type Clock, localDate } from '#base/clock.ts';
import { sliceText } from '#base/text.ts';
import type { PromptSources } from '#core/agent/prompt/frozen-prompt.ts';
import type { Home } from '../home/home.ts';
import { lookAtProject } from '../home/trust.ts';

const SOUL_LIMIT = 20_000;

export interface PromptPlace {
  readonly home: Home;
  readonly cwd: string;
  readonly clock: Clock;
  /** Frozen snapshot of the memory files; empty when memory is off. */
  readonly memory: string;
  /** Index of the skills that fit here; empty when there are none. */
  readonly skills: string;
  readonly appended?: string;
}

export function gatherPromptSources(place: PromptPlace): PromptSources {
  const { home, cwd, clock, memory, skills, appended } = place;
  const identity = readSoul(home.soul);
  const project = lookAtProject(home, cwd);
  return {
    ...(identity ? { identity } : {}),
    ...(project?.verdict === 'trusted' ? { project: project.file } : {}),
    environment: environmentLine(cwd, clock),
    skills,
    memory,
    ...(appended === undefined ? {} : { appended }),
  };
}

/** The day, not the minute: the line stands in the prompt for the whole session. */
function environmentLine(cwd: string, clock: Clock): string {
  const { year, month, day } = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  return `Folder: ${cwd}. System: ${platform()} ${release()} ${arch()}. The session began on ${year}-${two(month)}-${two(day)}.`;
}

function readSoul(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    return text.includes('\0') ? '' : sliceText(text, SOUL_LIMIT);
  } catch {
    // No SOUL.md, or one that cannot be read: the built-in identity stands.
    return '';
  }
}
