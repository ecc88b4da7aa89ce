/**
 * Ten sessions of one owner through the composed agent (test/data/judgement/story.json): what was said and run is stored as it would have
 * been, then each session is reviewed by a model double that makes the recorded proposals. The judge's answers are the labels; the owner
 * says yes to what a careful reader would keep. Real home, gate, doors and files.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Message, messageText } from '#core/model/message.ts';
import { type ModelClient, type ModelEvent, type ModelRequest, NO_USAGE } from '#core/model/model-client.ts';
import type { Verdict } from '#mind/evidence/judge.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';
import { type Approver, absentAsker, type JsonObject } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { createPlainWalls } from '../doubles/plain-walls.ts';
import { type Said, storedConversation } from '../mind/evidence/gate/labelled-items.ts';

interface Cited {
  readonly quote?: string;
  readonly message?: number;
  readonly call?: number;
}

interface Proposed {
  readonly kind: 'memory' | 'skill';
  readonly target?: 'user' | 'memory';
  readonly action: string;
  readonly name?: string;
  readonly content?: string;
  readonly old_text?: string;
  readonly old_string?: string;
  readonly new_string?: string;
  readonly evidence: readonly Cited[];
  readonly shouldKeep: boolean;
  readonly verdict: Verdict;
  readonly why: string;
}

interface Session {
  readonly id: string;
  readonly day: string;
  readonly messages: readonly Said[];
  readonly proposals: readonly Proposed[];
}

/** Begins the part of the page that this story does not write. */
export const GOLEMS = '\n## What one golem learned, and the next\n';

export interface Story {
  readonly owner: string;
  readonly sessions: readonly Session[];
  readonly endMemories: { readonly user: readonly string[]; readonly memory: readonly string[] };
  readonly endSkills: readonly string[];
}

export interface Told {
  readonly session: Session;
  readonly proposed: Proposed;
  /** What the gate made of it. */
  readonly status: string;
  /** Why it was refused or waited, in the code's own words. */
  readonly reason: string;
  readonly detail: string;
  /** The owner's answer, where it waited. */
  readonly answer: 'yes' | 'no' | '';
  readonly isKept: boolean;
}

export interface Ending {
  readonly user: readonly string[];
  readonly memory: readonly string[];
  readonly skills: readonly string[];
}

export function readStory(): Story {
  const path = join(import.meta.dirname, '../data/judgement/story.json');
  return JSON.parse(readFileSync(path, 'utf8')) as Story;
}

export async function tellStory(
  story: Story,
  home: string,
): Promise<{ readonly told: readonly Told[]; readonly ending: Ending }> {
  const now: { session?: Session } = {};
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const environment = {
    cwd: home,
    userHome: home,
    variables: { HOME: home, TALARIA_HOME: join(home, 'talaria'), PATH: process.env.PATH },
  };
  const app = await composeApp({
    environment,
    extra: { client: modelDouble(() => now.session), walls: createPlainWalls() },
  });
  try {
    const told: Told[] = [];
    for (const session of story.sessions) {
      now.session = session;
      told.push(...(await tellSession(app, session)));
    }
    await app.doors.skills.refresh();
    return { told, ending: endingOf(app) };
  } finally {
    await app.shutdown();
  }
}

const approving: Approver = { approve: async () => ({ decision: 'once' }) };

async function tellSession(app: App, session: Session): Promise<readonly Told[]> {
  const opened = await app.openConversation({
    source: 'cli',
    cwd: app.environment.cwd,
    approver: approving,
    asker: absentAsker,
  });
  if (!opened.ok) throw new Error(opened.detail);
  const { id } = opened.value.session;
  for (const { message } of storedConversation(session.messages)) await app.doors.sessions.append(id, message);
  const before = new Set(app.doors.proposals.list().map((one) => one.id));
  const learning = await app.doors.learning.load();
  const learned = await learning.learnNow(id, '', new AbortController().signal);
  if (!learned.ok) throw new Error(learned.detail);
  const fresh = app.doors.proposals.list().filter((one) => !before.has(one.id));
  const told: Told[] = [];
  for (const proposed of session.proposals) {
    const found = fresh.find((one) => isOf(one, proposed));
    told.push(await answered(app, { session, proposed }, found));
  }
  await opened.value.close();
  return told;
}

