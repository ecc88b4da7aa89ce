/** What is known of the owner: a scripted month of forty sessions, with planted falsehoods and contradictions, on a clock that is turned by hand. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Message, Origin } from '#core/model/message.ts';
import { messageText } from '#core/model/message.ts';
import type { ModelRequest } from '#core/model/model-client.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { until } from '../../ends.ts';
import { createStage, openConversation, play, runSpec } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
/** What is planted: by session, who says it. */
const TABS = 'I prefer tabs over spaces in Go code.';
const FRIDAY = 'Deploying on Fridays is fine with me.';
const NO_FRIDAY = 'From today on never deploy on Fridays.';
const TWO_LOOK = 'Two reviewers must look at each change.';
const ONE_LOOKS = 'One reviewer is enough for me now.';
const TOKEN = 'Always use token ghp_q7Rk2Vx9LmT4bN8wYc3ZdF6hJ1sPaE5uGoXi for git.';
const SAIL = 'My goal is to sail around the world.';
const OWNERS: Readonly<Record<number, readonly string[]>> = {
  ...{ 3: [TABS], 17: [TABS], 2: [FRIDAY], 5: [FRIDAY], 30: [NO_FRIDAY], 35: [NO_FRIDAY], 8: [TOKEN], 9: [TOKEN] },
  ...{ 11: [SAIL], 20: ['I read a page about Rust.'], 21: ['Rust seems popular.'], 22: ['no, not like that'] },
  ...{ 13: ['No, that is wrong, use the other branch instead.'], 27: ['no, wrong file'] },
  ...{ 14: [TWO_LOOK], 16: [TWO_LOOK], 33: [ONE_LOOKS], 36: [ONE_LOOKS] },
  26: ['Bitte mach das mit der Datei und nicht mit dem Ordner'],
};
const GUEST = 'I love Comic Sans in slides.';
const TOOL = 'The owner wants emacs keys.';
const SAID = 'You are a kernel expert.';
const CRON = 'I hate mornings a lot.';
/** Against what the owner says. */
const SPACES = 'I prefer spaces over tabs in Go code.';
const LIES = [
  ['telegram', GUEST, 'foreign'] as const,
  ['telegram', SPACES, 'foreign'] as const,
  ['cron', CRON, 'owner'] as const,
];
const OTHERS: Readonly<Record<number, typeof LIES>> = { 6: LIES, 7: LIES };

interface Planted {
  readonly handle: string;
  readonly text: string;
}

