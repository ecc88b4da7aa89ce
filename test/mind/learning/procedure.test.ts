/** Recorded procedures: steps, traces, and the whole story by rule. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { normalizeText } from '#base/text.ts';
import { fillStep, parametersOf, readSteps, renderSteps, repeatedCalls, type Step } from '#mind/learning/procedure.ts';
import { workCalls } from '#mind/learning/read-turns.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { answerOf, call, commandsOf, openWorld, say, turn, type World } from './learning-world.ts';

const run = (command: string, more = {}): Step => ({ kind: 'call', tool: 'terminal', arguments: { command, ...more } });

describe('steps of a procedure', () => {
  test('read as prose', () => {
    const steps: readonly Step[] = [
      run('npm ci'),
      run('make', { workdir: 'web' }),
      { kind: 'call', tool: 'read_file', arguments: { path: 'dist/log.txt' } },
      { kind: 'call', tool: 'search_files', arguments: { pattern: 'TODO', path: 'src' } },
      { kind: 'call', tool: 'write_file', arguments: { path: 'a.md', content: '# a\n\n```\nx\n```' } },
      { kind: 'call', tool: 'process', arguments: { action: 'list' } },
      { kind: 'words', text: 'Tell the owner.' },
    ];
    const text = renderSteps(steps);
    assert.equal(
      text,
      [
        '1. Run `npm ci`',
        '2. Run `make` in the folder `web`',
        '3. Read `dist/log.txt`',
        '4. Find `TODO` in `src`',
        '5. Write `a.md` with:',
        '',
        '   ````',
        '   # a',
        '',
        '   ```',
        '   x',
        '   ```',
        '   ````',
        '6. Call `process` with `{"action":"list"}`',
        '7. Tell the owner.',
      ].join('\n'),
    );
    assert.deepEqual(
      readSteps(`# Release\n\n## Steps\n\n${text}\n\n## Constraints\n\n1. none`).map(({ step }) => step),
      steps,
    );
  });

  test('what is written reads back equal, whatever the commands hold', () => {
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom(
        'a `b` c',
        'line\nline',
        'echo "x"',
        '```',
        "awk '{print $1}'",
        'x  ',
        '  y',
        '1. Run `x`',
        'a\n\n\nb',
        '\n',
        '## Steps',
      ),
    );
    const call = fc.oneof(
      text.map((command) => run(command)),
      fc.tuple(text, text).map(([command, workdir]) => run(command, { workdir })),
      text.map((path): Step => ({ kind: 'call', tool: 'read_file', arguments: { path } })),
      fc
        .tuple(text, text)
        .map(([path, content]): Step => ({ kind: 'call', tool: 'write_file', arguments: { path, content } })),
      fc
        .tuple(text, fc.jsonValue())
        .map(([a, b]): Step => ({ kind: 'call', tool: 'other', arguments: { a, b: JSON.parse(JSON.stringify(b)) } })),
    );
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), (steps) => {
        const body = normalizeText(`## Steps\n\n${renderSteps(steps)}\n\n## Constraints\n\n- x`);
        const read = readSteps(body).map(({ step }) => step);
        assert.deepEqual(read, steps);
      }),
    );
  });

  test('never throws, and items in other words are words', () => {
    fc.assert(fc.property(fc.string(), (text) => void readSteps(text)));
    const [first, second] = readSteps('## Steps\n1. Run the tests, e.g. `npm test`\n2) Run `npm test` twice\n').map(
      ({ step }) => step,
    );
    assert.equal(first?.kind, 'words');
    assert.equal(second?.kind, 'words');
  });

  test('places to fill in are named, filled and told from what shells use', () => {
    const steps = [run('ssh {host} ls ${HOME}'), run("awk '{print}' {file}")] as const;
    assert.deepEqual(parametersOf(steps), ['host', 'file']);
    const [first] = steps;
    assert.ok(first.kind === 'call');
    assert.deepEqual(fillStep(first, { host: 'a$&b' }).arguments, { command: 'ssh a$&b ls ${HOME}' });
  });
});

const found = (commands: string) => {
  const calls = workCalls(
    turn(
      'do it',
      commands.split('').map((command) => call(command)),
    ),
  );
  return repeatedCalls(calls)
    ?.map((one) => one.call.arguments.command)
    .join('');
};

describe('repeated calls', () => {
  test('three times, with anything between, the longest run wins', () => {
    assert.equal(found('abab'), undefined);
    assert.equal(found('ababab'), 'ab');
    assert.equal(found('abxabyab'), 'ab');
    assert.equal(found('abcxabcyabc'), 'abc');
  });

  test('one call again and again is no procedure', () => {
    assert.equal(found('aaaaaa'), undefined);
    assert.equal(found(''), undefined);
  });

  test('in the middle of a longer run nothing is found', () => {
    assert.equal(found('abcabcab'), undefined);
    assert.equal(found('abcabcabc'), 'abc');
    assert.equal(found('abcabdab'), 'ab');
  });
});

const COMMANDS = ['npm ci', 'npm run lint', 'npm run build', 'npm test', 'npm pack'];

async function settle(world: World): Promise<void> {
  await world.background.settled();
  assert.deepEqual(world.background.failures, []);
}

async function doTask(world: World, commands: readonly string[] = COMMANDS): Promise<void> {
  const talk = await world.open();
  for (const command of commands) await say(talk, `run \`${command}\``);
  await talk.close();
  await settle(world);
}

/** Done twice: what was done once, and named by nobody, becomes no skill. */
const TWICE = [...COMMANDS, ...COMMANDS];

