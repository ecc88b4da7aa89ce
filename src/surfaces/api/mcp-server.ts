// Owns Talaria as an MCP server, for both eras and both transports: `ask`, tools that read, memory and skills as resources, a prompt a skill.
// Knows no transport. Invariant: nothing here acts on the machine or writes what is kept but a turn of `ask`, whose risky calls its client is asked about.
import { join } from 'node:path';
import * as mcp from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { errorText } from '#base/errors.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { newId } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { readBytesIfThere } from '#base/platform.ts';
import { type ApprovalAnswer, type ApprovalRequest, absentAsker } from '#core/agent/approver.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import type { App } from '#surfaces/app/app.ts';
import type { TurnDesk, TurnWish } from './turns.ts';

/** As the agent has them; those that are not there are left out. */
const READING = ['session_search', 'skills_list', 'skill_view', 'recursive_read'];

/** How long a question waits for its answer, ms. */
const ANSWER_MS = 600_000;

const ASK = schemaOf({
  type: 'object',
  properties: { prompt: { type: 'string', minLength: 1 }, session_id: { type: 'string' } },
  required: ['prompt'],
});
const ALLOW = { type: 'boolean' as const, title: 'Allow it this once' };

export function createMcpServers(desk: TurnDesk, version: string): mcp.McpServerFactory {
  const { app } = desk;
  const asks = new Map<string, Asking>();
  return async () => {
    const means = { capabilities: { prompts: {} }, inputRequired: { maxRounds: 64 } }; // also a list of no prompts
    const server = new mcp.McpServer({ name: 'talaria', version }, means);
    const description = 'Ask Talaria, an agent with memory, skills and tools of its own. session_id: goes on there.';
    server.registerTool('ask', { description, inputSchema: ASK }, (input, context) =>
      ask([desk, asks, server], input, context),
    );
    for (const tool of READING.flatMap((name) => app.allTools().get(name) ?? [])) {
      const { name, description, parameters } = functionSchema(tool);
      const shown = { description, inputSchema: schemaOf(parameters), annotations: { readOnlyHint: true } };
      server.registerTool(name, shown, (input, context) => read(app, tool, input, context));
    }
    for (const name of ['MEMORY.md', 'USER.md']) {
      const text = () => String(readBytesIfThere(join(app.home.memories, name)) ?? '');
      const about = { uri: `memory://${name}`, mimeType: 'text/markdown' };
      server.registerResource(name, about.uri, about, () => ({ contents: [{ ...about, text: text() }] }));
    }
    const skills = await offered(app);
    (await catalogOf(app.doors.skills, skills)).attach(server);
    for (const { name, description } of skills) {
      const text = () => app.doors.skills.get(name)?.body ?? '';
      server.registerPrompt(name, { description }, () => ({
        messages: [{ role: 'user', content: { type: 'text', text: text() } }],
      }));
    }
    return server;
  };
}

function schemaOf(schema: JsonObject) {
  return mcp.fromJsonSchema<JsonObject>(schema as mcp.JsonSchemaType);
}

async function offered(app: App) {
  await app.doors.skills.ready();
  const { tools } = await app.tools();
  const names = { tools: new Set(tools.map(({ name }) => name)), toolsets: new Set(tools.map((one) => one.toolset)) };
  return app.doors.skills.offered({ platform: process.platform, ...names });
}

/** Those of now: each connection has its own. */
function catalogOf(library: App['doors']['skills'], skills: Awaited<ReturnType<typeof offered>>) {
  const files: Record<string, string> = {};
  for (const { name } of skills)
    for (const path of ['SKILL.md', ...Object.values(library.linkedFiles(name) ?? {}).flat()]) {
      const found = library.file(name, path);
      if (found.ok) files[`${name}/${path}`] = found.value;
    }
  return SkillsExtension.load(memorySkillFiles(files), { onWarning: () => undefined });
}

/** One call of a tool beside any session; what would ask the owner is refused. */
async function read(app: App, card: AnyTool, input: JsonObject, context: mcp.ServerContext) {
  const tool = (await card.load?.()) ?? card;
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) return told(parsed.error.message, true);
  const place = {
    ...{ sessionId: 'mcp', callId: newId('call'), cwd: app.environment.cwd, clock: app.clock, asker: absentAsker },
    ...{ spillFolder: app.home.spill, history: () => [], redact: app.redact, progress: () => undefined },
  };
  const risk = tool.risk?.(parsed.data, place);
  if (risk && risk.level !== 'none') return told(`refused: ${risk.reason}`, true);
  const { text, isError } = await tool.run(parsed.data, place, context.mcpReq.signal);
  return told(app.redact(text), isError);
}

