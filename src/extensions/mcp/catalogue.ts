// Owns what servers offer, as it is remembered in `cache/mcp/NAME.json`, and what of it a session sees: names, descriptions, the tools themselves, and
// their results. Knows no connection. Invariants: what a server wrote is foreign text, scanned before it is remembered; a name is one tool; the same
// catalogue gives the same tools.
import { join, resolve } from 'node:path';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonObject, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { starTest } from '#base/text/glob.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type Tool, type ToolOutput } from '#core/agent/tool.ts';
import type { McpServer } from './servers.ts';

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** By its own word. */
  readonly onlyReads: boolean;
  /** Why it is not shown. */
  readonly hidden?: string | undefined;
}

export interface Catalogue {
  /** Of the server's settings: another one is asked anew. */
  readonly hash: string;
  readonly tools: readonly OfferedTool[];
  readonly prompts: readonly {
    readonly name: string;
    readonly description: string;
    readonly keys: readonly string[];
  }[];
  /** Names. */
  readonly skills: readonly string[];
  /** Tools beyond the most that are taken. */
  readonly more: number;
}

const MOST_TOOLS = 512;
const MOST_SCHEMA = 64_000;
const DESCRIPTION = 1_024;

export const catalogueFile = (cache: string, name: string): string => join(cache, 'mcp', `${name}.json`);

/** Without a hash: whatever the settings were. */
export function rememberedCatalogue(cache: string, name: string, hash?: string): Catalogue | undefined {
  const read = parseJsonObject(readIfThere(catalogueFile(cache, name)) ?? '');
  return read.ok && read.value.hash === (hash ?? read.value.hash) ? (read.value as unknown as Catalogue) : undefined;
}

export async function askCatalogue(client: Client, cache: string, { name, hash }: McpServer): Promise<Catalogue> {
  // Asked for what it has not, the library writes a line to standard output.
  const can = client.getServerCapabilities();
  const { tools } = can?.tools ? await client.listTools() : { tools: [] };
  const { prompts } = can?.prompts ? await client.listPrompts() : { prompts: [] };
  const danger = await guard();
  const known = new Set<string>();
  const offered = tools.slice(0, MOST_TOOLS).map((tool): OfferedTool => {
    const schema = tool.inputSchema as unknown as JsonObject;
    const hidden = known.has(tool.name) ? 'a second tool of this name' : danger([tool.name, tool.description], schema);
    known.add(tool.name);
    const description = ellipsize(tool.description ?? tool.title ?? tool.name, DESCRIPTION);
    const onlyReads = tool.annotations?.readOnlyHint === true;
    return { name: tool.name, description, schema: hidden ? {} : schema, onlyReads, hidden };
  });
  const safe = prompts.filter((prompt) => danger([prompt.name, prompt.description], {}) === undefined);
  const asked = safe.map(({ name, description = name, arguments: given = [] }) => {
    const keys = given.map((each) => each.name);
    return { name, description: ellipsize(description, 60), keys };
  });
  const { names: skills } = await skillsOf(client);
  const catalogue: Catalogue = { hash, tools: offered, prompts: asked, skills, more: tools.length - offered.length };
  atomicWrite(catalogueFile(cache, name), JSON.stringify(catalogue));
  return catalogue;
}

async function guard() {
  const { scanMemoryText } = await import('#mind/evidence/guard/scan-memory.ts');
  return (texts: readonly (string | undefined)[], schema: JsonObject): string | undefined => {
    const { length } = JSON.stringify(schema);
    if (length > MOST_SCHEMA) return `its schema has ${length} characters`;
    const scanned = scanMemoryText([...texts, ...wordsIn(schema)].join('\n'));
    return scanned.ok ? undefined : `the guard found ${scanned.rule}`;
  };
}

function wordsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(Object(value)).flatMap(([key, inner]) => [key, ...wordsIn(inner as JsonValue)]);
}

async function skillsOf(client: Client) {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
  const { SkillsClient } = await import('@modelcontextprotocol/client/ext/skills');
  const reader = new SkillsClient(client, { skipInvalid: true });
  const skills = reader.supported ? (await reader.list()).skills : [];
  return { reader, skills, names: skills.map(({ frontmatter }) => frontmatter.name) };
}

