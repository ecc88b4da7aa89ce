// Owns the tools that run under the names `memory` and `skill_manage` in a review or a flush: they propose, and answer what came of it.
// Knows no file; everything goes through keepProposal. Invariants: nothing is written without evidence; what a model gets wrong is an
// answer, never an error of the turn; the same proposal twice in one run is made once.
import { z } from 'zod';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type AnyTool, defineTool, type ToolOutput } from '#core/agent/tool.ts';
import { readEvidence, withoutEvidence } from '#mind/evidence/evidence-argument.ts';
import type { Actor, ProposalDraft } from '#mind/evidence/proposal.ts';
import type { Kept } from '../keep/keep-proposal.ts';
import { memoryTarget } from '../keep/memory-target.ts';

export interface Proposing {
  readonly sessionId: string;
  readonly actor: Actor;
  readonly keep: (draft: ProposalDraft, signal: AbortSignal) => Promise<Kept>;
  /** All of the session, oldest first: what can be cited. */
  readonly messages: readonly StoredMessage[];
  /** Told of each outcome. */
  readonly outcome: (kept: Kept) => void;
}

/** Loose: the shown schemas are the session's own, and `evidence` is read beside them. */
const input = z.looseObject({});
type Given = z.infer<typeof input>;

export function proposingMemory(proposing: Proposing): AnyTool {
  return proposingTool('memory', proposing, (change, citations) => ({
    kind: 'memory',
    actor: proposing.actor,
    target: memoryTarget(change),
    action: Array.isArray(change.operations) && change.operations.length > 0 ? 'batch' : String(change.action ?? ''),
    change: { target: 'memory', ...change },
    sessionId: proposing.sessionId,
    citations,
  }));
}

export function proposingSkillManage(proposing: Proposing): AnyTool {
  return proposingTool('skill_manage', proposing, (change, citations) => ({
    kind: 'skill',
    actor: proposing.actor,
    target: String(change.name ?? '').trim(),
    action: String(change.action ?? ''),
    change,
    sessionId: proposing.sessionId,
    citations,
  }));
}

/** Verdicts that go back to the model once; a second one of the same skill, or of the same cited words, drops it. */
const SENT_BACK: ReadonlySet<string> = new Set(['contradicts', 'one-off']);
const MOST_SENT_BACK = 1;
const DROPPED = 'Dropped: what was cited did not carry it twice. Leave it.';

type DraftOf = (change: JsonObject, citations: ProposalDraft['citations']) => ProposalDraft;

function proposingTool(name: 'memory' | 'skill_manage', proposing: Proposing, draftOf: DraftOf): AnyTool {
  const seen = new Set<string>();
  const sentBack = new Map<string, number>();
  return defineTool<Given>({
    name,
    description: name,
    input,
    toolset: name === 'memory' ? 'memory' : 'skills',
    effect: 'write',
    run: async (given, _context, signal) => {
      const change = given as JsonObject;
      const key = canonicalJson(change);
      if (seen.has(key)) return answer({ success: false, error: 'This was proposed already; do not repeat it.' });
      seen.add(key);
      const cited = readEvidence(change.evidence, proposing.messages);
      const draft = draftOf(withoutEvidence(change), cited);
      const subject =
        draft.kind === 'skill' ? draft.target : canonicalJson(cited.map(({ quote, handle }) => [handle, quote]));
      if ((sentBack.get(subject) ?? 0) > MOST_SENT_BACK) return answer({ success: false, error: DROPPED });
      const kept = await proposing.keep(draft, signal);
      proposing.outcome(kept);
      if (kept.status === 'refused' && SENT_BACK.has(kept.reason))
        sentBack.set(subject, (sentBack.get(subject) ?? 0) + 1);
      return answerOf(kept);
    },
  });
}

function answerOf(kept: Kept): ToolOutput {
  switch (kept.status) {
    case 'applied':
      return answer({ success: true, done: true, message: 'Kept. Do not repeat this call.' });
    case 'pending': {
      const message = 'It waits for the owner. Do not repeat this call.';
      return answer({ success: true, staged: true, pending_id: kept.proposal.id, message });
    }
    case 'refused':
      return answer({ success: false, reason: kept.reason, error: kept.detail });
  }
}

/** Details quote what the model wrote and what it cited. */
function answer(value: JsonObject): ToolOutput {
  const failed = value.success === false;
  return { text: JSON.stringify(value), origin: failed ? 'foreign' : 'observed', ...(failed ? { isError: true } : {}) };
}
