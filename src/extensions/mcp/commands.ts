// Owns `talaria mcp`: what servers there are and how they stand, what they offer, calls by hand, adding and taking away, logins, the folder's file, and
// prompts of servers as commands of the chat. Knows no protocol. Invariants: a server is written once it has answered; a key goes into .env.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { deadline, isAborted } from '#base/abort.ts';
import { TalariaError } from '#base/errors.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { ellipsize, estimateTokens, plural } from '#base/text.ts';
import { absentAsker } from '#core/agent/approver.ts';
import * as command from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import * as offers from './catalogue.ts';
import type { McpHub } from './hub.ts';
import { type Authorize, tokenFile } from './oauth.ts';
import * as known from './servers.ts';

interface Seat extends command.CommandContext {
  readonly ground: Ground;
  readonly found: known.FoundServers;
  readonly hub: McpHub;
  readonly say: (output: command.CommandOutput) => void;
  readonly tell: (text: string) => void;
  /** Absent: there is no person to sign in. */
  readonly authorize: Authorize | undefined;
}

interface Spec<Input> extends Partial<Pick<command.CommandSpec, 'surfaces' | 'positional' | 'examples'>> {
  readonly input: z.ZodType<Input>;
  /** What it gives is its data. */
  readonly run: (input: Input, seat: Seat) => Promise<unknown>;
}

function mcpCommand<Input>(name: string, summary: string, { run, ...spec }: Spec<Input>) {
  const outputs = async (input: Input, seat: Seat) => {
    try {
      const value = await run(input, seat);
      if (value !== undefined) seat.say({ type: 'data', value: value as JsonValue });
    } catch (error) {
      if (!(error instanceof TalariaError) || isAborted(error)) throw error;
      const end = error.code === 'no-such-server' ? command.refused : command.failed;
      seat.say(end(error.code, error.message, error.fix ?? '`talaria mcp list` shows how each stands.'));
    }
  };
  return (ground: Ground) => {
    async function* play(input: Input, context: command.CommandContext) {
      const found = await known.findServers(ground, context);
      const hub = await (await ground.door('mcp'))();
      const said = createAsyncQueue<command.CommandOutput>();
      const tell = (text: string) => said.push(command.line(text));
      const { ask, signal } = context;
      const authorize = ask || ground.variables.BROWSER ? { show: tell, ask, signal } : undefined;
      const seat = { ...context, ground, found, hub, say: said.push, tell, authorize };
      const done = outputs(input, seat).finally(said.close);
      done.catch(() => undefined);
      yield* said;
      await done;
    }
    return command.defineCommand<Input>({ name, summary, surfaces: ['cli'], ...spec, run: play });
  };
}

const BOTH = ['cli', 'chat'] as const;
const one = z.object({ name: z.string().describe('Name of the server') });
const texts = z.array(z.string()).default([]);
const pairs = (sign: string) =>
  z.array(z.string().regex(new RegExp(`^[^${sign}]+${sign}`), `it takes NAME${sign}VALUE`)).default([]);

export function mcpCommands(ground: Ground): readonly command.AnyCommand[] {
  const { cache } = ground.places;
  const folder = join(cache, 'mcp');
  const names = existsSync(folder) ? readdirSync(folder).map((file) => basename(file, '.json')) : [];
  // Of what is remembered: making the list asks nobody.
  const prompts = names.flatMap((name) =>
    (offers.rememberedCatalogue(cache, name)?.prompts ?? []).map((prompt) => promptCommand(name, prompt)),
  );
  return [...COMMANDS, ...prompts].map((make) => make(ground));
}

const ASK_MS = 5_000;

async function standingOf({ ground, hub, signal, cwd }: Seat, server: known.McpServer, cached: boolean) {
  const catalogue = offers.rememberedCatalogue(ground.places.cache, server.name, server.hash);
  if (!server.config.enabled) return { server, state: 'disabled', catalogue };
  if (cached) return { server, state: catalogue ? 'remembered' : 'unknown', catalogue };
  const late = () => new TalariaError('it did not answer in time', { code: 'REQUEST_TIMEOUT' });
  const time = deadline(ground.clock, signal, ASK_MS, late);
  try {
    return { server, state: 'ready', catalogue: await hub.catalogue(server, cwd, time.signal) };
  } catch (error) {
    return { server, state: 'failed', catalogue, error: hub.connection(server, cwd).reason(error) };
  } finally {
    time.clear();
  }
}