async function answered(
  app: App,
  { session, proposed }: Pick<Told, 'session' | 'proposed'>,
  found: Proposal | undefined,
): Promise<Told> {
  const status = found?.status ?? 'not proposed';
  const reason = found?.reason ?? '';
  const detail = found?.detail ?? '';
  if (found?.status !== 'pending')
    return { session, proposed, status, reason, detail, answer: '', isKept: status === 'applied' };
  const learning = await app.doors.learning.load();
  const done = proposed.shouldKeep ? await learning.accept(found.id) : await learning.reject(found.id);
  if (!done.ok) throw new Error(`${found.id}: ${done.detail}`);
  return {
    session,
    proposed,
    status,
    reason,
    detail,
    answer: proposed.shouldKeep ? 'yes' : 'no',
    isKept: proposed.shouldKeep,
  };
}

function isOf({ kind, action, change }: Proposal, proposed: Proposed): boolean {
  const keys = ['content', 'old_text', 'old_string', 'new_string'] as const;
  return (
    kind === proposed.kind &&
    action === proposed.action &&
    keys.every((key) => (change[key] ?? '') === (proposed[key] ?? ''))
  );
}

function endingOf(app: App): Ending {
  const entries = (target: 'user' | 'memory') => {
    const state = app.doors.memory.read(target);
    return state.ok ? [...state.value.entries] : [];
  };
  return {
    user: entries('user'),
    memory: entries('memory'),
    skills: app.doors.skills.list().map(({ name }) => name),
  };
}

/** Reviews as the story's model would, judges by its labels, and answers nothing else. */
function modelDouble(session: () => Session | undefined): ModelClient {
  const reply = (request: ModelRequest): readonly ModelEvent[] => {
    const now = session();
    const last = request.messages.at(-1);
    if (now === undefined || last === undefined) return [];
    if (request.purpose === 'judge') return [{ type: 'text-delta', text: verdictsFor(messageText(last), now) }];
    if (request.purpose !== 'review' || last.role !== 'user') return [{ type: 'text-delta', text: 'Done.' }];
    return now.proposals.map((one, at) => callOf(one, at, request.messages));
  };
  return {
    id: 'double/model',
    tier: 'T2',
    traits: { contextWindow: 128_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request) {
      const events = reply(request);
      yield* events;
      const reason = events.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: NO_USAGE, model: 'double/model', tier: 'T2', cost: 0 };
    },
  };
}

