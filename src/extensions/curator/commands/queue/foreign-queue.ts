// Owns what holds for a file that was named by `--queue-db`, in every command of the queue (curator notes 7). Knows no command.
// Invariants: state.db of the home is never one; a named file that turns out to be no database gets no mark of damage beside it.
import { existsSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { suspectMark } from '#base/database/damage.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { wrongUse } from '#core/agent/command-failure.ts';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { realPath } from '#core/tools/file/file-access.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { QueueFile } from '../../queue/open-queue.ts';

interface Asked {
  readonly queueDb?: string | undefined;
}

export function withForeignQueue(ground: CuratorGround, command: AnyCommand): AnyCommand {
  const run = (asked: Asked, context: CommandContext) => guarded({ ground, command }, asked, context);
  return { ...command, run } as AnyCommand;
}

interface Guarded {
  readonly ground: CuratorGround;
  readonly command: AnyCommand;
}

async function* guarded(
  { ground, command }: Guarded,
  asked: Asked,
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  const { path, isOwn } = queuePlace(ground, asked.queueDb, context.cwd);
  if (!isOwn && realPath(path) === realPath(ground.places.stateDatabase)) {
    const message = `--queue-db: ${path} is Talaria's own database, not one of a queue.`;
    yield wrongUse('not-a-queue', message, 'Name another file, or leave --queue-db out.');
    return;
  }
  const mark = suspectMark(path);
  const isMarked = existsSync(mark);
  try {
    yield* command.run(asked as never, context);
  } finally {
    if (!isOwn && !isMarked) rmSync(mark, { force: true });
  }
}

export const queueFlag = z
  .string()
  .min(1)
  .optional()
  .describe("Database of the queue; the home's evidence file when absent");

/** The last line of every listing. */
export const NEXT =
  'Decide with `talaria curator candidates-accept ID` or `candidates-reject ID`; how an id begins is enough.';

export function queuePlace({ places, clock }: CuratorGround, typed: string | undefined, cwd: string): QueueFile {
  const path = typed === undefined ? places.evidenceDatabase : typedPath(typed, { cwd, userHome: places.userHome });
  return { path, isOwn: path === places.evidenceDatabase, clock };
}