function table(rows: readonly object[]): command.CommandOutput {
  const cells = rows.map((row) => Object.values(row).map((cell) => ellipsize(String(cell ?? ''), 80)));
  return { type: 'table', columns: Object.keys(rows[0] ?? {}), rows: cells };
}

function remarks({ name }: known.McpServer, catalogue?: offers.Catalogue): readonly string[] {
  const { tools = [], skills = [], more = 0 } = catalogue ?? {};
  const hidden = tools.filter((tool) => tool.hidden);
  return [
    ...hidden.map((tool) => `${name}: ${ellipsize(tool.name, 80)} is not shown: ${tool.hidden}`),
    ...(more > 0 ? [`${name}: ${more} more tools are not taken`] : []),
    ...skills.map((skill) => `${name}: skill ${skill}; mcp skill ${name} ${skill} takes it`),
  ];
}

const list = mcpCommand('mcp list', 'Show the MCP servers, how each stands, and what it offers', {
  surfaces: BOTH,
  input: z.object({ cached: z.boolean().default(false).describe('Ask none of them') }),
  async run({ cached }, seat) {
    const { servers, project, problems } = seat.found;
    const all = await Promise.all(servers.map((server) => standingOf(seat, server, cached)));
    const rows = all.map(({ server, state, catalogue, error = null }) => {
      const shown = catalogue?.tools.filter((tool) => offers.hiddenReason(server, tool) === undefined) ?? [];
      const tokens = shown.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0);
      const transport = server.config.type ?? (server.config.url === undefined ? 'stdio' : 'http');
      return { name: server.name, source: server.source, transport, state, tools: shown.length, tokens, error };
    });
    if (rows.length > 0) seat.say(table(rows));
    else seat.tell('There is no MCP server. `talaria mcp add browser` adds one.');
    for (const text of all.flatMap(({ server, catalogue }) => remarks(server, catalogue))) seat.tell(text);
    for (const problem of problems) seat.tell(`note: ${problem}`);
    if (project?.isTrusted === false) seat.tell(`${project.path} waits for your yes: mcp trust shows and agrees to it`);
    return rows;
  },
});

const tools = mcpCommand('mcp tools', 'Show the tools of one server, or of all', {
  positional: ['name'],
  input: one.partial(),
  async run({ name }, { hub, found, cwd, signal, authorize, say }) {
    const wanted = name === undefined ? found.servers : [known.namedServer(found, name)];
    const asked = wanted.map(async (server) => {
      const catalogue = hub.catalogue(server, cwd, signal, authorize);
      return { server, catalogue: await (name === undefined ? catalogue.catch(() => undefined) : catalogue) };
    });
    const rows = offers.nameTools(await Promise.all(asked)).map(({ server, offered, name: tool }) => {
      const { name, description, schema } = offered;
      const shown = offers.hiddenReason(server, offered) === undefined ? 'shown' : 'hidden';
      return { name, tool, description, input_schema: schema, shown };
    });
    say(table(rows.map(({ tool, shown, description }) => ({ tool, shown, 'what it does': description }))));
    return rows;
  },
});

const call = mcpCommand('mcp call', 'Call one tool of a server', {
  positional: ['name', 'tool', 'arguments'],
  input: one.extend({
    tool: z.string().describe('As the server names it'),
    arguments: z.string().default('{}').describe('A JSON object'),
  }),
  examples: [`talaria mcp call filesystem list_directory '{"path": "."}'`],
  async run({ name, tool, arguments: json }, { hub, found, cwd, signal, ask, authorize, say, tell }) {
    const read = parseJsonObject(json);
    if (!read.ok) return say(command.wrongUse('invalid-json', `The arguments are no JSON object: ${read.detail}`));
    const asker = ask ? { ask: async ({ question = '' }) => ok(await ask(question)) } : absentAsker;
    const connection = hub.connection(known.namedServer(found, name), cwd, authorize);
    const result = await connection.call({ name: tool, arguments: read.value }, { asker, cwd }, signal);
    const { text, images = [], isError } = offers.outputOf(result);
    tell(text);
    for (const { bytes } of images) tell(`[a picture of ${plural(bytes.length, 'byte')}]`);
    say({ type: 'data', value: result as JsonValue });
    if (isError) say(command.failed('tool-failed', `${name}: ${tool} failed.`));
  },
});

