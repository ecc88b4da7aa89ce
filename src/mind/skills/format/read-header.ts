// Owns what the agent takes from front matter: SkillHeader, what a skill needs before it can run, and when it is offered (core notes 2.7).
import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '#base/json.ts';
import { oneLine, sliceText } from '#base/text.ts';
import type { Shown } from '#core/agent/room.ts';
import type { SkillHeader, SkillRecord } from '../skill.ts';

export interface RequiredVariable {
  readonly name: string;
  readonly prompt?: string;
  readonly help?: string;
  readonly requiredFor?: string;
}

const PLATFORMS: Readonly<Record<string, string>> = { darwin: 'macos', osx: 'macos', mac: 'macos', win32: 'windows' };

export function readHeader(
  frontmatter: JsonObject,
  place: {
    /** Name of the skill's folder: its name when the front matter gives none. */
    readonly folder: string;
    readonly category: string;
    /** Text below the front matter: its first sentence is the description when the front matter gives none. */
    readonly body: string;
  },
): SkillHeader {
  const field = lookIn(frontmatter);
  return {
    name: oneLine(asText(frontmatter.name)) || place.folder,
    description: oneLine(asText(frontmatter.description)) || firstSentence(place.body),
    category: place.category,
    tags: asList(field('tags')),
    whenToUse: oneLine(asText(field('when_to_use') ?? field('when-to-use') ?? field('whenToUse'))),
    version: asText(field('version')).trim(),
    platforms: asList(field('platforms')).map(platformName),
    requiresTools: asList(field('requires_tools')),
    requiresToolsets: asList(field('requires_toolsets')),
    fallbackForTools: asList(field('fallback_for_tools')),
    fallbackForToolsets: asList(field('fallback_for_toolsets')),
    environmentVariables: readNeeds(frontmatter).variables.map(({ name }) => name),
  };
}

export function readNeeds(frontmatter: JsonObject): {
  readonly variables: readonly RequiredVariable[];
  readonly credentialFiles: readonly string[];
  readonly commands: readonly string[];
} {
  const field = lookIn(frontmatter);
  const legacy = objectOf(frontmatter.prerequisites);
  const variables = [...items(field('required_environment_variables')), ...items(legacy.env_vars)].flatMap(asVariable);
  return {
    variables: variables.filter(({ name }, at) => variables.findIndex((other) => other.name === name) === at),
    credentialFiles: items(field('required_credential_files')).map(pathOf).filter(Boolean),
    commands: [...new Set([...asList(field('required_commands')), ...asList(legacy.commands)])],
  };
}

export function relatedSkills(frontmatter: JsonObject): readonly string[] {
  return asList(lookIn(frontmatter)('related_skills'));
}

/** One of the three systems by its common name, or the text as it stands. */
export function platformName(text: string): string {
  const name = text.toLowerCase();
  return PLATFORMS[name] ?? name;
}

/** Finds a field where hermes-agent keeps it, where agentskills.io allows it, or at the top. */
function lookIn(frontmatter: JsonObject): (key: string) => JsonValue | undefined {
  const metadata = objectOf(frontmatter.metadata);
  const ours = objectOf(metadata.hermes);
  return (key) => present(ours[key]) ?? present(frontmatter[key]) ?? present(metadata[key]);
}

function present(value: JsonValue | undefined): JsonValue | undefined {
  return value === null ? undefined : value;
}

function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(asText).join(', ');
  if (!isJsonObject(value)) return String(value);
  // Prose with a colon on a line of its own reads as a mapping: it is prose all the same.
  return Object.entries(value)
    .map(([key, item]) => `${key}: ${asText(item)}`)
    .join(', ');
}

function items(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null || value === '') return [];
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? asList(value) : [value];
}

/** A list, or text with commas (`[a, b` and `a b` too, as hand-written lists come). */
function asList(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.map((item) => asText(item).trim()).filter(Boolean);
  if (isJsonObject(value)) return Object.keys(value);
  const text = asText(value).replace(/^\[|\]$/g, '');
  return text
    .split(text.includes(',') ? ',' : /\s+/)
    .map((item) => item.trim().replace(/^(["'])(.*)\1$/, '$2'))
    .filter(Boolean);
}

function asVariable(value: JsonValue): readonly RequiredVariable[] {
  if (!isJsonObject(value)) {
    const name = asText(value).trim();
    return name === '' ? [] : [{ name }];
  }
  const name = asText(value.name ?? value.key ?? value.env_var).trim();
  if (name === '') return [];
  const { prompt, help, required_for: requiredFor } = value;
  return [
    {
      name,
      ...(prompt ? { prompt: asText(prompt) } : {}),
      ...(help ? { help: asText(help) } : {}),
      ...(requiredFor ? { requiredFor: asText(requiredFor) } : {}),
    },
  ];
}

function pathOf(value: JsonValue): string {
  return (isJsonObject(value) ? asText(value.path ?? value.name) : asText(value)).trim();
}

/** First line of prose, without its heading marks. */
function firstSentence(body: string): string {
  const line = sliceText(body, 4_000)
    .split('\n')
    .find((text) => /\S/.test(text) && !/^\s*(?:#|<!--|---|```|\||!\[)/.test(text));
  return sliceText(oneLine(line ?? ''), 200);
}

/** False when it cannot work here, or when what it stands in for is there. */
export function isOffered(header: SkillHeader, { platform, tools, toolsets }: Shown): boolean {
  if (header.platforms.length > 0 && !header.platforms.includes(platformName(platform))) return false;
  if (!header.requiresTools.every((name) => tools.has(name))) return false;
  if (!header.requiresToolsets.every((name) => toolsets.has(name))) return false;
  return ![
    ...header.fallbackForTools.map((name) => tools.has(name)),
    ...header.fallbackForToolsets.map((name) => toolsets.has(name)),
  ].some(Boolean);
}

/** Drafts wait for the owner's yes and retired skills have had their time: neither is offered. */
export function isStanding(record: SkillRecord | undefined): boolean {
  return record?.status !== 'draft' && record?.status !== 'retired';
}
