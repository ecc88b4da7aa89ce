/** Pairs of commands, one allowed for good and another: no yes may carry the other. Shared by a short and a long run. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createAllowList } from '#core/tools/core-tools.ts';
import { bindApproval } from '#core/tools/terminal/bound-command.ts';

const names = ['build', 'dist', 'src', './build', 'build/', 'old.txt', 'a b', '.', '*', '"$X"', '~', 'build dist'];
const flags = ['-rf', '-r', '-r -f', '--recursive', '-f'];
const word = fc.constantFrom(...names);
const flag = fc.constantFrom(...flags);
const inner = fc.tuple(flag, word).map(([flags, name]) => `rm ${flags} ${name}`);

const families: readonly fc.Arbitrary<string>[] = [
  inner,
  inner.map((command) => `bash -c '${command}'`),
  inner.map((command) => `eval '${command}'`),
  inner.map((command) => `eval "$(${command})"`),
  inner.map((command) => `echo '${command}' | sh`),
  inner.map((command) => `sudo ${command}`),
  inner.map((command) => `trap '${command}' EXIT`),
  inner.map((command) => `x=rm; $x ${command.slice(3)}`),
  fc.tuple(word, word).map(([root, name]) => `find ${root} -name ${name} -delete`),
  fc.tuple(word, word).map(([root, name]) => `find ${root} -name ${name} -exec rm {} \\;`),
  word.map((name) => `ls ${name} | xargs rm`),
  word.map((name) => `git -c core.pager='sh ${name}' log`),
  fc
    .tuple(fc.constantFrom('push --force', 'reset --hard', 'clean -fd', 'checkout -- .'), word)
    .map((parts) => `git ${parts.join(' ')}`),
  fc
    .tuple(fc.constantFrom('bash', 'sh', 'node', 'python3', 'source'), fc.constantFrom('x.sh', 'y.sh', './x.sh'))
    .map((parts) => parts.join(' ')),
  fc.constantFrom(
    'npm publish',
    'npm publish --tag a',
    'npm run a',
    'npm run b',
    'make',
    'make clean',
    'cargo publish',
  ),
  fc.tuple(word, word).map(([from, to]) => `mv ${from} ${to}`),
  word.map((name) => `A=1 rm -rf ${name}`),
  word.map((name) => `A=2 rm -rf ${name}`),
];
const command = fc.oneof(...families);
const folder = fc.constantFrom('/w', '/w/sub', '/v');

/** Of the pairs in which the two differ; the same words in another folder are another command. */
export async function noYesRidesOnAnother(numRuns: number): Promise<void> {
  let remembered = 0;
  const pair = fc.tuple(command, folder, command, folder);
  const differs = pair.filter(([allowed, at, other, there]) => allowed !== other || at !== there);
  const run = fc.asyncProperty(differs, async ([allowed, at, other, there]) => {
    const list = createAllowList();
    const { key } = bindApproval(allowed, { cwd: at, home: '/home/u' });
    await list.add(key, 'always');
    if (key !== '') remembered += 1;
    assert.equal(list.has(key), key !== '');
    assert.ok(!list.has(bindApproval(other, { cwd: there, home: '/home/u' }).key), `${other} rides on ${allowed}`);
  });
  await fc.assert(run, { numRuns });
  assert.ok(remembered > numRuns / 10, 'too few were remembered');
}