/** Into a folder; the library checks every file against what the server says of it, and none lies outside. */
export async function readSkill(client: Client, name: string, folder: string): Promise<Result<true, 'no-such-skill'>> {
  const { reader, skills, names } = await skillsOf(client);
  const skill = skills[names.indexOf(name)];
  if (!skill) return refuse('no-such-skill', `the server publishes no skill ${name}`);
  const root = skill.uri.slice(0, skill.uri.lastIndexOf('/') + 1);
  for (const { uri } of skill.resources === 'dynamic' ? [skill] : skill.resources) {
    const path = resolve(folder, decodeURIComponent(uri.slice(root.length)));
    if (!uri.startsWith(root) || !path.startsWith(`${folder}/`))
      return refuse('no-such-skill', `${name} has a file outside of its folder: ${uri}`);
    atomicWrite(path, (await reader.read(skill, uri)).bytes);
  }
  return ok(true);
}

/** Why a session does not see it. */
export function hiddenReason({ config: { tools, trust } }: McpServer, tool: OfferedTool): string | undefined {
  const fits = (globs: readonly string[] = []) => globs.some((glob) => starTest(glob)(tool.name));
  if (fits(tools.exclude) || (tools.include && !fits(tools.include))) return 'the configuration leaves it out';
  return tool.hidden ?? (trust === 'read' && !tool.onlyReads ? 'trust is read, and it may do more' : undefined);
}

export interface NamedTool {
  readonly server: McpServer;
  readonly offered: OfferedTool;
  /** As models call it. */
  readonly name: string;
}

const MOST_NAME = 64;

export function nameTools(
  offers: readonly { readonly server: McpServer; readonly catalogue: Catalogue | undefined }[],
): readonly NamedTool[] {
  const all = offers.flatMap(({ server, catalogue }) =>
    (catalogue?.tools ?? []).map((offered) => ({ server, offered, name: plainName(server.name, offered.name) })),
  );
  const owners = Map.groupBy(all, ({ name, offered }) => (offered.hidden ? '' : name));
  return all.map((one) => {
    if (one.name.length <= MOST_NAME && (owners.get(one.name)?.length ?? 0) < 2) return one;
    const hash = sha256(`${one.server.name}\0${one.offered.name}`).slice(0, 8);
    return { ...one, name: `${one.name.slice(0, MOST_NAME - 9)}_${hash}` };
  });
}

export function plainName(server: string, name: string): string {
  return `mcp__${server}__${name.replaceAll(/[^\w-]/g, '_')}`;
}

const anyInput = z.looseObject({}) as unknown as z.ZodType<JsonObject>;

export function toolOf({ server, offered, name }: NamedTool, run: Tool<JsonObject>['run']): AnyTool {
  const asks = server.config.trust === 'ask' && !offered.onlyReads;
  return defineTool<JsonObject>({
    ...{ name, description: offered.description, input: anyInput, parameters: offered.schema },
    ...{ toolset: `mcp-${server.name}`, effect: offered.onlyReads ? 'read' : 'write', defer: 'when-many', run },
    risk: (input) => {
      if (!asks) return { level: 'none' };
      const reason = `the MCP server ${server.name} does not say that ${offered.name} only reads`;
      const preview = `${server.name}: ${offered.name} ${JSON.stringify(input)}`;
      return { level: 'ask', key: `mcp:${server.name}:${offered.name}`, reach: 'network', reason, preview };
    },
  });
}

/** What the model reads of it, and the pictures. */
export function outputOf({ content, structuredContent, isError = false }: CallToolResult): ToolOutput {
  const parts = content.map(partOf);
  const lines = parts.filter((part) => typeof part === 'string');
  const images = parts.filter((part) => typeof part !== 'string').map((bytes) => ({ bytes }));
  const said = canonicalJson((structuredContent ?? {}) as JsonObject);
  const says = (text: string) => {
    const read = parseJson(text);
    return read.ok && canonicalJson(read.value) === said;
  };
  // The same as one of the texts, or all that is in it is one.
  const isNew = !lines.some(says) && Object.values(structuredContent ?? {}).some((one) => !lines.includes(String(one)));
  return { text: [...lines, ...(isNew ? [said] : [])].join('\n'), origin: 'foreign', isError, images };
}

function partOf(part: CallToolResult['content'][number]): string | Uint8Array {
  if (part.type === 'text') return part.text;
  if (part.type === 'image') return Buffer.from(part.data, 'base64');
  if (part.type === 'resource_link')
    return [part.title ?? part.name, part.uri, part.description].filter(Boolean).join(': ');
  if (part.type === 'audio') return `[sound, ${part.mimeType}, is not kept]`;
  const { resource } = part;
  if ('text' in resource) return resource.text;
  return resource.mimeType?.startsWith('image/') ? Buffer.from(resource.blob, 'base64') : `[${resource.uri}]`;
}