/** Servers that are often wanted, at the versions that were tried. */
const PRESETS: ReadonlyMap<string, readonly string[]> = new Map([
  ['browser', ['npx', '-y', '@playwright/mcp@0.0.83', '--headless', '--isolated']],
  ['filesystem', ['npx', '-y', '@modelcontextprotocol/server-filesystem@2026.8.31']],
  ['devtools', ['npx', '-y', 'chrome-devtools-mcp@1.11.0', '--headless', '--isolated']],
]);

const ADD = 'Add a server, once it has answered; browser, filesystem DIR and devtools are known by name';

const add = mcpCommand('mcp add', ADD, {
  positional: ['name', 'words...'],
  input: one.extend({
    words: texts.describe('Its command, after --'),
    url: z.string().optional().describe('Its address, when it runs elsewhere'),
    env: pairs('=').describe('NAME=VALUE, for the command; a key goes into .env'),
    header: pairs(':').describe('Name:Value, for the address; a key goes into .env'),
  }),
  examples: ['talaria mcp add browser', 'talaria mcp add filesystem ~/notes', 'talaria mcp add x -- npx some-server'],
  async run({ name, words, url, env, header }, { ground, hub, cwd, signal, authorize, say, tell }) {
    const [first = '-'] = words;
    // What a known one can be given is an option or a folder; a command of one's own comes before it.
    const isMore = first.startsWith('-') || statSync(resolve(cwd, first), { throwIfNoEntry: false })?.isDirectory();
    const given = name === 'filesystem' && isMore ? words.map((word) => resolve(cwd, word)) : words;
    const [program, ...args] = [...((isMore && PRESETS.get(name)) || []), ...given];
    const where = url === undefined ? { command: program, args } : { url };
    const plain = { env: pairsOf(env, '='), headers: pairsOf(header, ':') };
    const secrets: Record<string, string> = {};
    const keep = (part: 'env' | 'headers') => withoutKeys(name, plain[part], secrets, part);
    const kept = { ...where, ...keep('env'), ...keep('headers') };
    const config = known.serversSchema.safeParse({ [name]: kept });
    if (!config.success) return say(command.wrongUse('config-value', config.error.issues.map(known.placed).join('; ')));
    await ground.writable();
    const server = known.serverOf(name, 'home', config.data[name] as known.ServerConfig);
    // The first time a program may have to be fetched.
    const patient = { ...server, config: { ...server.config, ...plain, connect_timeout: 120 } };
    const catalogue = await hub.catalogue(patient, cwd, signal, authorize);
    await ground.keep({ config: [{ path: ['mcp_servers', name], value: kept as JsonObject }], secrets });
    tell(`${name} is added: ${plural(catalogue.tools.length, 'tool')}, for sessions that begin from now on.`);
    for (const text of remarks(server, catalogue)) tell(text);
    return { name, tools: catalogue.tools.map((tool) => tool.name) };
  },
});

type Texts = Record<string, string>;

function pairsOf(given: readonly string[], sign: string): Texts {
  const cut = (text: string) => text.split(sign)[0] ?? '';
  return Object.fromEntries(given.map((text) => [cut(text).trim(), text.slice(cut(text).length + 1).trim()]));
}

/** What is a key stands in .env, and is referred to. */
function withoutKeys(name: string, given: Texts, secrets: Texts, part: string): Record<string, Texts> {
  const pairs = Object.entries(given).map(([key, value]) => {
    if (findSecrets(`${key}=${value}`).length === 0) return [key, value];
    const variable = `MCP_${name}_${key}`.toUpperCase().replaceAll(/\W/g, '_');
    secrets[variable] = value;
    return [key, `\${${variable}}`];
  });
  return pairs.length > 0 ? { [part]: Object.fromEntries(pairs) } : {};
}

