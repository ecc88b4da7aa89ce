// Owns what can be typed into a chat of a channel instead of a line for the agent: `/new /stop /help /status /undo /pending /cost /model /resume`.
// Knows no platform. Invariant: a word does what the same word does in the terminal's chat; a guest has those that tell nothing of the owner.
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { App } from '#surfaces/app/app.ts';
import { undoCommand } from '#surfaces/app/commands/undo.ts';
import type { Mailbox, Received } from './mailbox.ts';
import type { Seat } from './people.ts';

/** As a platform's menu shows them. */
export const WORDS: Readonly<Record<string, string>> = {
  new: 'start a new session',
  stop: 'stop what runs',
  status: 'session, model and what waits',
  undo: 'take back what the last turn did to files',
  pending: 'what waits for your yes',
  cost: 'what it cost',
  model: 'show the model, or switch: /model NAME',
  resume: 'go on with another session: /resume ID',
  help: 'what can be typed here',
};
const GUESTS = new Set(['new', 'stop', 'help']);

/** Undefined: it is a line for the agent. The name of a bot behind the word does not count. */
export function wordsOf(text: string): readonly string[] | undefined {
  const [, word = '', rest = ''] = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return word in WORDS ? [word, ...rest.split(/\s+/).filter((one) => one !== '')] : undefined;
}

export interface WordsPlace {
  readonly app: App;
  readonly mailbox: Mailbox;
  readonly row: Received;
  readonly seat: Seat;
  readonly signal: AbortSignal;
}

/** Lines to answer with. */
export async function runWords([word = '', ...rest]: readonly string[], place: WordsPlace): Promise<readonly string[]> {
  if (place.seat === 'guest' && !GUESTS.has(word)) return [`/${word} is for the owner.`];
  const own = OWN[word];
  return own ? own(place, rest) : shared(word, rest, place);
}

type Own = (place: WordsPlace, rest: readonly string[]) => Promise<readonly string[]>;

const OWN: Readonly<Record<string, Own>> = {
  help: async ({ seat }) => {
    const shown = Object.entries(WORDS).filter(([word]) => seat === 'owner' || GUESTS.has(word));
    return shown.map(([word, about]) => `/${word}: ${about}`);
  },
  new: async ({ mailbox, row }) => {
    const before = mailbox.sessionOf(row.lane);
    await mailbox.forgetLane(row.lane);
    return [before === undefined ? 'A new session.' : `A new session; the one before is kept: ${before}`];
  },
  resume: async ({ app, mailbox, row }, [asked]) => {
    const { sessions } = app.doors;
    const recent = await sessions.list({ spoken: true, limit: 5 });
    if (asked === undefined) return recent.map(({ id, title = '' }) => `/resume ${id} ${title}`.trim());
    if (!(await sessions.get(asked))) return [`There is no session ${asked}.`];
    await mailbox.talksIn(row.lane, asked, { channel: row.channel, chat: row.said.chat });
    return [`In session ${asked} from now on.`];
  },
  status: async ({ app, mailbox, row }) => {
    const { id, reason } = app.model();
    const open = mailbox.received("state IN ('received', 'running') AND key <> ?", row.key);
    return [
      `session: ${mailbox.sessionOf(row.lane) ?? 'none yet'}`,
      `model: ${id} (${reason})`,
      `waiting: ${open.length}`,
    ];
  },
  model: async ({ app }, [name]) => {
    if (name === undefined) return [`${app.model().id} answers.`, ...app.models().map((one) => `/model ${one.id}`)];
    const switched = await app.switchModel(name);
    return [switched.ok ? `From the next step on: ${switched.value.id}` : switched.detail];
  },
};

/** Commands of the house, as the chat at the terminal has them. */
async function shared(word: string, rest: readonly string[], { app, mailbox, row, signal }: WordsPlace) {
  const session = mailbox.sessionOf(row.lane);
  const undo = undoCommand({
    surface: 'chat',
    app: async () => app,
    sessionOf: async () => session,
    alone: async ({ doors }, id, work) => {
      const lease = await doors.sessions.claim(id);
      return lease.ok ? { ok: true, value: await work().finally(() => lease.value.release()) } : lease;
    },
  });
  const command =
    word === 'undo' ? undo : (await app.commands()).find(({ name }) => name === word || name === `${word} list`);
  const keys = (command?.positional ?? []).map((key) => key.replace(/\.\.\.$/, ''));
  const input = command?.input.safeParse(
    Object.fromEntries(keys.flatMap((key, i) => (rest[i] ? [[key, rest[i]]] : []))),
  );
  if (!command || !input?.success) return [`/${word} could not be read: ${rest.join(' ')}`];
  const lines: string[] = [];
  const context = { cwd: app.environment.cwd, signal, ...(session ? { sessionId: session } : {}) };
  for await (const output of command.run(input.data, context)) lines.push(...linesOf(output));
  return lines.length > 0 ? lines : ['Nothing.'];
}

function linesOf(output: CommandOutput): readonly string[] {
  if (output.type === 'line') return [output.text];
  if (output.type === 'table') return output.rows.map((row) => row.join(' · '));
  return output.type === 'failure' ? [`${output.message} ${output.fix}`.trim()] : [];
}
