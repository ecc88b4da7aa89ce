// Owns Talaria as an MCP server, for both eras and both transports: `ask`, tools that read, memory and skills as resources, a prompt a skill.
// Knows no transport. Invariant: nothing here acts on the machine or writes what is kept but a turn of `ask`, whose risky calls its client is asked about.
import { join } from 'node:path';
import * as mcp from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { z } from 'zod';
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

const ASK = z.object({ prompt: z.string().min(1), session_id: z.string().optional() });

const ALLOW = z.object({ allow: z.boolean().meta({ title: 'Allow it this once' }) });

export function createMcpServers(desk: TurnDesk, version: string): mcp.McpServerFactory {
  const { app } = desk;
  const asks = new Map<string, Asking>();
  return async () => {
    const means = { capabilities: { prompts: {} }, inputRequired: { maxRounds: 64 } }; // also a list of no prompts
    const server = new mcp.McpServer({ name: 'talaria', version }, means);
    const description = 'Ask Talaria, an agent with memory, skills and tools of its own. session_id: goes on there.';
    server.registerTool('ask', { description, inputSchema: ASK }, async (asked, { mcpReq }) => {
      const known = mcpReq.requestState<string>();
      const asking = known ? asks.get(known) : begin(desk, asked, offersAnswers(server, mcpReq));
      return asking ? listen(asking, mcpReq, { app, asks }) : told('this question is over; ask again', true);
    });
    for (const tool of READING.flatMap((name) => app.allTools().get(name) ?? [])) {
      const { name, description, parameters } = functionSchema(tool);
      const inputSchema = mcp.fromJsonSchema<JsonObject>(parameters as mcp.JsonSchemaType);
      const shown = { description, inputSchema, annotations: { readOnlyHint: true } };
      server.registerTool(name, shown, (input, { mcpReq }) => read(app, tool, input, mcpReq.signal));
    }
    for (const name of ['MEMORY.md', 'USER.md']) {
      const text = () => String(readBytesIfThere(join(app.home.memories, name)) ?? '');
      const about = { uri: `memory://${name}`, mimeType: 'text/markdown' };
      server.registerResource(name, about.uri, about, () => ({ contents: [{ ...about, text: text() }] }));
    }
    const skills = await offered(app);
    (await catalogOf(app.doors.skills, skills)).attach(server);
    for (const { name, description } of skills) {
      const content = () => ({ type: 'text' as const, text: app.doors.skills.get(name)?.body ?? '' });
      server.registerPrompt(name, { description }, () => ({ messages: [{ role: 'user', content: content() }] }));
    }
    return server;
  };
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
async function read(app: App, card: AnyTool, input: JsonObject, signal: AbortSignal) {
  const tool = (await card.load?.()) ?? card;
  const parsed = tool.input.parse(input);
  const { clock, environment, home, redact } = app;
  const place = { cwd: environment.cwd, clock, asker: absentAsker, spillFolder: home.spill, redact };
  const call = { ...place, sessionId: 'mcp', callId: newId('call'), history: () => [], progress: () => undefined };
  const risk = tool.risk?.(parsed, call);
  if (risk && risk.level !== 'none') return told(`refused: ${risk.reason}`, true);
  const { text, isError } = await tool.run(parsed, call, signal);
  return told(redact(text), isError);
}

function told(text: string, isError = false) {
  return { content: [{ type: 'text' as const, text }], isError };
}

/** What happens next in a turn: a question to the person at the client, or its end. */
type Happened =
  | { readonly question: ApprovalRequest; readonly answer: (answer: ApprovalAnswer) => void }
  | { readonly end: JsonObject };

type Request = mcp.ServerContext['mcpReq'];

/** A turn that may wait for answers between two requests of its client. */
interface Asking {
  readonly id: string;
  readonly happened: AsyncIterator<Happened>;
  readonly stop: AbortController;
  /** The request that waits now. */
  request?: Request;
  answer?: (answer: ApprovalAnswer) => void;
}

/** Until the turn ends, or asks. */
async function listen(asking: Asking, request: Request, { app, asks }: { app: App; asks: Map<string, Asking> }) {
  asking.request = request;
  const stop = () => asking.stop.abort(request.signal.reason);
  request.signal.addEventListener('abort', stop, { once: true });
  const isAllowed = mcp.acceptedContent(request.inputResponses, 'approval', ALLOW)?.allow === true;
  asking.answer?.(isAllowed ? { decision: 'once' } : { decision: 'deny', reason: 'the person at the client said no' });
  const { value } = await asking.happened.next();
  request.signal.removeEventListener('abort', stop);
  if ('end' in value)
    return { ...told(String(value.end.text), value.end.outcome !== 'done'), structuredContent: value.end };
  asks.set(asking.id, asking);
  const cancel = app.clock.after(ANSWER_MS, () => {
    asks.delete(asking.id);
    asking.stop.abort();
  });
  asking.answer = (answer) => {
    cancel();
    asks.delete(asking.id);
    value.answer(answer);
  };
  const message = `${value.question.preview}\n\n${value.question.reason}`;
  const approval = mcp.inputRequired.elicit({ message, requestedSchema: ALLOW });
  return mcp.inputRequired({ inputRequests: { approval }, requestState: asking.id });
}

/** In the newer era each request says what its client can do. */
function offersAnswers({ server }: mcp.McpServer, request: Request): boolean {
  const envelope: JsonObject = { ...request.envelope };
  const declared = envelope[mcp.CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return isJsonObject(declared) && declared.elicitation !== undefined;
}

function begin(desk: TurnDesk, { prompt, session_id: session }: z.infer<typeof ASK>, isAsked: boolean): Asking {
  const queue = createAsyncQueue<Happened>();
  const asking: Asking = { id: newId('ask'), happened: queue[Symbol.asyncIterator](), stop: new AbortController() };
  const approve = (question: ApprovalRequest) =>
    new Promise<ApprovalAnswer>((answer) => queue.push({ question, answer }));
  const wish: TurnWish = {
    source: 'mcp',
    last: { role: 'user', text: prompt, images: [] },
    ...(isAsked ? { approver: { approve } } : {}),
    ...(session ? { place: { session } } : {}),
  };
  const ended = play(desk, wish, asking)
    .catch((error: unknown) => ({ text: desk.app.redact(errorText(error)), outcome: 'failed' }))
    .then((end) => queue.push({ end }));
  desk.app.background('mcp ask', ended);
  return asking;
}

async function play(desk: TurnDesk, wish: TurnWish, asking: Asking): Promise<JsonObject> {
  const turn = await desk.begin(wish, asking.stop.signal);
  let end: JsonObject = {};
  let progress = 0;
  try {
    for await (const event of turn.events) {
      if (event.type === 'tool-start') await tell(asking.request, event.summary, ++progress);
      if (event.type === 'turn-end')
        end = { text: event.error?.message ?? event.text, outcome: event.outcome, cost: event.cost };
    }
  } finally {
    await turn.leave();
  }
  return { ...end, session_id: turn.sessionId };
}

/** Says what runs, to a client that wants to hear it; one that has left hears nothing more. */
async function tell(request: Request | undefined, message: string, progress: number): Promise<void> {
  const progressToken = request?._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, message };
  await request?.notify({ method: 'notifications/progress', params }).catch(() => undefined);
}