describe('reflex learns', () => {
  verifies(
    [
      'core:reflex:repeats',
      'core:skills:content',
      'core:skills:correction-patches',
      'core:skills:patch-before-rewrite',
      'core:skills:next-conversation',
    ],
    'a task becomes a skill after the yes, is replayed by name, patched by a correction, and followed in a new session',
    async (t) => {
      const world = await openWorld(t);
      const first = await world.open();
      for (const command of TWICE) await say(first, `run \`${command}\``);
      await first.close();
      await settle(world);
      const [offer, ...more] = world.learning.offers();
      assert.deepEqual(more, []);
      assert.match(offer?.line ?? '', /^New skill "ci-lint-build-test" \(5 steps: npm ci, npm run lint, …\)\?$/);
      const kept = await world.learning.accept(offer?.id ?? '');
      assert.ok(kept.ok, JSON.stringify(kept));
      const path = join(world.home, 'skills/ci-lint-build-test/SKILL.md');
      const text = readFileSync(path, 'utf8');
      assert.match(text, /## When to use\n\n- "run `npm ci`"\n- "do ci-lint-build-test"\n/);
      assert.match(text, /## Steps\n\n1\. Run `npm ci`\n2\. Run `npm run lint`[\s\S]*5\. Run `npm pack`/);

      const second = await world.open();
      const replay = await say(second, 'do ci-lint-build-test');
      assert.deepEqual(commandsOf(replay), COMMANDS);
      assert.match(answerOf(replay), /^Replayed ci-lint-build-test: 5 of 5 steps\./);
      const amended = await say(second, 'no, also run `npm audit`');
      assert.deepEqual(commandsOf(amended), ['npm audit']);
      assert.match(answerOf(amended), /^Patched the skill ci-lint-build-test:/);
      const skipped = await say(second, 'skip step 2');
      assert.match(
        answerOf(skipped),
        /^Patched the skill ci-lint-build-test: step 2 is out\.[\s\S]*2\. Run `npm run lint`/,
      );
      await second.close();
      await settle(world);
      assert.deepEqual(world.learning.offers(), [], 'following a skill makes no second one');
      const patched = readFileSync(path, 'utf8');
      assert.match(
        patched,
        /## Steps\n\n1\. Run `npm ci`\n2\. Run `npm run build`\n3\. Run `npm test`\n4\. Run `npm pack`\n5\. Run `npm audit`/,
      );

      const third = await world.open();
      const again = await say(third, 'do ci-lint-build-test');
      assert.deepEqual(commandsOf(again), ['npm ci', 'npm run build', 'npm test', 'npm pack', 'npm audit']);
      await third.close();
      const versions = world.door.versions('ci-lint-build-test').map(({ version }) => version);
      const [why] = world.ledger.why({
        kind: 'skill',
        target: 'ci-lint-build-test',
        key: String(Math.max(...versions)),
      });
      assert.match(
        JSON.stringify(why?.citations),
        /skip step 2|also run/,
        'the correction is the evidence of the patch',
      );
      const [made] = world.ledger.why({ kind: 'skill', target: 'ci-lint-build-test', key: '1' });
      assert.match(JSON.stringify(made?.citations), /Ran terminal\. command: npm test/);
    },
  );

  test('calls that share no goal are no skill, though the owner asks for one', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    for (const line of ['run `sleep 4`', 'read /etc/hostname', 'run `cp a.txt b.txt`', '1']) await say(talk, line);
    const learned = await world.learning.learnNow(talk.session.id, '', new AbortController().signal);
    assert.equal(learned.ok && learned.value.line, 'Nothing was found that is worth keeping.');
    const named = await world.learning.learnNow(talk.session.id, 'copy', new AbortController().signal);
    assert.equal(named.ok && named.value.kept + named.value.pending, 1, JSON.stringify(named));
    await talk.close();
  });

  slow('the same task again brings no second skill, another one of the same name gets a number', async (t) => {
    const world = await openWorld(t);
    await doTask(world, TWICE);
    assert.ok((await world.learning.accept(world.learning.offers()[0]?.id ?? '')).ok);
    await doTask(world);
    assert.deepEqual(world.learning.offers(), []);
    const other = [...COMMANDS.slice(0, 4), 'npm audit', 'npm fund --json', 'npm outdated --long'];
    await doTask(world, [...other, ...other]);
    assert.match(world.learning.offers()[0]?.line ?? '', /^New skill "ci-lint-build-test-2"/);
  });

  test('facts that the owner mentions are kept at the end, word for word, with their message', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    await say(talk, 'can you translate this? our team hosts the wiki on port 8090');
    await say(talk, 'our team hosts the wiki on port 8090. What is the capital of Peru?');
    await talk.close();
    await settle(world);
    assert.deepEqual(world.learning.announcements(), [
      'Kept in MEMORY.md: "our team hosts the wiki on port 8090" · /undo takes it back',
    ]);
  });

  verifies('core:reflex:repeats', 'the third time the same calls are made a skill is offered', async (t) => {
    const world = await openWorld(t);
    const pair = ['git fetch --all', 'git status --short'];
    for (const _ of [1, 2]) await doTask(world, pair);
    assert.deepEqual(world.learning.offers(), []);
    const talk = await world.open();
    for (const command of pair) await say(talk, `run \`${command}\``);
    await settle(world);
    const [offer] = world.learning.offers();
    assert.match(offer?.text ?? '', /1\. Run `git fetch --all`\n2\. Run `git status --short`/);
    await talk.close();
  });

  test('values are filled in, missing ones are asked for, a failed step stops the replay', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    await say(talk, 'run `ssh a ls`');
    await say(talk, 'run `ssh a df`');
    const learned = await say(talk, 'learn this as disk-check');
    assert.match(answerOf(learned), /^Kept as the skill disk-check:/);
    const old = '1. Run `ssh a ls`\n2. Run `ssh a df`';
    const change = {
      action: 'patch',
      oldString: old,
      newString: '1. Run `ssh {host} ls`\n2. Run `FAIL {host}`\n3. Run `ssh {host} df`',
    } as const;
    const patched = await world.door.write({ name: 'disk-check', change, actor: 'owner', approved: true });
    assert.ok(patched.ok, JSON.stringify(patched));
    const asked = await say(talk, 'do disk-check');
    assert.match(answerOf(asked), /The skill disk-check needs host\./);
    assert.deepEqual(commandsOf(asked), []);
    const filled = await say(talk, 'web1');
    assert.deepEqual(commandsOf(filled), ['ssh web1 ls', 'FAIL web1']);
    assert.match(answerOf(filled), /^Stopped: step 2 of 3 failed\./);
    const direct = await say(talk, 'disk-check host=web2');
    assert.deepEqual(commandsOf(direct), ['ssh web2 ls', 'FAIL web2']);
    await talk.close();
  });

  test('steps that hold a key are not learned, and the answer says so without it', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    const key = `sk-proj-${'aB3dE5fG7h'.repeat(4)}`;
    await say(talk, 'run `ssh a ls`');
    await say(talk, `run \`ssh a login ${key}\``);
    const answer = answerOf(await say(talk, 'learn this as login'));
    assert.match(answer, /^Not kept: what we did holds a secret/);
    assert.ok(!answer.includes(key), answer);
    assert.equal(world.ledger.list({ kind: 'skill' }).length, 0);
    await talk.close();
  });

  test('an unknown skill and one for readers run nothing', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    await say(talk, 'run `make a`');
    await say(talk, 'run `make b`');
    await say(talk, 'save these steps as a skill called makes');
    const unknown = await say(talk, 'do the skill nothing-here');
    assert.match(answerOf(unknown), /There is no skill/);
    const content =
      '---\nname: prose\ndescription: For readers\n---\n\n## Steps\n\n1. Think about it\n2. Run `make a`\n';
    const made = await world.door.write({
      name: 'prose',
      change: { action: 'create', content },
      actor: 'owner',
      approved: true,
    });
    assert.ok(made.ok);
    const read = await say(talk, 'do the skill prose');
    assert.deepEqual(commandsOf(read), []);
    assert.match(answerOf(read), /Step 1 of prose is for a reader, not for a rule\. Nothing was run/);
    await talk.close();
  });

  test('a correction without a replay before it, or with a condition, changes nothing', async (t) => {
    const world = await openWorld(t);
    const talk = await world.open();
    await say(talk, 'run `make a`');
    for (const line of ['skip step 1', 'no, also run `make b` if it is Friday']) {
      const events = await say(talk, line);
      assert.deepEqual(
        events.filter((event) => event.type === 'tool-start' && event.name === 'skill_manage'),
        [],
        line,
      );
    }
    await talk.close();
  });
});
