// Owns building the system prompt of a session: once, normalised, from stable parts to less stable ones, within the window's share; and finding the
// project file that is one of them. Invariant: equal sources give equal bytes; after the build nothing changes it but a compression.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { estimateTokens, headTail, normalizeText } from '#base/text.ts';
import type { ToolSchema } from '#core/model/model-client.ts';
import { GUIDANCE, IDENTITY } from './prompts.rules.ts';
import type { FrozenPrompt } from './session-store.ts';

export interface PromptSources {
  /** SOUL.md, when the owner wrote one; replaces the built-in identity. */
  readonly identity?: string;
  /** One line that says where and since when: folder, platform, date. */
  readonly environment: string;
  readonly project?: ProjectFile;
  /** Index of skills, empty when there are none. */
  readonly skills: string;
  /** Frozen snapshot of the memory files, empty when there is nothing. */
  readonly memory: string;
  /** What the owner added for this one session. */
  readonly appended?: string;
}

export interface PromptSection {
  readonly name: 'identity' | 'guidance' | 'environment' | 'project' | 'skills' | 'memory' | 'appended' | 'schemas';
  readonly text: string;
}

/** Under this window the prompt takes at most SMALL_SHARE of it. */
const SMALL_WINDOW = 32_768;
const SMALL_SHARE = 0.4;
const PROJECT_SHARE = 0.06;
/** What the marks of two cuts take. */
const CUT_MARK_TOKENS = 24;

/** The sections as they stand in the prompt, the schemas as their JSON: what `talaria context` counts. */
export function promptSections(
  sources: PromptSources,
  tools: readonly ToolSchema[],
  window: number,
): readonly PromptSection[] {
  const fitted = fit(sources, tools, window);
  return [...fitted.sections, { name: 'schemas', text: JSON.stringify(fitted.tools) }];
}

export function buildFrozenPrompt(sources: PromptSources, tools: readonly ToolSchema[], window: number): FrozenPrompt {
  const fitted = fit(sources, tools, window);
  return { system: normalizeText(fitted.sections.map((section) => section.text).join('\n\n')), tools: fitted.tools };
}

const APPENDED = '## Added for this session\n';

/** What was added to a prompt when it was built: one that is built anew for the same session keeps it. */
export function appendedTo({ system }: FrozenPrompt): string | undefined {
  const at = system.lastIndexOf(`\n\n${APPENDED}`);
  return at < 0 ? undefined : system.slice(at + 2 + APPENDED.length);
}

function fit(sources: PromptSources, tools: readonly ToolSchema[], window: number) {
  const projectLimit = Math.min(PROJECT_FILE_LIMIT, Math.max(1_500, Math.floor(window * PROJECT_SHARE * 4)));
  const whole = assemble(sources, projectLimit);
  if (window >= SMALL_WINDOW) return { sections: whole, tools };
  const budget = Math.floor(window * SMALL_SHARE) - CUT_MARK_TOKENS;
  let over = tokensOf(whole, tools) - budget;
  let shrunk = sources;
  let limit = projectLimit;
  if (over > 0) shrunk = { ...shrunk, skills: cutTokens(shrunk.skills, over) };
  over = tokensOf(assemble(shrunk, limit), tools) - budget;
  if (over > 0) limit = Math.max(0, Math.min(limit, shrunk.project?.text.length ?? 0) - Math.ceil(over * 4));
  over = tokensOf(assemble(shrunk, limit), tools) - budget;
  return { sections: assemble(shrunk, limit), tools: over > 0 ? tools.map(bareSchema) : tools };
}

function assemble(sources: PromptSources, projectLimit: number): readonly PromptSection[] {
  const { identity, environment, project, skills, memory, appended } = sources;
  const sections: PromptSection[] = [
    { name: 'identity', text: identity?.trim() || IDENTITY },
    { name: 'guidance', text: GUIDANCE },
    { name: 'environment', text: environment },
  ];
  if (project && projectLimit > 0) {
    const text = capProjectFile(project.text, projectLimit);
    sections.push({ name: 'project', text: `## Project instructions (${project.path})\n${text}` });
  }
  if (skills.trim()) sections.push({ name: 'skills', text: skills });
  if (memory.trim()) sections.push({ name: 'memory', text: memory });
  if (appended?.trim()) sections.push({ name: 'appended', text: APPENDED + appended });
  return sections.map((section) => ({ ...section, text: normalizeText(section.text) }));
}

function tokensOf(sections: readonly PromptSection[], tools: readonly ToolSchema[]): number {
  return sections.reduce((sum, section) => sum + estimateTokens(section.text), estimateTokens(JSON.stringify(tools)));
}

function cutTokens(text: string, tokens: number): string {
  const keep = text.length - Math.ceil(tokens * 4);
  return keep < 200 ? '' : headTail(text, keep, 0);
}

/** A schema without the descriptions of its properties: names and types remain. */
function bareSchema(tool: ToolSchema): ToolSchema {
  return { ...tool, parameters: dropDescriptions(tool.parameters) as JsonObject };
}

function dropDescriptions(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => dropDescriptions(item) ?? null);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key, inner]) => !(key === 'description' && typeof inner === 'string'));
  return Object.fromEntries(kept.map(([key, inner]) => [key, dropDescriptions(inner)]));
}

export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const NAMES = ['.talaria.md', 'AGENTS.md', 'CLAUDE.md'];
const MAX_BYTES = 2_000_000;
const MAX_PARENTS = 40;

/** Characters of a project file in the prompt, of which 70 parts of 90 come from its head. */
export const PROJECT_FILE_LIMIT = 20_000;

export function findProjectFile(cwd: string): ProjectFile | undefined {
  let folder = cwd;
  for (let depth = 0; depth < MAX_PARENTS; depth++) {
    for (const name of NAMES) {
      const text = readText(join(folder, name));
      if (text !== undefined) return { path: join(folder, name), text };
    }
    const parent = dirname(folder);
    if (parent === folder || existsSync(join(folder, '.git'))) return undefined;
    folder = parent;
  }
  return undefined;
}

function capProjectFile(text: string, limit: number): string {
  return headTail(text, Math.floor((limit * 7) / 9), Math.floor((limit * 2) / 9));
}

function readText(path: string): string | undefined {
  try {
    const text = readRegular(path, MAX_BYTES).toString('utf8');
    const { body } = splitFrontMatter(text);
    return body.includes('\0') || body.trim() === '' ? undefined : body;
  } catch {
    return undefined;
  }
}