const remove = mcpCommand('mcp remove', 'Take a server out, with what is kept of it', {
  positional: ['name'],
  input: one,
  async run({ name }, { ground, found, say, tell }) {
    if (known.namedServer(found, name).source !== 'home')
      return say(command.refused('not-ours', `${name} stands in .mcp.json of this folder.`, 'Take it out there.'));
    await ground.keep({ config: [{ path: ['mcp_servers', name], value: undefined }] });
    const { cache, home } = ground.places;
    for (const file of [offers.catalogueFile(cache, name), tokenFile(home, name)]) rmSync(file, { force: true });
    tell(`${name} is taken out.`);
    return { removed: name };
  },
});

const askAnew: Spec<z.infer<typeof one>> = {
  positional: ['name'],
  input: one,
  async run(input, { ground, hub, found, cwd, signal, authorize, tell }) {
    const server = known.namedServer(found, input.name);
    await ground.writable();
    await hub.connection(server, cwd, authorize).close();
    const { tools } = await hub.catalogue(server, cwd, signal, authorize);
    tell(`${server.name} answers: ${plural(tools.length, 'tool')}; what changed counts from the next session.`);
    return { name: server.name, tools: tools.length };
  },
};
const login = mcpCommand('mcp login', 'Sign in to a server: in $BROWSER, or at the address that is shown', askAnew);
const reconnectable = { ...askAnew, surfaces: BOTH };
const reconnect = mcpCommand('mcp reconnect', 'End the connection to a server and ask it anew', reconnectable);

const trust = mcpCommand('mcp trust', "Agree to this folder's .mcp.json, exactly as it is now", {
  surfaces: BOTH,
  input: z.object({}),
  async run(_input, { ground, found: { project }, say, tell }) {
    const why = project?.problems.join('; ') || 'There is no .mcp.json that names a server in this folder.';
    if (!project?.servers.length) return say(command.refused('no-project-file', why));
    for (const text of [...project.servers.map(known.serverLine), ...project.problems]) tell(text);
    await ground.writable();
    known.trustFile(ground, project.path, project.hash);
    tell('They are used in every session that begins here from now on, until the file changes.');
    return { path: project.path, trusted: true };
  },
});

const skill = mcpCommand('mcp skill', 'Take a skill that a server publishes, through the guard', {
  positional: ['name', 'skill'],
  input: one.extend({
    skill: z.string().describe('As `mcp list` shows it'),
    force: z.boolean().default(false).describe('You read what the guard found, and want it'),
  }),
  async run({ name, skill: wanted, force }, { ground, hub, found, cwd, signal, say, tell }) {
    await ground.writable();
    const folder = mkdtempSync(join(tmpdir(), 'talaria-skill-'));
    try {
      const from = join(folder, 'skill');
      const connection = hub.connection(known.namedServer(found, name), cwd);
      const read = await connection.use((client) => offers.readSkill(client, wanted, from), signal);
      if (!read.ok)
        return say(command.refused(read.reason, read.detail, '`talaria mcp list` names those that there are.'));
      const { skills, door, judge } = await ground.open();
      await skills.ready();
      const request = { from, source: 'community', approved: true, force, judge } as const;
      const installed = await door.install(request, signal);
      if (!installed.ok) return say(command.refused(installed.reason, installed.detail));
      tell(`Installed ${installed.value.name}: ${installed.value.path}`);
      return installed.value;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** Its words are the server's, and are sent as such. */
function promptCommand(server: string, { name, description, keys }: offers.Catalogue['prompts'][number]) {
  return mcpCommand(offers.plainName(server, name), description, {
    surfaces: ['chat'],
    positional: ['words...'],
    input: z.object({ words: texts.describe(keys.join(' ') || 'nothing') }),
    async run({ words }, { hub, found, cwd, signal, submit }) {
      // The last one takes the rest.
      const given = keys.map((key, at) => [key, words.slice(at, at < keys.length - 1 ? at + 1 : undefined).join(' ')]);
      const asked = { name, arguments: Object.fromEntries(given.filter(([, value]) => value)) };
      const connection = hub.connection(known.namedServer(found, server), cwd);
      const { messages } = await connection.use((client) => client.getPrompt(asked), signal);
      const text = messages.map(({ content }) => offers.outputOf({ content: [content] }).text).join('\n\n');
      const extra = [{ type: 'text', text, origin: 'foreign', label: 'file' }] as const;
      submit?.(`Do what the prompt ${name} of the MCP server ${server} says.`, extra);
    },
  });
}

const COMMANDS = [list, tools, call, add, remove, login, trust, reconnect, skill];
