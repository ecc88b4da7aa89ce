// Owns `curator candidates-mine`: evidence lines into the review queue (seed 002; curator notes 7, 16). Knows no rule of mining. Invariants: a
// line that cannot be read leaves the queue as it was; no skill and no memory is written.
import { z } from 'zod';
import { errorCode, TalariaError } from '#base/errors.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { requiredText } from '../flags.ts';
import { printed } from '../printed.ts';
import { NEXT, queueFlag, queuePlace } from './foreign-queue.ts';

const input = z.object({
  inputJsonl: requiredText('name it: --input-jsonl FILE').describe(
    'One JSON object a line: text, evidence_ref, target_skill, …; - reads the input',
  ),
  queueDb: queueFlag,
  format: z.enum(['json', 'markdown']).default('json').describe('json when absent'),
});

const BAD_INPUT = new Set(['invalid-json', 'line-too-long', 'line-not-utf-8', 'too-many-candidates']);

export function mineCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator candidates-mine',
    summary: 'Turn lines of evidence into candidates for review; nothing else is written',
    surfaces: ['cli'],
    input,
    examples: ['talaria curator candidates-mine --input-jsonl evidence.jsonl --format markdown'],
    async *run({ inputJsonl, queueDb, format }, context): AsyncGenerator<CommandOutput> {
      const path =
        inputJsonl === '-'
          ? '/dev/stdin'
          : typedPath(inputJsonl, { cwd: context.cwd, userHome: ground.places.userHome });
      const [{ mineFile }, { openQueue }, { candidatesMarkdown }] = await Promise.all([
        import('../../mine/mine-file.ts'),
        import('../../queue/open-queue.ts'),
        import('../../mine/candidates-markdown.ts'),
      ]);
      const mined = await mineFile(path, context.signal).catch(unreadable(path));
      if ('exitCode' in mined) {
        yield mined;
        return;
      }
      const place = queuePlace(ground, queueDb, context.cwd);
      const { queue, notices } = openQueue(place);
      const fresh = await queue.enqueue(mined.candidates, context.signal).finally(() => queue.close());
      const inserted = fresh.filter(Boolean).length;
      const candidates = mined.candidates.map((candidate, at) => ({ ...candidate, enqueued: fresh[at] === true }));
      const { count } = mined;
      const result = {
        schema_version: '0.1',
        queue_db: place.path,
        input_jsonl: path,
        count,
        inserted,
        duplicates: count - inserted,
        candidates,
        ...(notices.length === 0 ? {} : { notes: notices.map(({ message }) => message) }),
      };
      if (format !== 'json') for (const { message } of notices) yield { type: 'line', text: `note: ${message}` };
      const counts = [
        ['Lines', count],
        ['New', inserted],
        ['Known already', count - inserted],
      ] as const;
      yield* printed({
        result,
        format,
        text: () => candidatesMarkdown({ title: 'Mined candidates', counts, candidates, next: NEXT }),
      });
    },
  });
}

function unreadable(path: string) {
  return (error: unknown) => {
    const code = errorCode(error) ?? '';
    if (error instanceof TalariaError && BAD_INPUT.has(code))
      return wrongUse(code, error.message, error.fix ?? 'Nothing was stored.');
    if (!/^E[A-Z]+$/.test(code)) throw error;
    return wrongUse(
      'file-not-readable',
      `${path} cannot be read (${code}).`,
      'Name a file with one JSON object a line.',
    );
  };
}
