/** The REPL cannot reach the host: each attempt is a case, and after each the session still answers. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Ground, openGround } from '../session/session-ground.ts';
import { BREAKING, type EscapeCase, ODD_ARGUMENTS, REACHING, TAMPERING } from './escape-cases.ts';

const SHORT = 'Alpha has 3 nodes.\nBeta has 12.\n';
const LONG = `${SHORT}${'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(50_000)}`;

interface Group {
  readonly cases: readonly EscapeCase[];
  readonly text: string;
  /** Each case begins in a world that no other has tampered with. */
  readonly apart: boolean;
}

const GROUPS: Readonly<Record<string, Group>> = {
  'reaching for the host': { cases: REACHING, text: SHORT, apart: false },
  'tampering with what the API stands on': { cases: TAMPERING, text: SHORT, apart: true },
  'odd arguments': { cases: ODD_ARGUMENTS, text: SHORT, apart: false },
  'breaking the sandbox': { cases: BREAKING, text: LONG, apart: false },
};

for (const [name, { cases, text, apart }] of Object.entries(GROUPS))
  describe(name, () => {
    let ground: Ground;
    const open = async () => {
      ground = await openGround(text, { limits: { block_ms: 100, memory_bytes: 32 * 1024 * 1024, sub_calls: 1_000 } });
    };
    before(open);
    after(() => ground.session.close());

    for (const one of cases)
      test(one.name, async () => {
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
        if (!apart) return;
        await ground.session.close();
        await open();
      });
  });

/** What pollution from inside would change out here. */
function hostMarks(): unknown {
  const counts = [Object.prototype, Array.prototype, Promise.prototype].map((owner) => Reflect.ownKeys(owner).length);
  return [...counts, process.exitCode];
}
