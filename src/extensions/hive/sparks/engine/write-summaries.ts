// Owns the summaries of one run: each stale peer is read, summed up and stored before the next (seed 004, peer summarizer; notes 4).
// Knows no model and no protocol. Invariant: what fails is told once and left alone for a while; only an abort is thrown.
import { throwIfAborted } from '#base/abort.ts';
import { isoTime } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { KnownPeer } from '../../peers/peer-transport.ts';
import { nextSummary } from '../summary/next-summary.ts';
import { readSummary } from '../summary/read-summary.ts';
import { summaryInput } from '../summary/summary-input.ts';
import { SUMMARY_PROMPT } from '../summary/summary-prompt.ts';
import { SUMMARY_CAPS } from '../summary/summary-shape.ts';
import { chooseStale } from './choose-stale.ts';
import { forgetGone, stampOf } from './engine-memory.ts';
import { type EngineRun, inferOnce } from './engine-parts.ts';

/** Messages that are read for one summary. */
const WINDOW = 30;
/** A peer rests so long after its first failure, twice as long after the second, a day at most. */
const FIRST_REST_MS = 5 * 60_000;
const LONGEST_REST_MS = 24 * 60 * 60_000;

/** `onNew` hears the id of each peer whose summary is stored. */
export async function writeSummaries(run: EngineRun, onNew: (id: string) => void, signal: AbortSignal): Promise<void> {
  const { transport, memory, clock } = run;
  const known = transport.peers();
  forgetGone(memory, known);
  for (const one of chooseStale(known, memory, clock.monotonic())) {
    try {
      await writeOne(run, one, signal);
      memory.resting.delete(one.peer.id);
      onNew(one.peer.id);
    } catch (error) {
      throwIfAborted(signal);
      rest(run, one);
      run.warn(`${one.peer.id} could not be summed up: ${errorText(error)}`);
    }
  }
}

async function writeOne(run: EngineRun, known: KnownPeer, signal: AbortSignal): Promise<void> {
  const { transport, clock } = run;
  const { peer } = known;
  const messages = await transport.messages(peer.id, { limit: WINDOW }, signal);
  const input = summaryInput(peer, messages);
  const request = { kind: 'summary', system: SUMMARY_PROMPT, input, maxOutputTokens: SUMMARY_CAPS.tokens } as const;
  const reply = await inferOnce(run, request, signal);
  const answer = readSummary(reply.text);
  if (!answer.ok) throw new TalariaError(answer.detail, { code: answer.reason });
  const by = reply.byRule ? 'rule' : 'model';
  const summary = nextSummary({ known, messages, answer: answer.value, at: isoTime(clock.now()), by });
  await transport.keepSummary(peer.id, summary, signal);
}

function rest({ memory, clock }: EngineRun, one: KnownPeer): void {
  const tries = (memory.resting.get(one.peer.id)?.tries ?? 0) + 1;
  const ms = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(tries - 1, 20));
  memory.resting.set(one.peer.id, { stamp: stampOf(one), tries, until: clock.monotonic() + ms });
}
