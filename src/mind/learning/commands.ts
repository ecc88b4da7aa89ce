// Owns the commands on what waits and what was learned: `pending list|show|accept|reject|always` and `learn`.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { errorCode, errorText } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand, line, refused } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { proposalLines } from '#mind/evidence/citations.ts';
import type { Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import { findSession } from '#mind/sessions/find-session.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-text.ts';
import { readFolderFile } from '#mind/skills/library/folder-files.ts';

export function learningCommands(ground: Ground, scan: ScanFolder = scanByGuard): readonly AnyCommand[] {
  return [
    list(ground),
    show(ground, scan),
    accept(ground),
    rejectCommand(ground),
    alwaysCommand(ground),
    learnCommand(ground),
  ];
}

async function scanByGuard(folder: string): Promise<readonly string[]> {
  const [{ scanSkillFolder }, { findingLines }] = await Promise.all([
    import('#mind/evidence/guard/scan-folder.ts'),
    import('#mind/evidence/guard/guard-words.ts'),
  ]);
  return findingLines(scanSkillFolder(folder));
}

function list(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'pending list',
    summary: 'List the skills and memories that wait for your yes',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const mind = await ground.open();
      const waiting = waitingOf(mind.proposals);
      if ((await mind.learning.load()).keepsNewSkills()) yield line(ALWAYS_IS_ON);
      if (waiting.length === 0) yield line('Nothing waits for you.');
      const rows = waiting.map((one) => [
        ...[one.id, isoTime(one.createdAt), one.actor, one.action, one.target, reasonOf(one)],
      ]);
      const columns = ['id', 'when', 'by', 'what', 'of', 'why it waits'];
      if (waiting.length > 0) yield { type: 'table', columns, rows };
      yield { type: 'data', value: waiting as unknown as JsonValue };
    },
  });
}

const REASONS: Readonly<Record<string, string>> = {
  'origin-not-allowed': 'it rests on text that neither you nor our own record said',
  'value-not-cited': 'it names something that stands in nothing it cites',
  'foreign-words': 'its words come from text that you did not write',
  'goes-beyond': 'it says more than what it cites',
  'not-judged': 'no model judged it',
  'guard-asks': 'the guard found something: look at it first',
};

const OWNERS: Readonly<Record<string, string>> = {
  create: 'a new skill is yours to decide',
  delete: 'a deletion is yours to decide',
};

function reasonOf({ reason, kind, action }: Proposal): string {
  if (reason === 'needs-owner')
    return OWNERS[action] ?? `a change of ${kind === 'skill' ? 'this skill' : 'memory'} is yours to decide`;
  return REASONS[reason ?? ''] ?? reason ?? '';
}

function show(ground: Ground, scan: ScanFolder): AnyCommand {
  return defineCommand({
    name: 'pending show',
    summary: 'Show what would be written, and the messages that it rests on',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['id'],
    input: z.object({ id: whichPending }),
    async *run({ id }): AsyncGenerator<CommandOutput> {
      const { proposals, learning } = await ground.open();
      const found = findPending(proposals, id);
      if (!found.ok) return yield refused(found.reason, found.detail, PENDING_LIST);
      const offer = (await learning.load()).offers().find((one) => one.id === found.value.id);
      const install = await installLines(found.value, scan);
      for (const text of install ?? (offer ? [offer.text] : proposalLines(found.value))) yield line(text);
      yield { type: 'data', value: found.value as unknown as JsonValue };
    },
  });
}

function accept(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'pending accept',
    summary: 'Write what waits',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({
      id: whichPending,
      always: z
        .boolean()
        .default(false)
        .describe('And do not ask again about new skills of reviews; `pending always off` takes that back'),
    }),
    async *run({ id, always }, { signal }): AsyncGenerator<CommandOutput> {
      await ground.writable();
      const { proposals, learning } = await ground.open();
      const found = findPending(proposals, id);
      if (!found.ok) return yield refused(found.reason, found.detail, PENDING_LIST);
      const done = await (await learning.load()).accept(found.value.id, always ? { always } : {}, signal);
      yield done.ok ? line(done.value) : refused(done.reason, done.detail);
    },
  });
}

// `pending always on|off`: the standing yes to new skills of reviews, shown, given and taken back. Knows it by learning alone.

const ALWAYS_IS_ON = 'New skills of reviews are kept unasked, as you said; `pending always off` asks again.';
const ALWAYS_IS_OFF = 'You are asked before a new skill is kept; `pending always on` stops that.';

function alwaysCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'pending always',
    summary: 'Keep new skills of reviews unasked: on, off, or show which it is',
    surfaces: ['cli', 'chat'],
    positional: ['state'],
    input: z.object({ state: z.enum(['on', 'off']).optional().describe('Absent: only show it') }),
    examples: ['talaria pending always', 'talaria pending always off'],
    async *run({ state }): AsyncGenerator<CommandOutput> {
      if (state !== undefined) await ground.writable();
      const mind = await ground.open();
      const learning = await mind.learning.load();
      if (state !== undefined) await learning.keepNewSkills(state === 'on');
      const isOn = learning.keepsNewSkills();
      yield line(isOn ? ALWAYS_IS_ON : ALWAYS_IS_OFF);
      yield { type: 'data', value: { always: isOn } };
    },
  });
}

// `pending reject`: one draft, all of a name, or all. Knows the ledger and learning. Invariant: what was not meant stays.

function rejectCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'pending reject',
    summary: 'Drop what waits: one, all of a name, or all',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({ id: whichPending, all: z.boolean().default(false).describe('Everything that waits') }),
    examples: ['talaria pending reject', 'talaria pending reject release-notes', 'talaria pending reject --all'],
    async *run({ id, all }): AsyncGenerator<CommandOutput> {
      await ground.writable();
      const mind = await ground.open();
      const found = all ? allWaiting(mind.proposals) : findWaitingOnes(mind.proposals, id);
      if (!found.ok) return yield refused(found.reason, found.detail, PENDING_LIST);
      const learning = await mind.learning.load();
      for (const one of found.value) {
        const done = await learning.reject(one.id);
        yield done.ok ? line(done.value) : refused(done.reason, done.detail);
      }
      if (found.value.length > 1) yield line(`${plural(found.value.length, 'draft')} dropped.`);
    },
  });
}

// How an installation that waits for the owner reads: where it comes from, its text, and what the guard finds in it now.
// Knows no guard: the scan is injected. Invariant: what is shown is the folder as it lies there now, which is what a yes would install.

/** What is found in the skill of a folder, as lines. Throws what the file system throws. */
type ScanFolder = (folder: string) => Promise<readonly string[]>;

/** Undefined for what is no installation. */
async function installLines(
  { action, target, change }: Proposal,
  scan: ScanFolder,
): Promise<readonly string[] | undefined> {
  const { from, category } = change;
  if (action !== 'install' || typeof from !== 'string') return undefined;
  const place = typeof category === 'string' && category !== '' ? `, into ${category}` : '';
  const text = readFolderFile(from, SKILL_FILE);
  const body = text.ok
    ? [text.value.trimEnd(), '', ...(await found(from, scan))]
    : [`It cannot be read any more: ${text.detail}`];
  return [`install ${target} from ${from}${place}`, '', ...body];
}

async function found(folder: string, scan: ScanFolder): Promise<readonly string[]> {
  try {
    return await scan(folder);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [`It cannot be scanned: ${errorText(error)}`];
  }
}

// Which draft a word means: its id, the beginning of its id, the name of its skill, `last`. Reads the ledger alone.
// Invariant: two drafts are never taken for one.

type NotFound = 'no-such-proposal' | 'ambiguous-proposal';

const whichPending = z
  .string()
  .default('last')
  .describe('Its id, the beginning of its id, the name of its skill, or `last`');

const PENDING_LIST = '`talaria pending list` shows what waits.';

function waitingOf(proposals: ProposalLedger): readonly Proposal[] {
  return proposals.list({ status: 'pending' });
}

function findPending(proposals: ProposalLedger, name: string): Result<Proposal, NotFound> {
  const found = matching(proposals, name);
  if (!found.ok) return found;
  const [only] = found.value;
  return only !== undefined && found.value.length === 1 ? ok(only) : ambiguous(name, found.value);
}

/** Newest first. */
function allWaiting(proposals: ProposalLedger): Result<readonly Proposal[], NotFound> {
  const waiting = waitingOf(proposals);
  return waiting.length === 0 ? refuse('no-such-proposal', 'Nothing waits for you.') : ok(waiting);
}

/** One by its id, or all of a name; newest first. */
function findWaitingOnes(proposals: ProposalLedger, name: string): Result<readonly Proposal[], NotFound> {
  const found = matching(proposals, name);
  if (!found.ok || found.value.length === 1 || found.value.every(({ target }) => target === name)) return found;
  return ambiguous(name, found.value);
}

/** At least one. */
function matching(proposals: ProposalLedger, name: string): Result<readonly Proposal[], NotFound> {
  const waiting = allWaiting(proposals);
  if (!waiting.ok || name === 'last') return waiting.ok ? ok(waiting.value.slice(0, 1)) : waiting;
  const found = waiting.value.filter(({ id, target }) => id.startsWith(name) || target === name);
  return found.length > 0 ? ok(found) : refuse('no-such-proposal', `Nothing that waits is called ${name}.`);
}

const SHOWN = 8;

function ambiguous(name: string, found: readonly Proposal[]): Result<never, NotFound> {
  const ids = found.slice(0, SHOWN).map(({ id }) => id);
  const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : '';
  return refuse('ambiguous-proposal', `${name} could be ${ids.join(', ')}${more}.`);
}

function learnCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'learn',
    summary: 'Review a session now for facts and procedures worth keeping',
    surfaces: ['cli'],
    positional: ['hint...'],
    input: z.object({
      hint: z.array(z.string()).default([]).describe('What to look for, or a name for the skill'),
      session: z.string().default('last').describe('Session id, its beginning, or `last`'),
    }),
    examples: ['talaria learn', 'talaria learn how we cut a release --session last'],
    async *run({ hint, session }, { signal }): AsyncGenerator<CommandOutput> {
      await ground.writable();
      const mind = await ground.open();
      const found = await findSession(mind.sessions, session);
      if (!found.ok) return yield refused(found.reason, found.detail);
      const learning = await mind.learning.load();
      const learned = await learning.learnNow(found.value.id, hint.join(' '), signal);
      if (!learned.ok) return yield refused(learned.reason, learned.detail);
      yield line(learned.value.line);
      for (const text of learning.announcements(found.value.id))
        yield line(text.replace(/\/undo\b/g, '`talaria undo`'));
      for (const offer of learning.offers()) yield line(`${offer.line} · talaria pending accept ${offer.id}`);
      yield { type: 'data', value: { ...learned.value } };
    },
  });
}
