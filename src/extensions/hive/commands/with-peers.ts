// Owns the frame of every command about peers: open, take in what is new within a time limit, say what was not reached, close; a yes for what
// cannot be taken back; how words of others look at a terminal. Knows no command. Invariants: nothing is open afterwards; an error of the
// peer layer ends as a failure with its fix, never as a stack; without a person only --yes agrees; nothing in others' words can pass for a
// line of ours.

import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { isYes } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  type CommandSpec,
  defineCommand,
  type Failure,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { OpenedPeers } from '../open-hive.ts';
import { PeerError, type PeerErrorCode } from '../peer.ts';
import { oneLine, tidyText } from '../peer-names.ts';
import { SIGN_IN } from '../settings.ts';

export interface PeerCommand extends OpenedPeers {
  readonly context: CommandContext;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** One sentence for the owner; shown at the end. */
  readonly warn: (problem: string) => void;
  /** What the network had to say to the owner. */
  readonly notes: readonly string[];
  readonly reached: boolean;
}

const REFRESH_MS = 30_000;

type PeerSpec<Input> = Omit<CommandSpec<Input>, 'surfaces' | 'run'>;

export function peerCommand<Input>(
  ground: Ground,
  spec: PeerSpec<Input>,
  work: (command: PeerCommand, asked: Input) => AsyncIterable<CommandOutput>,
): AnyCommand {
  return defineCommand<Input>({
    ...spec,
    surfaces: ['cli', 'chat'],
    run: (asked, context) => withPeers(ground, context, (command) => work(command, asked)),
  });
}

/** Shows the notes, then what `work` yields. */
export async function* withPeers(
  ground: Ground,
  context: CommandContext,
  work: (command: PeerCommand) => AsyncIterable<CommandOutput>,
): AsyncGenerator<CommandOutput> {
  try {
    const { openPeers } = await import('../open-hive.ts');
    const warnings: string[] = [];
    const warn = (problem: string) => void warnings.push(problem);
    const opened = await openPeers(ground, warn);
    if (!opened.ok) return yield refused(opened.reason, opened.detail, SIGN_IN);
    try {
      const { clock } = ground;
      const { signal } = context;
      const news = await refreshed(ground, opened.value, signal);
      const command = { ...opened.value, ...news, context, clock, signal, warn };
      yield* command.notes.map(line);
      yield* work(command);
      yield* warnings.map((text) => line(shownLine(text, 400)));
    } finally {
      await opened.value.transport.close();
    }
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    yield peerFailure(error);
  }
}

/** Throws what the network said when nothing is known that could be shown instead. */
async function refreshed(
  { clock }: Ground,
  { transport, account }: OpenedPeers,
  signal: AbortSignal,
): Promise<Pick<PeerCommand, 'notes' | 'reached'>> {
  const seconds = REFRESH_MS / 1_000;
  const late = () =>
    new PeerError(`${account.homeserver} did not tell within ${seconds} s what is new`, {
      code: 'peers-timeout',
      fix: 'Try again; `talaria peers doctor` looks at the server.',
    });
  const limit = deadline(clock, signal, REFRESH_MS, late);
  try {
    const notes = await transport.refresh(limit.signal);
    return { reached: true, notes: notes.map((note) => `note: ${shownLine(note, 400)}`) };
  } catch (error) {
    if (!(error instanceof PeerError) || transport.peers().length === 0) throw error;
    return { reached: false, notes: [`not reached: ${error.message}. What follows was known before.`] };
  } finally {
    limit.clear();
  }
}

/** It may not be, as things stand; what is not named here was tried and did not work out. */
const REFUSED: ReadonlySet<PeerErrorCode> = new Set([
  'peers-not-configured',
  'peers-forbidden',
  'peers-encryption',
  'peer-unknown',
  'peer-ambiguous',
  'peer-left',
]);

const FIXES: Readonly<Partial<Record<PeerErrorCode, string>>> = {
  'peers-not-configured': SIGN_IN,
  'peers-auth': SIGN_IN,
  'peers-too-large': 'Say it in fewer words, or in several messages.',
  'peers-encryption': 'See what is missing: talaria peers doctor',
};

export function peerFailure(error: PeerError): Failure {
  const code = error.code as PeerErrorCode;
  const fix = error.fix ?? FIXES[code] ?? 'See what is wrong: talaria peers doctor';
  if (code === 'peers-too-large') return wrongUse(code, error.message, fix);
  return (REFUSED.has(code) ? refused : failed)(code, error.message, fix);
}

export async function agreed(
  { ask }: CommandContext,
  yes: boolean,
  question: string,
): Promise<Result<true, 'needs-yes' | 'not-agreed'>> {
  if (yes) return ok(true);
  if (!ask) return refuse('needs-yes', 'nobody is here to agree: add --yes');
  const answer = await ask(`${question} [y/N]`);
  return isYes(answer) ? ok(true) : refuse('not-agreed', 'you did not agree');
}

function peer(which: string) {
  return z.string(`name the ${which} peer`).min(1, `name the ${which} peer`);
}

export const namedPair = {
  peerA: peer('first').describe('Name or id of a peer'),
  peerB: peer('second').describe('Name or id of another'),
} as const;

const MOST_LINES = 200;

/** One line of at most `max` characters. */
export function shownLine(text: string, max = 300): string {
  return oneLine(text, max);
}

/** Every line begins with `mark`. Empty for nothing. `most` lines, and how many there are beside. */
export function shownBlock(text: string, mark = '  | ', most = MOST_LINES): string {
  const clean = tidyText(text);
  if (clean === '') return '';
  const lines = clean.split('\n');
  const rest = lines.length - most;
  const kept = rest > 0 ? [...lines.slice(0, most), `… ${rest} lines more`] : lines;
  return kept.map((line) => `${mark}${line}`.trimEnd()).join('\n');
}
