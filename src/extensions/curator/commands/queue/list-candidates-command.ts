// Owns `curator candidates-list`: what waits in the review queue (seed 002; curator notes 7, 16). Invariant: reads only; it never makes a file.
import { z } from 'zod';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { CANDIDATE_TYPES } from '../../mine/candidate.ts';
import { CANDIDATE_STATUSES } from '../../queue/queued-candidate.ts';
import { type PrintedResult, printed } from '../printed.ts';
import { NEXT, queueFlag, queuePlace } from './foreign-queue.ts';

const input = z.object({
  queueDb: queueFlag,
  status: z.enum(CANDIDATE_STATUSES).optional().describe('Only candidates of this status'),
  candidateType: z.enum(CANDIDATE_TYPES).optional().describe('Only candidates of this type'),
  format: z.enum(['json', 'markdown']).default('json').describe('json when absent'),
});

export function listCandidatesCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator candidates-list',
    summary: 'List the candidates that were mined, oldest first',
    surfaces: ['cli'],
    readOnly: true,
    input,
    examples: ['talaria curator candidates-list --status pending --format markdown'],
    async *run({ queueDb, status, candidateType, format }, context): AsyncGenerator<CommandOutput> {
      const [{ openExistingQueue }, { keptAsideLine }, { candidatesMarkdown }] = await Promise.all([
        import('../../queue/open-queue.ts'),
        import('../../backfill/kept-aside.ts'),
        import('../../mine/candidates-markdown.ts'),
      ]);
      const place = queuePlace(ground, queueDb, context.cwd);
      const opened = openExistingQueue(place, 'read');
      if (!opened.ok) {
        yield failed(opened.reason, opened.detail, '`talaria curator candidates-mine` fills one.');
        return;
      }
      const { queue } = opened.value;
      const filter = { ...(status ? { status } : {}), ...(candidateType ? { candidateType } : {}) };
      const candidates = listed(
        () => queue.list(filter),
        () => queue.close(),
      );
      const filters = { status_filter: status ?? null, candidate_type_filter: candidateType ?? null };
      const result = { schema_version: '0.1', queue_db: place.path, ...filters, count: candidates.length, candidates };
      const counts = [['Candidates', candidates.length]] as const;
      yield* withNote(place.isOwn ? keptAsideLine(place.path) : undefined, {
        result,
        format,
        text: () => candidatesMarkdown({ title: 'Candidates', counts, candidates, next: NEXT }),
      });
    },
  });
}

function listed<T>(read: () => T, close: () => void): T {
  try {
    return read();
  } finally {
    close();
  }
}

/** What else was waiting, in the text or as `notes`. */
function* withNote(
  note: string | undefined,
  shown: PrintedResult & { readonly result: object },
): Generator<CommandOutput> {
  if (note === undefined) {
    yield* printed(shown);
    return;
  }
  if (shown.format !== 'json') yield { type: 'line', text: `note: ${note}` };
  yield* printed({ ...shown, result: { ...shown.result, notes: [note] } });
}
