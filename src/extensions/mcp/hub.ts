// Owns the connections of one program to its MCP servers, and what a session gets of them: tools from what is remembered, and a call that connects.
// Knows no protocol. Invariants: a session starts nothing but a server of which nothing is remembered, and waits no longer than 1.5 s for it; what one
// server does reaches no other; a list that changes counts from the next session.
import { deadline, raceAbort } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { RoomGround, SessionPlace } from '#core/agent/room.ts';
import type { AnyTool, Tool } from '#core/agent/tool.ts';
import * as offers from './catalogue.ts';
import { Connection } from './connection.ts';
import type { Authorize } from './oauth.ts';
import { findServers, type McpServer } from './servers.ts';

/** How long a session waits for a server of which nothing is remembered, ms. */
const FIRST_MS = 1_500;

export class McpHub {
  readonly #ground: RoomGround;
  readonly #open = new Map<string, Connection>();
  readonly #told = new Set<string>();

  constructor(ground: RoomGround) {
    this.#ground = ground;
  }

  async sessionTools(place: SessionPlace): Promise<readonly AnyTool[]> {
    const { servers, project, problems } = await findServers(this.#ground, place);
    for (const problem of problems) this.#tell(`MCP: ${problem}`);
    if (project?.isTrusted === false)
      this.#tell(`${project.path} names MCP servers; \`talaria mcp trust\` shows and agrees to them`);
    const used = servers.filter(({ config }) => config.enabled);
    const asked = used.map(async (server) => ({ server, catalogue: await this.#soon(server, place.cwd) }));
    const named = offers.nameTools(await Promise.all(asked));
    const shown = named.filter(({ server, offered }) => offers.hiddenReason(server, offered) === undefined);
    return shown.map((one) => offers.toolOf(one, this.#runOf(one.server, one.offered.name, place.cwd)));
  }

  connection(server: McpServer, cwd: string, authorize?: Authorize): Connection {
    const key = `${server.name} ${server.hash}`;
    const onChange = () => void this.#refresh(server, cwd);
    const made = this.#open.get(key) ?? new Connection({ ground: this.#ground, server, cwd, onChange, authorize });
    this.#open.set(key, made);
    return made;
  }

  /** Asks it, and remembers the answer. */
  catalogue(server: McpServer, cwd: string, signal: AbortSignal, authorize?: Authorize): Promise<offers.Catalogue> {
    const { cache } = this.#ground.places;
    return this.connection(server, cwd, authorize).use((client) => offers.askCatalogue(client, cache, server), signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((one) => one.close()));
  }

  #tell(text: string): void {
    if (!this.#told.has(text)) this.#ground.notice(text);
    this.#told.add(text);
  }

  /** What is remembered, or comes at once. */
  async #soon(server: McpServer, cwd: string): Promise<offers.Catalogue | undefined> {
    const { places, clock, background } = this.#ground;
    const remembered = offers.rememberedCatalogue(places.cache, server.name, server.hash);
    if (remembered) return remembered;
    const late = () =>
      new Error(`MCP server ${server.name} has not answered yet; its tools are there in the next session`);
    const time = deadline(clock, background.signal, FIRST_MS, late);
    try {
      return await raceAbort(this.#refresh(server, cwd), time.signal);
    } catch (error) {
      if (!background.signal.aborted) this.#tell(errorText(error));
      return undefined;
    } finally {
      time.clear();
    }
  }

  /** Goes on when nobody waits for it; what fails is logged. */
  #refresh(server: McpServer, cwd: string): Promise<offers.Catalogue> {
    const { background } = this.#ground;
    const asked = this.catalogue(server, cwd, background.signal);
    background.hold(`mcp ${server.name}`, asked);
    return asked;
  }

  #runOf(server: McpServer, name: string, cwd: string): Tool<JsonObject>['run'] {
    return async (input, context, signal) => {
      const connection = this.connection(server, cwd);
      const isFirst = !connection.isOpen;
      try {
        const result = await connection.call({ name, arguments: input }, context, signal);
        if (isFirst) void this.#refresh(server, cwd);
        return offers.outputOf(result);
      } catch (error) {
        signal.throwIfAborted();
        return { text: errorText(error), isError: true, origin: 'foreign' };
      }
    };
  }
}