function callOf(
  { kind, target, action, name, evidence, ...texts }: Proposed,
  at: number,
  messages: readonly Message[],
): ModelEvent {
  const { content, old_text, old_string, new_string } = texts;
  const given = Object.fromEntries(
    Object.entries({ target, action, name, content, old_text, old_string, new_string }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as JsonObject;
  const cited = evidence.map((one) =>
    one.call === undefined
      ? { quote: one.quote ?? '', ...numberOf(one.quote ?? '', messages) }
      : { call: `call-${one.call}` },
  );
  const tool = kind === 'memory' ? 'memory' : 'skill_manage';
  return { type: 'tool-call', callId: `propose-${at}`, name: tool, arguments: { ...given, evidence: cited } };
}

/** As the review lists it: `#12 user: first words`. */
function numberOf(quote: string, messages: readonly Message[]): { readonly message?: number } {
  const listed = messageText(messages.at(-1) as Message).split('\n');
  const line = listed.find((one) => /^#\d+ user: /.test(one) && one.includes(quote));
  const number = /^#(\d+)/.exec(line ?? '')?.[1];
  return number === undefined ? {} : { message: Number(number) };
}

function verdictsFor(question: string, { proposals }: Session): string {
  const claims = [
    ...question.matchAll(
      /--- ([0-9A-F]{12}) claim c(\d+) [^\n]*\n([\s\S]*?)\n--- \1 end(?:\n--- \1 new text\n([\s\S]*?)\n--- \1 end)?/g,
    ),
  ];
  return claims
    .map(([, , number, first = '', second]) => {
      const text = second ?? first;
      const label = proposals.find(
        (one) =>
          isSame(text, one) || (second !== undefined && one.old_text !== undefined && first.includes(one.old_text)),
      );
      return `c${number} ${label?.verdict ?? 'goes-beyond'}: ${label?.why ?? 'not of this story'}`;
    })
    .join('\n');
}

function isSame(text: string, { content, new_string }: Proposed): boolean {
  const body = (content ?? new_string ?? '').split('---\n').at(-1)?.trim() ?? '';
  return body !== '' && text.includes(body);
}

const REASONS: Readonly<Record<string, string>> = {
  'needs-owner': 'a new skill is his to decide',
  'value-not-cited': 'names what stands in nothing it cites',
  'origin-not-allowed': 'rests on what the owner did not write',
  'foreign-words': 'its words come from elsewhere',
  'goes-beyond': 'says more than what it cites',
  contradicts: 'against what was said',
  'one-off': 'of no use later',
};

/** docs/learning.md, whole. */
export function renderStory(story: Story, { told, ending }: Awaited<ReturnType<typeof tellStory>>): string {
  const rows = told.map(({ session, proposed, status, reason, answer }) => {
    const why = reason === '' ? '' : (REASONS[reason] ?? reason);
    const came = status === 'applied' ? 'kept' : status === 'pending' ? `waits: ${why}` : `went back: ${why}`;
    const said = answer === '' ? '' : `; the owner says ${answer}`;
    return `| ${session.id} | ${labelOf(proposed)} | ${cell(textOf(proposed))} | ${came}${said} |`;
  });
  const table = ['| session | proposal | text | what came of it |', '|---|---|---|---|', ...rows].join('\n');
  const days = story.sessions.map(({ id, day, messages }) => `${id} (${day}, ${messages.length} messages)`).join(', ');
  const parts = [
    HEAD,
    `Sessions: ${days}.`,
    table,
    '## What is left at the end',
    listOf('About the owner (`USER.md`)', ending.user),
    listOf('About the work (`MEMORY.md`)', ending.memory),
    `Skills: ${[...ending.skills].sort().join(', ')}.`,
    '## Figures',
    figures(told),
    FOOT,
  ];
  return `${parts.join('\n\n')}\n`;
}

const HEAD = `# What is learned, and what is not: ten sessions

Written by \`node scripts/learning-story.ts\`. The sessions, the proposals and what a careful reader would keep of them were written by
somebody who had not read the gate (\`test/data/judgement/story.json\`). They run through the composed agent: real home, real files, the gate
by rule, the judge's question and answer. Two parts are doubles: the model that proposes says what stands in the story, and the judge
answers with the story's labels; how good a real judge is depends on the model that is asked. The owner says yes to what a careful reader
would keep and no to the rest.

Rules check what can be checked: the quote stands there, who said it, numbers, units, times, paths and commands. The judge says whether the
cited words carry the claim. What it does not call supported, what rests on other people's words and what names a value that is not there
waits for the owner: nothing of it is lost, and nothing of it is kept unseen.`;

const FOOT =
  'What waits shows up once in the chat and stays in `talaria pending list`; `talaria memory why TEXT` shows the words behind an entry and the verdict on it.';

function labelOf({ kind, action, target, name }: Proposed): string {
  return kind === 'memory' ? `${action} ${target}` : `${action} skill ${name}`;
}

function textOf({ content, new_string, old_text, name, kind }: Proposed): string {
  if (kind === 'skill' && new_string === undefined)
    return /^description: (.*)$/m.exec(content ?? '')?.[1] ?? name ?? '';
  return content ?? new_string ?? old_text ?? '';
}

function cell(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
  return line.length > 110 ? `${line.slice(0, 109)}…` : line;
}

function listOf(title: string, entries: readonly string[]): string {
  return [`${title}:`, '', ...entries.map((entry) => `- ${entry}`)].join('\n');
}

function figures(told: readonly Told[]): string {
  const good = told.filter(({ proposed }) => proposed.shouldKeep);
  const bad = told.filter(({ proposed }) => !proposed.shouldKeep);
  const count = (list: readonly Told[], fits: (one: Told) => boolean) =>
    `${list.filter(fits).length} of ${list.length}`;
  return [
    '| of the proposals | |',
    '|---|---|',
    `| worth keeping: kept at once | ${count(good, ({ status }) => status === 'applied')} |`,
    `| worth keeping: kept after the owner's yes | ${count(good, ({ answer }) => answer === 'yes')} |`,
    `| worth keeping: lost | ${count(good, ({ isKept }) => !isKept)} |`,
    `| not worth keeping: kept unseen | ${count(bad, ({ status }) => status === 'applied')} |`,
    `| not worth keeping: held back for the owner, who said no | ${count(bad, ({ answer }) => answer === 'no')} |`,
    `| not worth keeping: went back to the model | ${count(bad, ({ status }) => status === 'refused')} |`,
  ].join('\n');
}
