// Measures recall on LoCoMo: each conversation its own database, the question as the query, no model. The figure is the share of a
// question's evidence turns among the first five and ten hits, as a mean over the questions of categories 1 to 4.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openSessions } from '#mind/sessions/open-sessions.ts';
import type { BenchRow } from './bench-row.ts';
import { type Conversation, readConversations } from './locomo-data.ts';

const TARGETS = [
  { at: 5, target: 70 },
  { at: 10, target: 80 },
] as const;

interface Tally {
  readonly sums: number[];
  questions: number;
}

/** Rows for @5 and @10 over all conversations; the notes give those that no weight was tuned on. */
export async function benchLocomo(): Promise<readonly BenchRow[]> {
  const conversations = readConversations();
  if (conversations === undefined) return [];
  const tallies: Tally[] = [];
  for (const conversation of conversations) tallies.push(await recallOf(conversation));
  const dropped = conversations.reduce((sum, one) => sum + one.droppedEvidence, 0);
  return TARGETS.map(({ at, target }, place) => {
    const value = mean(tallies, place);
    const unseen = mean(tallies.slice(3), place).toFixed(1);
    const note = `conversations 3-4 alone: ${unseen}; ${questions(tallies)} questions, ${dropped} evidence ids dropped`;
    return {
      metric: `LoCoMo recall @${at}`,
      value: round(value),
      target: `≥ ${target}`,
      unit: '%',
      ok: value >= target,
      note,
    };
  });
}

async function recallOf(conversation: Conversation): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-locomo-'));
  const sessions = openSessions(join(folder, 'state.db'));
  try {
    const stored = await Promise.all(conversation.turns.map((turn) => sessions.append({ ...turn, role: 'user' })));
    const turnOf = new Map(stored.map(({ messageId }, at) => [messageId, conversation.turns[at]?.id]));
    const tally: Tally = { sums: TARGETS.map(() => 0), questions: 0 };
    for (const question of conversation.questions) {
      if (question.category === 5 || question.evidence.length === 0) continue;
      const hits = await sessions.search(question.text, { limit: 10 });
      const found = hits.map((hit) => turnOf.get(hit.messageId));
      tally.questions += 1;
      for (const [place, { at }] of TARGETS.entries()) {
        const first = new Set(found.slice(0, at));
        const share = question.evidence.filter((id) => first.has(id)).length / question.evidence.length;
        tally.sums[place] = (tally.sums[place] ?? 0) + share;
      }
    }
    return tally;
  } finally {
    await sessions.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function questions(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, tally) => sum + tally.questions, 0);
}

function mean(tallies: readonly Tally[], place: number): number {
  return (100 * tallies.reduce((sum, tally) => sum + (tally.sums[place] ?? 0), 0)) / Math.max(1, questions(tallies));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await benchLocomo());
