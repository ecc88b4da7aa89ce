// Owns the frame of every command about peers: open, take in what is new within a time limit, say what was not reached, close. Knows no
// command. Invariants: nothing is open afterwards; an error of the peer layer ends as a failure with its fix, never as a stack.
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import type { OpenedPeers } from '../open-hive.ts';
import { PeerError } from '../peers/peer-error.ts';
import { notConfigured, peerFailure } from './peer-failure.ts';
import { shownLine } from './shown-text.ts';

export interface PeerCommand extends OpenedPeers {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** One sentence for the owner; shown at the end. */
  readonly warn: (problem: string) => void;
  /** What the network had to say to the owner. */
  readonly notes: readonly string[];
  readonly reached: boolean;
}

const REFRESH_MS = 30_000;

/** Shows the notes, then what `work` yields. */
export async function* withPeers(
  ground: HiveGround,
  { signal }: CommandContext,
  work: (command: PeerCommand) => AsyncIterable<CommandOutput>,
): AsyncGenerator<CommandOutput> {
  try {
    const { openPeers } = await import('../open-hive.ts');
    const warnings: string[] = [];
    const warn = (problem: string) => void warnings.push(problem);
    const opened = await openPeers(ground, warn);
    if (!opened.ok) {
      yield notConfigured(opened);
      return;
    }
    try {
      const { clock } = ground;
      const command = { ...opened.value, clock, signal, warn, ...(await refreshed(ground, opened.value, signal)) };
      for (const text of command.notes) yield { type: 'line', text };
      yield* work(command);
      for (const text of warnings) yield { type: 'line', text: shownLine(text, 400) };
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
  { clock }: HiveGround,
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