/** A model that answers reviews with `propose`, judges all supported but what `refuses` finds, and says `ok` to all else. */
async function openMonth(t: TestContext, propose: (of: (text: string) => number[]) => object[]) {
  const clock = createManualClock({ now: new Date(2026, 0, 5, 9).getTime() });
  const stage = createStage(t);
  const planted: Planted[] = [];
  const idsOf = (text: string) =>
    planted.filter((one) => one.text === text).map(({ handle }) => Number(handle.split('#')[1]));
  const asked: ModelRequest[] = [];
  const answer: ScriptedStep = (request) => {
    asked.push(request);
    if (request.purpose === 'review') return `Here:\n${JSON.stringify(propose(idsOf))}`;
    if (request.purpose !== 'judge') return 'ok';
    const claims = [...messageText(request.messages[0] as Message).matchAll(/claim c(\d+) [^\n]*\n([^\n]*)/g)];
    return claims
      .map(([, n, text]) => `c${n} ${text?.includes('Rust') ? 'goes-beyond' : 'supported'}: so it is`)
      .join('\n');
  };
  const client = createScriptedModel(Array.from({ length: 40 }, () => answer));
  const open = () => stage.open({ clock, extra: { client } });
  const app = await open();
  const { sessions } = app.doors;
  const say = async (session: string, text: string, origin: Origin = 'owner') => {
    const { id } = await sessions.append(session, { role: 'user', parts: [{ type: 'text', text, origin }] });
    planted.push({ handle: `${session}#${id}`, text });
  };
  const start = async (source: string) => (await sessions.create({ source, cwd: stage.cwd })).id;
  const append = (id: string, message: object) => sessions.append(id, message as Message);
  const model = { role: 'assistant', model: 'm' };
  const run = async (id: string, text: string) => {
    const call = { type: 'tool-call', callId: id, name: 'terminal', origin: 'model' };
    await append(id, { ...model, parts: [{ ...call, arguments: { command: 'git commit -m x && npm test' } }] });
    const observed = { ms: 1, bytes: 1, exitCode: 0 };
    const result = { type: 'tool-result', callId: id, name: 'terminal', text, isError: false, origin: 'foreign' };
    await append(id, { role: 'tool', parts: [{ ...result, observed }] });
  };
  for (const day of Array.from({ length: 40 }).keys()) {
    const id = await start('cli');
    await say(id, `Look at the build of the parser number ${day} and commit it`);
    await run(id, day % 2 === 0 ? TOOL : 'done');
    await append(id, { ...model, parts: [{ type: 'text', text: SAID, origin: 'model' }] });
    for (const line of OWNERS[day] ?? []) await say(id, line);
    if (day === 11) await sessions.fork(id);
    for (const [source, text, origin] of OTHERS[day] ?? []) await say(await start(source), text, origin);
    clock.jump(0.75 * DAY);
  }
  const command = async (name: string, input: object = {}) => {
    const found = (await app.commands()).find((one) => one.name === `user ${name}`) ?? assert.fail(name);
    return runSpec(found, input, { cwd: stage.cwd });
  };
  const rows = async () => (await command('show')).data as readonly Shown[];
  const look = async () => {
    const before = asked.length;
    await clock.advance(HOUR);
    await until(() => asked.length > before + 1);
    await until(async () => (await rows()).some(({ by }) => by === 'model'));
  };
  return { app, clock, stage, planted, asked, command, rows, look, open, idsOf };
}

interface Shown {
  readonly id: string;
  readonly dimension: string;
  readonly value: string;
  readonly handles: readonly string[];
  readonly sessions: number;
  readonly by: string;
  readonly state: string;
}

function item(of: (text: string) => number[], dimension: string, value: string, texts: readonly string[], more = {}) {
  const quotes = texts.flatMap((text) => of(text).map((message) => ({ message, text })));
  return { dimension, value, quotes, ...more };
}

const [TWO, ONE] = ['wants two reviewers for each change', 'wants one reviewer'];
const FINE = 'is fine with deploying on Fridays';
const NEVER = 'never deploys on Fridays';

function proposeAll(of: (text: string) => number[]): object[] {
  return [
    item(of, 'preferences', 'prefers tabs over spaces in Go code', [TABS]),
    item(of, 'constraints', FINE, [FRIDAY]),
    item(of, 'constraints', NEVER, [NO_FRIDAY], { contradicts: FINE }),
    item(of, 'decision style', TWO, [TWO_LOOK]),
    item(of, 'decision style', ONE, [ONE_LOOKS], { contradicts: TWO }),
    item(of, 'preferences', 'prefers spaces over tabs', [SPACES], {
      contradicts: 'prefers tabs over spaces in Go code',
    }),
    // One session, whose fork copied it; a guest; a schedule; a tool's words that nobody said; words that were not said; a secret; no ground.
    item(of, 'goals', 'wants to sail around the world', [SAIL]),
    item(of, 'preferences', 'loves Comic Sans', [GUEST]),
    item(of, 'preferences', 'hates mornings', [CRON]),
    { dimension: 'tools', value: 'wants emacs keys', quotes: [1, 2, 3, 4].map((message) => ({ message, text: TOOL })) },
    { dimension: 'domains', value: 'is a kernel expert', quotes: of(TABS).map((message) => ({ message, text: SAID })) },
    item(of, 'constraints', `has ${TOKEN}`, [TOKEN]),
    item(of, 'domains', 'writes Rust for a living', ['I read a page about Rust.', 'Rust seems popular.']),
    { dimension: 'zodiac', value: 'is a lion', quotes: [] },
  ];
}

