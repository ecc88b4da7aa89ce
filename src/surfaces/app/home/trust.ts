// Owns which project files (AGENTS.md and its like) the owner lets instruct the agent: by path and content, one small file each in the home.
// Knows no prompt and no surface. Invariant: only the text that was agreed to is trusted; another text at the same path is foreign again.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, ifThere } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { decidedDiff, lineDiff } from '#base/text/line-diff.ts';
import { plural } from '#base/text.ts';
import { findProjectFile, type ProjectFile } from '#core/agent/frozen-prompt.ts';
import type { Home } from './home.ts';

const trustedFile = z.object({ path: z.string(), sha256: z.string(), at: z.number(), text: z.string() });
export type TrustedFile = Readonly<z.infer<typeof trustedFile>>;

/** The project file of a folder, and what the owner said to it. */
export interface ProjectStanding {
  readonly file: ProjectFile;
  readonly verdict: 'trusted' | 'changed' | 'unknown';
  /** The text that was agreed to, of a changed file. */
  readonly was?: string;
}

export function lookAtProject(home: Home, cwd: string): ProjectStanding | undefined {
  const file = findProjectFile(cwd);
  if (file === undefined) return undefined;
  const known = readTrusted(placeOf(home, file.path));
  if (known?.path !== file.path) return { file, verdict: 'unknown' };
  if (known.sha256 === sha256(file.text)) return { file, verdict: 'trusted' };
  return { file, verdict: 'changed', was: known.text };
}

export function trustProject(home: Home, { path, text }: ProjectFile, clock: Clock): void {
  const known: TrustedFile = { path, sha256: sha256(text), at: clock.now(), text };
  atomicWrite(placeOf(home, path), `${JSON.stringify(known)}\n`);
}

/** False: it was not trusted. */
export function distrustProject(home: Home, path: string): boolean {
  const isKnown = readTrusted(placeOf(home, path)) !== undefined;
  rmSync(placeOf(home, path), { force: true });
  return isKnown;
}

export function trustedProjects(home: Home): readonly TrustedFile[] {
  const names = readNames(home.trust).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
  return names.flatMap((name) => readTrusted(join(home.trust, name)) ?? []).sort((a, b) => (a.path < b.path ? -1 : 1));
}

const SHOWN_LINES = 40;

/** What the owner decides by: how many lines, the first of them; of a changed file the difference. */
export async function describeProject({ file, verdict, was }: ProjectStanding): Promise<readonly string[]> {
  const lines = file.text.trim().split('\n');
  const count = plural(lines.length, 'line');
  if (verdict === 'changed' && was !== undefined) {
    const { text } = await lineDiff(was, file.text);
    return [`${file.path} changed since you agreed to it (${count} now):`, ...decidedDiff(text).split('\n')];
  }
  const left = lines.length - SHOWN_LINES;
  return [
    `${file.path} (${count}):`,
    ...lines.slice(0, SHOWN_LINES),
    ...(left > 0 ? [`… NOT SHOWN: ${plural(left, 'more line')}`] : []),
  ];
}

/** For places where nobody is asked; undefined: nothing is left out. */
export function leftOutNotice(home: Home, cwd: string): string | undefined {
  const standing = lookAtProject(home, cwd);
  if (standing === undefined || standing.verdict === 'trusted') return undefined;
  const why = standing.verdict === 'changed' ? 'it changed since you agreed to it' : 'you have not agreed to it yet';
  return `${standing.file.path} is left out: ${why}; \`talaria trust\` shows it, \`talaria trust give\` agrees`;
}

function placeOf(home: Home, path: string): string {
  return join(home.trust, `${sha256(path)}.json`);
}

function readNames(folder: string): readonly string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}

/** What cannot be read was not agreed to. */
function readTrusted(path: string): TrustedFile | undefined {
  try {
    const parsed = parseJson(readFileSync(path, 'utf8'));
    return parsed.ok ? trustedFile.safeParse(parsed.value).data : undefined;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
