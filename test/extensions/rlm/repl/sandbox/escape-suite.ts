/** One attempt after another to leave the REPL or to bend it; after each the session still answers. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Ground, openGround } from '../session/session-ground.ts';
import type { EscapeCase } from './escape-cases.ts';

export interface EscapeGroup {
  readonly name: string;
  readonly cases: readonly EscapeCase[];
  readonly text: string;
  /** Each case begins in a world that no other has tampered with. */
  readonly apart?: boolean;
}

export function escapeSuite({ name, cases, text, apart = false }: EscapeGroup): void {
  describe(name, () => {
    let ground: Ground;
    const open = async () => {
      ground = await openGround(text, { limits: { block_ms: 100, memory_bytes: 32 * 1024 * 1024, sub_calls: 1_000 } });
    };
    before(open);
    after(() => ground.session.close());

    for (const one of cases)
      test(one.name, async () => {
        await attempt(ground, one);
        if (!apart) return;
        await ground.session.close();
        await open();
      });
  });
}

async function attempt(ground: Ground, one: EscapeCase): Promise<void> {
  const marks = hostMarks();
  const outcome = await ground.run(one.code);
  assert.doesNotMatch(outcome.output, /ESCAPED/);
  if (one.prints !== undefined) assert.deepEqual([outcome.output, outcome.failure], [one.prints, null]);
  if (one.fails !== undefined)
    assert.ok(one.fails.includes(outcome.failure?.reason ?? 'none'), JSON.stringify(outcome).slice(0, 300));
  assert.deepEqual(hostMarks(), marks);
  // Whatever is left of this world, the session answers; from a fresh one when it was broken.
  const next = await ground.run('finish("still here")');
  assert.deepEqual(next.answer, [{ text: 'still here', handles: [] }]);
}

/** What pollution from inside would change out here. */
function hostMarks(): unknown {
  const counts = [Object.prototype, Array.prototype, Promise.prototype].map((owner) => Reflect.ownKeys(owner).length);
  return [...counts, process.exitCode];
}