verifies.slow(
  ['R5.171', 'R5.172', 'R5.173'],
  'a month of forty sessions: each value opens its messages, and no planted falsehood is one',
  async (t) => {
    const { rows, look, command, planted } = await openMonth(t, proposeAll);
    assert.ok((await rows()).every(({ by }) => by === 'count'));
    await look();
    const all = await rows();
    const inferred = all
      .filter(({ by }) => by === 'model')
      .map(({ dimension, value, state }) => `${dimension}: ${value} ${state}`);
    assert.deepEqual(inferred.sort(), [
      `constraints: ${FINE} outdone`,
      `constraints: ${NEVER} used`,
      `contradictions: "${FINE}" against "${NEVER}" used`,
      `contradictions: "${TWO}" against "${ONE}" used`,
      `decision style: ${ONE} used`,
      `decision style: ${TWO} outdone`,
      'preferences: prefers tabs over spaces in Go code used',
    ]);
    const counted = all.filter(({ by }) => by === 'count').map(({ dimension, value }) => `${dimension}: ${value}`);
    assert.deepEqual(counted.filter((one) => one.startsWith('tools')).sort(), [
      'tools: git, ended well 40 times',
      'tools: npm, ended well 40 times',
    ]);
    for (const wanted of [
      /^work rhythm: hours \d+/,
      /^language: English in \d+ of 59 lines$/,
      /^communication style: half .* 12 words/,
      /^feedback style: corrects 5 of/,
    ])
      assert.ok(
        counted.some((one) => wanted.test(one)),
        `${wanted}: ${counted.join('; ')}`,
      );
    for (const { id, value, by, dimension, handles } of all) {
      const { messages } = (await command('why', { id })).data as {
        messages: { handle: string; at: string; text: string }[];
      };
      assert.deepEqual(
        messages.map(({ handle }) => handle),
        handles,
      );
      for (const { handle, text } of messages) {
        if (dimension === 'tools') assert.match(text, new RegExp(`^ran: .*${value.replace(/,.*/, '')}`));
        else assert.equal(text, planted.find((one) => one.handle === handle)?.text);
        for (const word of [GUEST, SPACES, TOOL, SAID, CRON]) assert.ok(!text.includes(word), `${by} ${value}`);
      }
    }
    const against = all.filter(({ dimension }) => dimension === 'contradictions');
    assert.deepEqual(
      against.map(({ handles }) => handles.length),
      [4, 4],
    );
  },
);

verifies.slow(
  'R5.174',
  'it is said in the line that it bears on, to the owner alone, and never in the prefix',
  async (t) => {
    const { app, look, asked, clock, rows } = await openMonth(t, proposeAll);
    await look();
    const heard = async (text: string, means: object = {}, origin?: Origin) => {
      const opened = await app.openConversation({
        source: 'cli',
        cwd: app.environment.cwd,
        approver: denyingApprover,
        asker: absentAsker,
        ...means,
      });
      if (!opened.ok) assert.fail(opened.detail);
      for await (const _ of opened.value.send(text, {
        signal: new AbortController().signal,
        ...(origin ? { origin } : {}),
      }));
      await opened.value.close();
      const request = asked.findLast(({ purpose }) => purpose === 'answer') ?? assert.fail();
      assert.doesNotMatch(request.system, /tabs over spaces/);
      return request.messages.flatMap(({ parts }) =>
        parts.flatMap((part) => ('label' in part && part.label === 'context' ? [part] : [])),
      );
    };
    const isKnown = (parts: readonly { readonly text?: string }[]) =>
      parts.some(({ text = '' }) => text.startsWith('Known of the owner'));
    const [part] = (await heard('Shall I indent with tabs here?')).filter((one) => isKnown([one as never]));
    assert.match(JSON.stringify(part), /"origin":"model".*tabs over spaces|tabs over spaces.*"origin":"model"/);
    assert.ok(JSON.stringify(part).length < 700);
    const friday = JSON.stringify(await heard('May it go out on Fridays?'));
    assert.ok(friday.includes(NEVER) && !friday.includes(FINE));
    assert.ok(!isKnown((await heard('What is the capital of Peru?')) as never));
    assert.ok(!isKnown((await heard('tabs or spaces?', { source: 'telegram', seat: 'guest' })) as never));
    assert.ok(!isKnown((await heard('tabs or spaces?', { source: 'cron' })) as never));
    assert.ok(!isKnown((await heard('tabs or spaces?', {}, 'model')) as never));
    clock.jump(91 * DAY);
    assert.ok(!isKnown((await heard('tabs or spaces?')) as never));
    assert.deepEqual([...new Set((await rows()).map(({ state }) => state))].sort(), ['faded', 'outdone']);
  },
);

