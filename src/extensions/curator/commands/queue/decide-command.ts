// Owns `curator candidates-accept` and `candidates-reject`: a person's word on candidates (ours; curator notes 21.12). Invariants: all of the
// named ids are found before one is decided; only the status changes, and the output says what to do with it.
import { z } from 'zod';
import { type Failure, failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { CandidateStatus, QueuedCandidate } from '../../queue/queued-candidate.ts';
import type { ReviewQueue } from '../../queue/review-queue.ts';
import { queueFlag, queuePlace } from './foreign-queue.ts';

type Decision = Exclude<CandidateStatus, 'pending'>;

const NAME_THEM = 'name at least one; `talaria curator candidates-list` shows them';

const VERBS: Readonly<Record<Decision, string>> = { accepted: 'accept', rejected: 'reject' };

export function decideCommand(ground: CuratorGround, decision: Decision): AnyCommand {
  const verb = VERBS[decision];
  return defineCommand({
    name: `curator candidates-${verb}`,
    summary: `${verb === 'accept' ? 'Accept' : 'Reject'} candidates; only their status changes`,
    surfaces: ['cli'],
    positional: ['ids...'],
    input: z.object({
      ids: z.array(z.string(), NAME_THEM).min(1, NAME_THEM).describe('Ids, or how they begin'),
      queueDb: queueFlag,
    }),
    examples: [`talaria curator candidates-${verb} 3f2a91`],
    async *run({ ids, queueDb }, context): AsyncGenerator<CommandOutput> {
      const { openExistingQueue } = await import('../../queue/open-queue.ts');
      const place = queuePlace(ground, queueDb, context.cwd);
      const opened = openExistingQueue(place, 'decide');
      if (!opened.ok) {
        yield failed(opened.reason, opened.detail, '`talaria curator candidates-mine` fills one.');
        return;
      }
      const { queue, notices } = opened.value;
      for (const { message } of notices) yield { type: 'line', text: `note: ${message}` };
      try {
        yield* decideAll(queue, { ids, decision, path: place.path });
      } finally {
        queue.close();
      }
    },
  });
}

interface Asked {
  readonly ids: readonly string[];
  readonly decision: Decision;
  readonly path: string;
}

async function* decideAll(queue: ReviewQueue, { ids, decision, path }: Asked): AsyncGenerator<CommandOutput> {
  const { inlineText } = await import('../../text/inline-text.ts');
  const found = findAll(queue, ids);
  if ('exitCode' in found) {
    yield found;
    return;
  }
  const decided = [];
  for (const candidate of found) {
    const changed = await queue.decide(candidate.id, decision);
    const shown = `${candidate.id.slice(0, 12)} ${inlineText(candidate.title)}`;
    yield {
      type: 'line',
      text: changed
        ? changedLine(shown, candidate, decision)
        : `${shown}: was ${decision} already, ${candidate.updated_at}`,
    };
    if (decision === 'accepted') yield { type: 'line', text: `  next: ${nextStep(candidate, inlineText)}` };
    decided.push({ id: candidate.id, status: decision, previous_status: candidate.status, changed });
  }
  yield { type: 'data', value: { schema_version: '0.1', queue_db: path, candidates: decided } };
}

function changedLine(shown: string, { status }: QueuedCandidate, decision: Decision): string {
  return status === 'pending' ? `${shown}: ${decision}` : `${shown}: ${decision}; it was ${status} before`;
}

function findAll(queue: ReviewQueue, ids: readonly string[]): readonly QueuedCandidate[] | Failure {
  const found = new Map<string, QueuedCandidate>();
  for (const id of ids) {
    const fitting = id.trim() === '' ? [] : queue.find(id.trim().toLowerCase());
    const [candidate, other] = fitting;
    if (candidate === undefined) {
      return refused(
        'no-such-candidate',
        `No candidate has the id ${id}. Nothing was changed.`,
        '`talaria curator candidates-list` shows them.',
      );
    }
    if (other !== undefined)
      return refused('ambiguous-id', `More than one id begins with ${id}. Nothing was changed.`, 'Type more of it.');
    found.set(candidate.id, candidate);
  }
  return [...found.values()];
}

/** Nothing is written by accepting: this is what a person does with it. */
function nextStep({ candidate_type, target_skill }: QueuedCandidate, inline: (text: string) => string): string {
  const skill = inline(target_skill ?? 'NAME');
  switch (candidate_type) {
    case 'skill_update':
      return `\`talaria curator propose --skill ${skill}\``;
    case 'skill_new':
      return 'show `talaria` the steps once; a skill is drafted for `talaria pending list`';
    case 'memory':
      return '`talaria memory add "…"`, in your own words';
    case 'replay_benchmark':
      return `run it again after the next change${target_skill === null ? '' : ` of ${skill}`}; \`talaria curator propose --skill ${skill}\` shows the failures`;
    case 'ignore':
      return 'nothing; it was mined as not worth keeping';
  }
}
