/** acpx, a client of editors' protocol that others wrote, against `talaria acp`: an answer, an edit that is asked for, and a no. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { MAIN } from '../scenario/cli-process.ts';
import { call, placeFor } from '../surfaces/acp/editor-stage.ts';
import { verifies } from '../verifies.ts';
import { reachPart, reachSkip } from './reach-parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: what stands on the wire is looked at freely
type Loose = any;

verifies(['R5.80', 'R5.84', 'R5.85', 'R5.208'], 'acpx gets answers, edits and questions', {
  options: { skip: reachSkip, timeout: 120_000 },
  run: async (t) => {
    const name = '.git/hooks/pre-commit';
    const edit = call('patch', { path: name, old_string: 'old', new_string: 'new' });
    const steps = ['Hello.', edit, 'Left as it was.', edit, 'Edited.'];
    const model = await startScriptedServer(steps, { models: ['gpt-4o'], context: t });
    const place = placeFor(t, model.baseUrl);
    const path = join(place.cwd, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, 'old\n');
    const start = (...args: readonly string[]) => {
      const all = [reachPart('acpx', 'dist', 'cli.js'), '--agent', `${process.execPath} ${MAIN} acp`, ...args];
      const ended = Promise.withResolvers<{ readonly code: unknown; readonly out: string }>();
      const child = execFile(process.execPath, all, place, (error, out) =>
        ended.resolve({ code: error?.code ?? 0, out }),
      );
      t.after(() => void child.kill('SIGKILL'));
      return { child, ended: ended.promise };
    };

    const hello = await start('--approve-all', 'exec', 'hi').ended;
    assert.deepEqual([hello.code, /^Hello\.\n\n\[done\] end_turn$/m.test(hello.out)], [0, true], hello.out);
    const denied = await start('--deny-all', 'exec', 'edit it').ended;
    // 5 is how acpx says that a question was answered with no.
    assert.deepEqual([denied.code, /^Left as it was\.$/m.test(denied.out)], [5, true], denied.out);
    assert.equal(readFileSync(path, 'utf8'), 'old\n');

    const edited = await start('--approve-all', '--format', 'json', '--json-strict', 'exec', 'edit it').ended;
    assert.equal(edited.code, 0, edited.out);
    const wire = edited.out
      .split('\n')
      .slice(0, -1)
      .map((line): Loose => JSON.parse(line));
    const asked = wire.find(({ method }) => method === 'session/request_permission');
    assert.match(asked?.params.toolCall.content[0].content.text, /-old\n\+new/);
    const updates = wire.flatMap(({ params }) => params?.update ?? []);
    const last = updates.find(({ status }) => status === 'completed');
    assert.deepEqual(last?.content[0], { type: 'diff', path, oldText: 'old\n', newText: 'new\n' });
    assert.equal(wire.at(-1)?.result.stopReason, 'end_turn');
    assert.equal(readFileSync(path, 'utf8'), 'new\n');
  },
});
