// Owns which MCP servers there are for a place, and how each is written: `mcp_servers` of config.yaml, `.mcp.json` of the folder, those a surface
// brings; their variables; and which `.mcp.json` the owner agreed to. Knows no connection. Invariants: of a file that was not agreed to, exactly
// as it is, nothing is started; a value of a variable is filled in for the one who connects, and is part of no name, hash or message.
import { join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import { issueText } from '#base/schema-issue.ts';
import type { Ground, SessionPlace } from '#core/agent/room.ts';

const texts = z.record(z.string(), z.string()).default({});
const globs = z.array(z.string()).optional();
const filter = z.looseObject({
  include: globs.describe('Only tools whose names these fit; `*` stands for anything.'),
  exclude: globs.describe('No tools whose names these fit.'),
});
const oauth = z.looseObject({
  client_id: z.string().optional().describe('Of a client that is registered there; default: registers itself.'),
  client_secret: z.string().optional().describe(`Its secret, as \`\${NAME}\`.`),
  scope: z.string().optional().describe('What is asked for.'),
  redirect_port: z.int().min(0).max(65_535).default(0).describe('Port on 127.0.0.1; 0: any.'),
});
const TRUST = 'Calls that do not only read: ask the person; are not shown (`read`); run (`all`).';

const serverSchema = z
  .looseObject({
    type: z.enum(['stdio', 'http', 'sse']).optional().describe('Default: by what else is given.'),
    command: z.string().min(1).optional().describe('Program of a server that is started here.'),
    args: z.array(z.string()).default([]).describe('Its arguments.'),
    env: texts.describe(`Its variables; \`\${NAME}\` is taken from .env or the environment.`),
    cwd: z.string().optional().describe('Folder it is started in.'),
    url: z.string().optional().describe('Address of a server that runs elsewhere.'),
    headers: texts.describe(`Headers of each request to it; \`\${NAME}\` as in \`env\`.`),
    auth: z.enum(['none', 'oauth']).default('none').describe('`oauth`: not asked before `talaria mcp login NAME`.'),
    oauth: oauth.prefault({}).describe('Signing in.'),
    enabled: z.boolean().default(true).describe('Whether it is used.'),
    timeout: z.number().positive().max(86_400).default(60).describe('Seconds that one call may take.'),
    connect_timeout: z.number().positive().max(600).default(20).describe('Seconds until it must have answered.'),
    tools: filter.prefault({}).describe('Which of its tools are used.'),
    trust: z.enum(['ask', 'read', 'all']).default('ask').describe(TRUST),
    sampling: z.boolean().default(false).describe('Whether it may ask the small model of this home.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'it takes either command or url');

export type ServerConfig = z.infer<typeof serverSchema>;

export const serversSchema = z
  .record(z.string().regex(/^[a-z0-9-]{1,32}$/, 'a name has up to 32 of a-z, 0-9 and -'), serverSchema)
  .describe('MCP servers by name, whose tools are used.');

/** One server as it is written. */
export interface McpServer {
  readonly name: string;
  readonly source: 'home' | 'project' | 'brought';
  readonly config: ServerConfig;
  /** Of all that says what it is: another hash is another server. */
  readonly hash: string;
}

export type FoundServers = Awaited<ReturnType<typeof findServers>>;

/** Throws `config-invalid`. Servers of a file that was not agreed to are in `project` alone. */
export async function findServers(ground: Ground, place: SessionPlace) {
  const section = (await ground.settings()).section('mcp_servers', serversSchema);
  const home = Object.entries(section).map(([name, config]) => serverOf(name, 'home', config));
  const project = readProject(ground, place.cwd);
  const brought = checked(place.servers ?? {}, 'brought');
  const all = [...home, ...(project?.isTrusted ? project.servers : []), ...brought.servers];
  // One a name: what a surface brings comes before the folder's, and that before the home's.
  const servers = [...new Map(all.map((server) => [server.name, server])).values()];
  return { servers, project, problems: [...(project?.problems ?? []), ...brought.problems] };
}

export function serverOf(name: string, source: McpServer['source'], config: ServerConfig): McpServer {
  return { name, source, config, hash: sha256(canonicalJson(config as JsonObject)) };
}

/** Entries of others' files: what is wrong is named, and the rest counts. */
function checked(entries: JsonObject, source: 'project' | 'brought', cwd?: string) {
  const servers: McpServer[] = [];
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const own = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const read = serverSchema.safeParse(entry);
    if (!read.success) problems.push(`${name}: ${read.error.issues.map(placed).join('; ')}`);
    // What is no part of such files must not speak for the owner.
    else servers.push(serverOf(own.slice(0, 32), source, cwd ? { cwd, ...read.data, ...STRANGERS } : read.data));
  }
  return { servers, problems };
}

const STRANGERS = { trust: 'ask', sampling: false } as const;

export function placed(issue: z.core.$ZodIssue): string {
  return [...issue.path.slice(0, 1), issueText(issue)].join(': ');
}

function readProject({ places }: Ground, cwd: string) {
  const path = join(cwd, '.mcp.json');
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const read = parseJsonObject(text);
  const named = read.ok ? read.value.mcpServers : undefined;
  const wrong = read.ok ? 'it has no mcpServers' : `it is no JSON object: ${read.detail}`;
  const { servers, problems } = isJsonObject(named)
    ? checked(named, 'project', cwd)
    : { servers: [], problems: [wrong] };
  const hash = sha256(text);
  const isTrusted = trustedFiles(places.home)[path] === hash;
  return { path, hash, isTrusted, servers, problems: problems.map((problem) => `${path}: ${problem}`) };
}

const trustPath = (home: string) => join(home, 'trust', 'mcp.json');

function trustedFiles(home: string): JsonObject {
  const read = parseJsonObject(readIfThere(trustPath(home)) ?? '{}');
  return read.ok ? read.value : {};
}

/** For exactly this content; another one at the same path is a stranger again. */
export function trustFile({ places: { home } }: Ground, path: string, hash: string): void {
  atomicWrite(trustPath(home), `${JSON.stringify({ ...trustedFiles(home), [path]: hash }, null, 2)}\n`);
}

/** What a person agrees to: the program or the address, and what it is given. */
export function serverLine({ name, config: { command, args, url, env, headers } }: McpServer): string {
  const given = Object.entries({ ...env, ...headers }).map(([key, value]) => `${key}=${value}`);
  return `${name}: ${[command ?? url, ...args, ...given].join(' ')}`;
}

/** `${NAME}` and `${NAME:-default}` everywhere in it. Throws `missing-key`, which names the first variable that is not set. */
export function fillServer({ config }: McpServer, variables: Ground['variables']): ServerConfig {
  let missing = '';
  const fill = (text: string) =>
    text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, key: string, otherwise?: string) => {
      if (!variables[key] && otherwise === undefined) missing ||= key;
      return variables[key] || (otherwise ?? '');
    });
  const filled = parseJsonObject(JSON.stringify(config, (_, part) => (typeof part === 'string' ? fill(part) : part)));
  if (filled.ok && !missing) return filled.value as ServerConfig;
  throw new TalariaError(`\${${missing}} is not set, neither in .env nor in the environment`, { code: 'missing-key' });
}

/** Throws `no-such-server`. */
export function namedServer({ servers }: FoundServers, name: string): McpServer {
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  const fix = '`talaria mcp list` lists them, and what waits for your yes; `talaria mcp add` adds one.';
  throw new TalariaError(`there is no MCP server ${name}`, { code: 'no-such-server', fix });
}