function told(text: string, isError = false) {
  return { content: [{ type: 'text' as const, text }], isError };
}

/** What happens next in a turn: a question to the person at the client, or its end. */
type Happened =
  | { readonly question: ApprovalRequest; readonly answer: (answer: ApprovalAnswer) => void }
  | { readonly end: JsonObject };

/** A turn that may wait for answers between two requests of its client. */
interface Asking {
  readonly happened: AsyncIterator<Happened>;
  readonly stop: AbortController;
  /** The request that waits now. */
  request: mcp.ServerContext['mcpReq'];
  answer?: (answer: ApprovalAnswer) => void;
}

type Ground = readonly [desk: TurnDesk, asks: Map<string, Asking>, server: mcp.McpServer];

async function ask([desk, asks, server]: Ground, input: JsonObject, { mcpReq }: mcp.ServerContext) {
  const known = mcpReq.requestState<string>();
  const id = known ?? newId('ask');
  const asking = known ? asks.get(known) : begin(desk, input, mcpReq, offersAnswers(server, mcpReq));
  if (!asking) return told('this question is over; ask again', true);
  asking.request = mcpReq;
  const stop = () => asking.stop.abort(mcpReq.signal.reason);
  mcpReq.signal.addEventListener('abort', stop, { once: true });
  const allowed = mcp.acceptedContent(mcpReq.inputResponses, 'approval')?.allow === true;
  const no = { decision: 'deny', reason: 'the person at the client said no' } as const;
  asking.answer?.(allowed ? { decision: 'once' } : no);
  const { value } = await asking.happened.next();
  mcpReq.signal.removeEventListener('abort', stop);
  if ('end' in value)
    return { ...told(String(value.end.text), value.end.outcome !== 'done'), structuredContent: value.end };
  asks.set(id, asking);
  const cancel = desk.app.clock.after(ANSWER_MS, () => {
    asks.delete(id);
    asking.stop.abort();
  });
  asking.answer = (answer) => {
    cancel();
    asks.delete(id);
    value.answer(answer);
  };
  const message = `${value.question.preview}\n\n${value.question.reason}`;
  const requestedSchema = { type: 'object' as const, properties: { allow: ALLOW }, required: ['allow'] };
  const approval = mcp.inputRequired.elicit({ message, requestedSchema });
  return mcp.inputRequired({ inputRequests: { approval }, requestState: id });
}

/** In the newer era each request says what its client can do. */
function offersAnswers({ server }: mcp.McpServer, request: Asking['request']): boolean {
  const envelope: JsonObject = { ...request.envelope };
  const declared = envelope[mcp.CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return isJsonObject(declared) && declared.elicitation !== undefined;
}

function begin(desk: TurnDesk, input: JsonObject, request: Asking['request'], isAsked: boolean): Asking {
  const { prompt, session_id } = input;
  const queue = createAsyncQueue<Happened>();
  const asking: Asking = { happened: queue[Symbol.asyncIterator](), stop: new AbortController(), request };
  const approve = (question: ApprovalRequest) =>
    new Promise<ApprovalAnswer>((answer) => queue.push({ question, answer }));
  const wish: TurnWish = {
    ...{ source: 'mcp', origin: 'model', last: { role: 'user', text: String(prompt), images: [] } },
    ...(isAsked ? { approver: { approve } } : {}),
    ...(typeof session_id === 'string' ? { place: { session: session_id } } : {}),
  };
  const ended = play(desk, wish, asking)
    .catch((error: unknown) => ({ text: desk.app.redact(errorText(error)), outcome: 'failed' }))
    .then((end) => queue.push({ end }));
  desk.app.background('mcp ask', ended);
  return asking;
}

async function play(desk: TurnDesk, wish: TurnWish, asking: Asking): Promise<JsonObject> {
  const turn = await desk.begin(wish, asking.stop.signal);
  let [end, progress]: [JsonObject, number] = [{}, 0];
  try {
    for await (const event of turn.events) {
      if (event.type === 'tool-start') await tell(asking.request, event.summary, ++progress);
      if (event.type === 'turn-end')
        end = { text: event.error?.message ?? event.text, outcome: event.outcome, cost: event.cost };
    }
  } finally {
    await turn.end();
  }
  return { ...end, session_id: turn.sessionId };
}

/** Says what runs, to a client that wants to hear it; one that has left hears nothing more. */
async function tell(request: Asking['request'], message: string, progress: number): Promise<void> {
  const progressToken = request._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, message };
  await request.notify({ method: 'notifications/progress', params }).catch(() => undefined);
}