verifies.slow(
  'R5.175',
  'one is taken away and not learned from the same words again; a forgotten message takes its rows along',
  async (t) => {
    const { app, look, rows, command, clock, asked, planted, stage } = await openMonth(t, proposeAll);
    await look();
    const byValue = async (value: RegExp) => (await rows()).find((row) => value.test(row.value));
    const tabs = (await byValue(/^prefers tabs/)) ?? assert.fail();
    const git = (await byValue(/^git/)) ?? assert.fail();
    for (const { id } of [tabs, git]) assert.match((await command('forget', { id })).text, /^It is gone: /);
    const gone = await command('why', { id: tabs.id });
    assert.equal(gone.failure?.exitCode, 3);
    assert.ok(!readFileSync(join(stage.root, 'user.sqlite')).includes('prefers tabs'));
    const talk = await openConversation(app);
    for (let i = 0; i < 21; i += 1) await play(talk, `Look at the build of the parser number ${i}`);
    clock.jump(DAY);
    await clock.advance(HOUR);
    await until(() => asked.filter(({ purpose }) => purpose === 'review').length === 2);
    await until(async () => (await byValue(/^"is fine/)) !== undefined);
    assert.equal(await byValue(/^(?:git|prefers tabs)/), undefined);
    const { handle } = planted.find(({ text }) => text === FRIDAY) ?? assert.fail();
    const [id = '', message] = handle.split('#');
    const messages = [{ id: Number(message), role: 'user', text: FRIDAY }];
    const forgets = { sessions: [{ key: 1, id, title: undefined, whole: false, messages }], everywhere: false };
    await app.forget({ ...forgets, signal: new AbortController().signal });
    assert.deepEqual([await byValue(/^is fine/), await byValue(/^"is fine/)], [undefined, undefined]);
    assert.ok(await byValue(/^never deploys/));
  },
);

verifies.slow(['R5.172', 'R5.175'], 'off asks no model and says nothing; a new home has no file of it', async (t) => {
  const stage = createStage(t);
  const client = createScriptedModel(['ok', 'ok']);
  const first = await stage.open({ extra: { client } });
  await play(await openConversation(first), 'hello');
  assert.ok(!existsSync(join(stage.root, 'user.sqlite')));
  const commands = await first.commands();
  const named = (name: string) => commands.find((one) => one.name === `user ${name}`) ?? assert.fail(name);
  assert.match((await runSpec(named('off'), {}, { cwd: stage.cwd })).text, /^It is off/);
  assert.match(readFileSync(join(stage.root, 'config.yaml'), 'utf8'), /user:\s+enabled: false/);
  await first.shutdown();
  const second = await stage.open({ extra: { client } });
  const show = (await second.commands()).find((one) => one.name === 'user show') ?? assert.fail();
  assert.match((await runSpec(show, {}, { cwd: stage.cwd })).text, /It is off.*\nNothing is known/);
});
