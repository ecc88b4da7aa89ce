/** A process that is talked to in lines, and what is left of it. */
import assert from 'node:assert/strict';
import { startLines } from '#base/process/line-process.ts';
import { isGroupAlive } from '#base/process.ts';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';

async function play(script: string) {
  const lines: string[] = [];
  const ends: string[] = [];
  const started = await startLines({
    ...{ argv: ['sh', '-c', script], cwd: '/', env: { PATH: process.env.PATH } },
    onLine: (line) => lines.push(line),
    onError: () => undefined,
    onEnd: (why) => ends.push(why),
  });
  return { lines, ends, process: started };
}

verifies('R5.7', 'lines go both ways, and its whole group ends with it, once', async () => {
  const { lines, ends, process } = await play(
    'trap "" TERM; echo $$; read word; echo; echo "got $word"; sleep 60 & wait',
  );
  await process.send('tea');
  await until(() => lines.length === 2);
  assert.equal(lines[1], 'got tea');
  await Promise.all([process.end(), process.end()]);
  assert.deepEqual([isGroupAlive(Number(lines[0])), ends], [false, ['']]);
  await assert.rejects(process.send('more'));
});

verifies(
  'R5.7',
  'what ends by itself, or says a line without end, is told; what its leader left is ended',
  async () => {
    const left = await play('echo $$; sleep 60 & exit 3');
    const endless = await play('yes | tr -d "\\n"');
    await until(() => left.ends.length + endless.ends.length === 2);
    assert.deepEqual([left.ends, endless.ends], [['it ended with code 3'], ['it sent a line of over 32 MB']]);
    assert.equal(isGroupAlive(Number(left.lines[0])), false);
    const missing = { argv: ['/no/such'], cwd: '/', env: {}, onLine: () => {}, onError: () => {}, onEnd: () => {} };
    await assert.rejects(startLines(missing), /there is no program \/no\/such/);
  },
);
