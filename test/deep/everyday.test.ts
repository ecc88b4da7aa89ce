/** What a developer types in a day, in three small projects, behind real walls: it runs unasked, or asks once for the network. */

import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { z } from 'zod';
import { parseJson } from '#base/json.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { createWalls } from '#core/tools/walls/create-walls.ts';
import type { ApprovalRequest, Approver } from '#public/talaria.ts';
import { createScriptedModel, type ScriptedCall } from '#testing/scripted-model.ts';
import { realClock } from '../ground.ts';
import { createStage, openConversation, play } from '../surfaces/app/app-fixture.ts';
import { type Registry, startRegistry } from './everyday-registry.ts';

const DATA = join(import.meta.dirname, '../data/everyday');
/** Of all commands, without a question but the one for the network. */
const UNASKED = 0.95;
const MOST_LOOKS = 200;
/** What the owner says each time. */
const ASK = 'run the next command of the list';

const row = z.object({
  id: z.string(),
  project: z.string(),
  command: z.string(),
  ok: z.string(),
  exit: z.number(),
  network: z.boolean(),
  background: z.boolean(),
});
type Row = z.infer<typeof row>;

function rows(): readonly Row[] {
  const lines = readFileSync(join(DATA, 'commands.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const parsed = parseJson(line);
    return row.parse(parsed.ok ? parsed.value : undefined);
  });
}

interface Ran extends Row {
  readonly questions: readonly ApprovalRequest[];
  /** What came out is not what the list says. */
  readonly broken?: string;
}

/** Programs of the machine and not of whoever runs the tests, whose home is another user's here. */
function plainPath(): string {
  const own = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(homedir()));
  return [dirname(process.execPath), ...own].join(delimiter);
}

interface Session {
  readonly cwd: string;
  /** One call of the model in a turn of its own: what it read, and what the owner was asked. */
  call(
    call: ScriptedCall,
  ): Promise<{ readonly text: string; readonly exit: number; readonly questions: readonly ApprovalRequest[] }>;
  close(): Promise<void>;
}

async function openSession(t: TestContext, project: string, registry: Registry): Promise<Session> {
  const stage = createStage(t, { PATH: plainPath() });
  const userHome = stage.temp.path;
  writeFileSync(join(userHome, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
  cpSync(join(DATA, project), stage.cwd, { recursive: true });
  if (project === 'node-app') writeFileSync(join(stage.cwd, '.npmrc'), 'registry=http://registry.npmjs.org/\n');
  const walls = createWalls({
    mode: 'auto',
    env: stage.environment.variables,
    userHome,
    dataHome: stage.root,
    paths: [],
    hosts: [],
    clock: realClock,
    lookup: async () => ['93.184.215.14'],
    dial: () => ({ address: '127.0.0.1', port: registry.port }),
  });
  let next: ScriptedCall | undefined;
  const client = createScriptedModel(
    Array.from({ length: 2_000 }, () => (request) => {
      const last = request.messages.at(-1);
      if (request.purpose !== 'answer' || last?.role !== 'user') return 'done'; // after the call, and what learns beside
      const call = next;
      next = undefined;
      return call ? { calls: [call] } : 'done';
    }),
    {},
  );
  const app = await stage.open({ extra: { client, walls } });
  const asked: ApprovalRequest[] = [];
  const approver: Approver = {
    approve: async (request) => {
      asked.push(request);
      return { decision: request.reach === 'network' ? 'session' : 'once' };
    },
  };
  const talk: Conversation = await openConversation(app, { approver });
  return {
    cwd: stage.cwd,
    call: async (call) => {
      asked.length = 0;
      next = call;
      const { events } = await play(talk, ASK);
      const end = events.find((event) => event.type === 'tool-end');
      if (!end) throw new Error(`no call: ${JSON.stringify(events.at(-1))}`);
      const { text, isError, observed } = end.result;
      const output = text.replace(/^\(no output\)\n|\n?\[exit \d+\]$/g, '');
      return { text: output, exit: observed.exitCode ?? (isError ? -1 : 0), questions: [...asked] };
    },
    close: () => talk.close(),
  };
}

async function runRow(session: Session, one: Row): Promise<Ran> {
  const { command, background, ok, exit } = one;
  const { cwd } = session;
  if (one.network && existsSync(join(cwd, '.venv')))
    writeFileSync(join(cwd, '.venv/pip.conf'), '[global]\nindex-url=http://pypi.org/simple\ntrusted-host=pypi.org\n');
  const ran = await session.call({ name: 'terminal', arguments: { command, ...(background ? { background } : {}) } });
  const isFit = new RegExp(ok).test(background ? await logOf(session, ran.text, ok) : ran.text);
  const isRight = isFit && (background || ran.exit === exit);
  return { ...one, questions: ran.questions, ...(isRight ? {} : { broken: `exit ${ran.exit}: ${ran.text}` }) };
}

/** A server says when it is there. */
async function logOf(session: Session, started: string, ok: string): Promise<string> {
  const id = /^job\d+/.exec(started)?.[0] ?? '';
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const { text } = await session.call({ name: 'process', arguments: { action: 'log', id } });
    if (new RegExp(ok).test(text) || /\bended\b/.test(text)) return text;
  }
  return started;
}

describe('everyday commands behind walls', () => {
  const skip = createProbe();
  test('200 commands of three projects: none breaks, and nearly all run unasked', {
    skip,
    timeout: 900_000,
  }, async (t) => {
    const registry = await startRegistry();
    t.after(() => registry.close());
    const ran: Ran[] = [];
    for (const [project, own] of Map.groupBy(rows(), (one) => one.project)) {
      const session = await openSession(t, project, registry);
      for (const one of own) ran.push(await runRow(session, one));
      await session.close();
    }
    const isNetwork = ({ questions }: Ran) => questions.length === 1 && questions[0]?.reach === 'network';
    const network = ran.filter(isNetwork);
    const others = ran.filter((one) => one.questions.length > 0 && !isNetwork(one));
    for (const { id, command, questions } of others)
      t.diagnostic(
        `asked: ${id} ${command}: ${questions.map(({ reason, reach }) => `${reason} (${reach})`).join('; ')}`,
      );
    t.diagnostic(`${ran.length} commands, ${others.length} asked, ${network.length} asked for the network`);
    const broken = ran
      .filter((one) => one.broken !== undefined)
      .map((one) => `${one.id} ${one.command}\n${one.broken}`);
    assert.equal(broken.length, 0, broken.join('\n\n'));
    for (const [project, own] of Map.groupBy(network, (one) => one.project))
      assert.ok(own.length <= 1, `${project} asked ${own.length} times for the network`);
    assert.ok(others.length <= ran.length * (1 - UNASKED), `${others.length} asked`);
  });
});

function createProbe(): string | false {
  const walls = createWalls({
    mode: 'auto',
    env: process.env,
    userHome: homedir(),
    dataHome: join(homedir(), '.talaria'),
    paths: [],
    hosts: [],
    clock: realClock,
  });
  return walls.state().kind === 'walls' ? false : 'skipped: bubblewrap is missing (apt install bubblewrap)';
}
