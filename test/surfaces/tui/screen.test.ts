/** The screen at a terminal in memory: keys, the conversation with Meta, what comes by the log, small terminals, and its JSON lines. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { CommandOutput } from '#public/talaria.ts';
import type { InfraFigures } from '#surfaces/tui/board.ts';
import { screenCommands } from '#surfaces/tui/commands.ts';
import { bellOf, EVENTS, mindEvent } from '#surfaces/tui/event-table.ts';
import { WINDOW_NAMES, WINDOWS, windowNames, windowOf } from '#surfaces/tui/windows.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { until } from '../../ends.ts';
import { MAIN } from '../../scenario/cli-process.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { createStage, groundOf, runCommand } from '../app/app-fixture.ts';
import {
  createTuiStage,
  FIGURES,
  golemsOf,
  metaOf,
  NOW,
  seenOf,
  stateOf,
  steerOf,
  type TuiStage,
  tickOf,
} from './stage.ts';

const TAB = '\t';
const SHIFT_TAB = '\u001b[Z';
const TAB_LET_GO = '\u001b[9;1:3u';
const ENTER = '\r';
const ESCAPE = '\u001b';
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';
const CTRL_O = '\u000f';
const AFAR = { where: 'c0ffee00', seenAt: Number.MAX_SAFE_INTEGER };
const THREE = [seenOf('ada'), seenOf('bea', { status: 'rests' }), seenOf('cid', AFAR)];
const sent = (event: unknown, golem = 'ada') => ({ golem: `${golem}-gen1`, seq: 1, tick: 8, at: NOW, event });

verifies.slow(
  ['R1.74'],
  'the clade is one table, from which one goes into a golem and back; Tab goes round the windows',
  async (t) => {
    const stage = createTuiStage(t, { golems: golemsOf([]), clade: metaOf(THREE) });
    const screen = await stage.screen();
    assert.match(
      screen.text(),
      /3 golems, 2 alive[\s\S]*› ada +lives +7[\s\S]* {2}bea +rests[\s\S]* {2}cid +lives .* c0ffee00/,
    );
    await screen.type(DOWN, DOWN, ENTER);
    await screen.shows(/\[Hearth\][\s\S]*cid · /);
    await screen.type(ESCAPE);
    await screen.shows(/\[Clade\][\s\S]*› cid/);
    for (const name of [...windowNames({ market: null }).slice(1), 'clade'] as const) {
      await screen.type(TAB);
      await screen.shows(`[${WINDOWS[name]}]`);
    }
    await screen.type(SHIFT_TAB, TAB_LET_GO);
    await screen.shows('[Infra]');
    await screen.type(CTRL_C);
    await until(screen.isOver);
  },
);

verifies.slow(
  ['R1.4', 'R1.9', 'R1.25', 'R1.75', 'R1.76'],
  'what is typed goes to Meta first, in every window and mode, with the golem in view, and what was said before is there',
  async (t) => {
    const meta = metaOf(THREE);
    const stage = createTuiStage(t, { golems: golemsOf([]), clade: meta });
    const modes = { run: 'ada', attach: 'cid', clade: undefined } as const;
    for (const focus of Object.values(modes)) {
      const screen = await stage.screen(focus === undefined ? {} : { focus });
      for (const name of windowNames({ market: null })) {
        await screen.type(...`${name}?`, ENTER);
        await until(() => meta.heard.at(-1)?.text === `${name}?`);
        assert.equal(meta.heard.at(-1)?.focus, focus);
        await screen.type(TAB);
      }
      await screen.shows('Two are well.');
      await screen.type('q', ENTER);
      await until(screen.isOver);
    }
    assert.equal(meta.heard.length, 21);
    const screen = await stage.screen();
    await screen.type(CTRL_O);
    await screen.shows('› infra?');
  },
);

test('a question shows its choices, a number answers it in every window; an answer that fails is said', async (t) => {
  const meta = metaOf(THREE);
  meta.answers = [
    { type: 'action', action: { type: 'RouteSteer', target_golem: 'ada', urgency: '' }, why: 'rule' },
    { type: 'question', text: 'Whom do you mean?', choices: ['ada', 'bea'] },
  ];
  const switched: string[] = [];
  const infra = { look: async () => FIGURES, switchTo: async (id: string) => String(switched.push(id)) };
  const screen = await createTuiStage(t, { golems: golemsOf([]), clade: meta }).screen({ infra });
  await screen.type(SHIFT_TAB, ...'tell it', ENTER);
  await screen.shows(
    /→ RouteSteer · ada \(rule\)[\s\S]*Whom do you mean\?[\s\S]*1 ada[\s\S]*2 bea[\s\S]*a number is an answer/,
  );
  const choices = Array.from({ length: 9 }, (_, at) => `choice-${at}`);
  meta.answers = [{ type: 'question', text: 'Which of the nine is it?', choices }];
  await screen.type('3', ENTER);
  await screen.shows(/Which of the nine is it\?[\s\S]*1 choice-0[\s\S]*9 choice-8/);
  meta.answers = [{ type: 'failed', reason: 'no-model', text: 'No model answers.' }];
  await screen.type('2', ENTER);
  await screen.shows('No model answers. (no-model)');
  assert.deepEqual([meta.heard.map(({ text }) => text), switched], [['tell it', '3', '2'], []]);
});

verifies(
  ['RX.16'],
  'keys 1, 2, 3 of an empty line switch between what is installed, with a bar while it loads',
  async (t) => {
    const switched: string[] = [];
    const loads = Promise.withResolvers<string>();
    const infra = {
      look: async (): Promise<InfraFigures> => FIGURES,
      switchTo: (id: string, tell: (part: Pick<InfraFigures, 'reloading'>) => void) => {
        switched.push(id);
        tell({ reloading: { from: 'Q6_K', to: 'Q8_0', elapsedMs: 1, share: 0.4 } });
        return loads.promise;
      },
    };
    const screen = await createTuiStage(t, { clade: metaOf(THREE) }).screen({ infra });
    await screen.type('3');
    await screen.type('\u007f', SHIFT_TAB);
    await screen.shows('18.5 tok/s');
    await screen.type('a', '3', '\u007f', '\u007f', '3');
    await screen.shows(/reload +█+░+ 40 %/);
    await screen.type('1');
    loads.resolve('Q8_0 answers.');
    await screen.shows('Q8_0 answers.');
    assert.deepEqual(switched, ['ollama/hermes:Q8_0']);
  },
);

verifies.slow(
  ['R0.142', 'RX.3'],
  'every event reaches every screen by the log, and nobody asks while nothing happens',
  async (t) => {
    const clock = createManualClock();
    const meta = metaOf(THREE);
    const stage = createTuiStage(t, { golems: golemsOf([]), clade: meta }, clock);
    await stage.row('golem.ada.event', sent({ type: 'SkillsLoaded', count: 47 }));
    const watches = [await stage.watch(), await stage.watch(), await stage.watch()];
    await stage.row('golem.ada.event', sent({ type: 'SkillDrafted', tick: 8, trigger: 'disk' }));
    await stage.row('golem.ada.tick', tickOf(9));
    await clock.advance(300);
    for (const { board } of watches) {
      const [ada] = board.golems;
      assert.deepEqual([ada?.loaded, ada?.drafts.length, ada?.tick?.tick, board.feed.length], [47, 1, 9, 3]);
    }
    const asked = meta.asked;
    await clock.advance(61_000);
    assert.equal(meta.asked, asked);
    await stage.row('golem.ada.steer', { kind: 'steer', text: 'be calm' });
    meta.kept.steers = [steerOf('be calm')];
    await clock.advance(600);
    assert.deepEqual(
      watches.map(({ board }) => board.steers.length),
      [1, 1, 1],
    );
  },
);

verifies(
  ['R0.39', 'R1.73'],
  'a golem of another machine is shown from its rows, and what is told to it goes to Meta at home',
  async (t) => {
    const meta = metaOf(THREE);
    const stage = createTuiStage(t, { golems: golemsOf([]), clade: meta });
    const screen = await stage.screen({ focus: 'cid', hasColour: true });
    const body = tickOf(31, { golem: 'cid-gen1', saw: 'from afar' });
    await stage.log.take([
      { origin: 'c0ffee00', originSeq: 1, topic: 'golem.cid.tick', body: JSON.parse(JSON.stringify(body)) },
    ]);
    await screen.shows(/cid · lives · tick 31[\s\S]*saw: from afar/);
    assert.ok(screen.terminal.written.includes('\u001b[36mdisk-full\u001b[39m'));
    await screen.type(...'leave the suite alone', ENTER);
    await until(() => meta.heard.length === 1);
    assert.deepEqual(meta.heard, [{ text: 'leave the suite alone', focus: 'cid' }]);
  },
);

test('the golem in view is kept by its key when another comes to have its name, and no other takes its place', async (t) => {
  const golems = [seenOf('ada'), seenOf('ledger')];
  const meta = metaOf(golems);
  const stage = createTuiStage(t, { golems: golemsOf([]), clade: meta });
  const screen = await stage.screen({ focus: 'ledger' });
  const stop = new AbortController();
  const lines = told(stage, 'attach', { name: 'ledger' }, stop.signal)[Symbol.asyncIterator]();
  await lines.next();
  const other = { ...AFAR, called: 'ledger@c0ff', signer: '0xother' };
  golems.splice(1, 1, seenOf('ledger', { called: 'ledger@here' }), seenOf('ledger', other));
  await stage.log.take([{ origin: AFAR.where, originSeq: 1, topic: 'golem.ledger.presence', body: null }]);
  await screen.shows(/ledger@here · lives/);
  await screen.type(...'tell it to rest', ENTER);
  await until(() => meta.heard.length === 1);
  assert.deepEqual(meta.heard, [{ text: 'tell it to rest', focus: 'ledger@here' }]);
  const seen: string[] = [];
  await stage.row('golem.ledger.event', sent({ type: 'SkillsLoaded', count: 47 }, 'ledger'));
  while (seen.at(-1) !== 'ledger@here') seen.push(json((await lines.next()).value).golem);
  stop.abort();
  golems.splice(1, 1);
  await screen.type(...'and now', ENTER);
  await screen.shows('ledger@here is not seen here now. Esc shows all golems.');
  assert.doesNotMatch(screen.text(), /ledger@c0ff|ada/);
});

test('without Meta and without the golems’ room both are said, and rows are shown all the same', async (t) => {
  const stage = createTuiStage(t);
  await stage.row('golem.ada.presence', stateOf('ada'));
  await stage.log.take([
    { origin: 'c0ffee00', originSeq: 1, topic: 'golem.ada.presence', body: { ...stateOf('ada') } as never },
  ]);
  const screen = await stage.screen();
  assert.match(
    screen.text(),
    /room of the golems is not there[\s\S]*Meta is not there[\s\S]*ada .* here[\s\S]*ada@c0ff .* c0ffee00/,
  );
  await screen.type(...'hello', ENTER);
  await screen.shows(/› hello[\s\S]*Meta is not there/);
  await stage.row('golem.bea.presence', stateOf('bea'));
  await screen.shows(/3 golems[\s\S]*bea .* here/);
  const alone = await createTuiStage(t, { golems: golemsOf([stateOf('ada')]) }).screen();
  await alone.type(ENTER, TAB);
  await alone.shows(/\[Hermes\][\s\S]*disk-full · 70 %/);
});

const HOSTILE = '\u001b]0;owned\u0007\u001b[2Jrm -rf\u009b31m \u202eevil\u0000';

test('rows that are torn, hostile or of a newer version change nothing but what they say cleanly', async (t) => {
  const stage = createTuiStage(t, { golems: golemsOf([]), clade: metaOf(THREE) });
  const watch = await stage.watch();
  for (const body of [
    null,
    'text',
    [],
    {},
    { event: { type: 'SkillEaten' } },
    { event: { type: 'SkillsLoaded', count: 'many' } },
  ])
    for (const kind of ['event', 'tick', 'presence', 'heard']) await stage.row(`golem.ada.${kind}`, body);
  await stage.row('golem.nobody.tick', tickOf(9));
  await stage.row('golem.ada.tick', tickOf(9, { saw: HOSTILE, skills: [HOSTILE], text: 'x'.repeat(100_000) }));
  await until(() => watch.board.golems[0]?.tick !== null);
  const [ada] = watch.board.golems;
  assert.deepEqual([ada?.tick?.saw, ada?.active], ['rm -rf31m evil', ['rm -rf31m evil']]);
  assert.ok((ada?.seen.last?.length ?? 0) <= 400);
  for (const name of windowNames(watch.board)) windowOf(name, watch.board, { chosen: 0, now: NOW });
});

slow(
  'from 20 columns on and without colour a frame fits its terminal, also when that is resized in mid-frame',
  async (t) => {
    const meta = metaOf(THREE);
    meta.answers = [{ type: 'text', text: 'word '.repeat(400) }];
    const stage = createTuiStage(t, { golems: golemsOf([]), clade: meta });
    const screen = await stage.screen({ focus: 'ada' });
    await screen.type(...'speak', ENTER);
    await stage.row('golem.ada.tick', tickOf(9));
    const { terminal } = screen;
    for (const [columns, rows] of [
      [20, 24],
      [20, 5],
      [80, 24],
      [200, 60],
      [33, 1],
      [119, 14],
    ] as const) {
      terminal.columns = columns;
      terminal.rows = rows;
      for (const _ of WINDOW_NAMES) {
        terminal.take();
        await screen.type(TAB);
        assert.ok(screen.rows().length <= rows);
        assert.deepEqual(
          screen.rows().filter((row) => [...row].length > columns),
          [],
        );
        assert.ok(!terminal.written.includes('\u001b[36m') && !terminal.written.includes('\u001b[2m'));
      }
    }
    let asked = 0;
    Object.defineProperty(terminal, 'columns', { get: () => (asked++ % 2 === 0 ? 120 : 20) });
    await screen.type(TAB, TAB);
    assert.equal(screen.isOver(), false);
  },
);

slow('bells ring for what happens now, where they are wanted', async (t) => {
  for (const hasSound of [true, false]) {
    const stage = createTuiStage(t, { golems: golemsOf([]), clade: metaOf(THREE) });
    await stage.row('golem.ada.event', sent({ type: 'SkillCreated', name: 'past' }));
    const screen = await stage.screen({ hasSound });
    await stage.row('golem.ada.event', sent({ type: 'SkillCreated', name: 'now' }));
    await screen.shows('new skill now');
    await pause(350);
    const bells = EVENTS.SkillCreated.sound?.(mindEvent.parse({ type: 'SkillCreated' })).map(bellOf) ?? [];
    const rung = bells.filter((bell) => screen.terminal.written.split(bell).length === 2);
    assert.deepEqual(rung, hasSound ? bells : []);
  }
});

function told({ ground }: Pick<TuiStage, 'ground'>, name: string, input: unknown, signal: AbortSignal) {
  const command = screenCommands({ ground, isScreen: false }).find((one) => one.name === name);
  assert.ok(command);
  return command.run(command.input.parse(input) as never, { cwd: '/', signal });
}

const json = (output: CommandOutput | undefined) => JSON.parse(output?.type === 'line' ? output.text : '{}');

test('acceptance: without a terminal each event is one line of JSON with the windows that it changed, as the screen draws them', async (t) => {
  const stage = createTuiStage(t, { golems: golemsOf([]), clade: metaOf(THREE) });
  const watch = await stage.watch();
  const stop = new AbortController();
  const lines = told(stage, 'attach', { name: 'ada' }, stop.signal)[Symbol.asyncIterator]();
  const opened = json((await lines.next()).value);
  assert.deepEqual(Object.keys(opened.windows), windowNames({ market: null }));
  await stage.row('golem.bea.event', sent({ type: 'SkillDrafted', tick: 1, trigger: 'other' }, 'bea'));
  await stage.row('golem.ada.event', sent({ type: 'SkillsLoaded', count: 47 }));
  const { windows, ...said } = json((await lines.next()).value);
  assert.deepEqual(said, {
    type: 'mind',
    golem: 'ada',
    at: NOW,
    event: 'SkillsLoaded',
    window: 'hermes',
    text: '47 skills loaded',
  });
  await until(() => watch.board.golems[0]?.loaded === 47);
  const { blocks } = windowOf('hermes', watch.board, { focus: 'ada', chosen: -1, now: NOW });
  assert.deepEqual(windows.hermes, JSON.parse(JSON.stringify(blocks)));
  assert.deepEqual(Object.keys(windows), ['clade', 'hermes']);
  stop.abort();
  assert.equal((await lines.next()).done, true);
  const dead = createTuiStage(t, { golems: golemsOf([]), clade: metaOf([seenOf('eve', { status: 'dead' })]) });
  const last = await Array.fromAsync(told(dead, 'attach', { name: 'eve' }, new AbortController().signal));
  assert.deepEqual([last.length, json(last[1]).text], [2, 'eve is dead: nothing more comes of it.']);
  const none = createTuiStage(t, { golems: golemsOf([]), clade: metaOf([]) });
  const waits = told(none, 'attach', {}, AbortSignal.timeout(500))[Symbol.asyncIterator]();
  await waits.next();
  assert.match(json((await waits.next()).value).text, /^There is no golem yet\. This waits for one/);
  await waits.return?.();
  const [refusal] = await Array.fromAsync(told(stage, 'attach', { name: 'Ada' }, stop.signal));
  assert.deepEqual(refusal?.type === 'failure' && [refusal.code, refusal.fix], [
    'no-such-golem',
    'There are: ada, bea, cid.',
  ]);
});

slow('as a process a watch lasts until it is stopped, and gives its lines at once', async (t) => {
  const { environment } = createStage(t);
  const { PATH = '', HOME = '', TALARIA_HOME = '' } = environment.variables;
  const env = { PATH, HOME, TALARIA_HOME };
  const child = spawn(process.execPath, [MAIN, 'attach', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const [first] = await once(createInterface({ input: child.stdout }), 'line');
  assert.equal(JSON.parse(String(first)).type, 'opened');
  await pause(300);
  assert.equal(child.exitCode, null);
  child.kill();
  assert.deepEqual(await exit, [143, null]);
});

verifies(
  ['R1.72'],
  'embedded: a golem is lived in this process and shown, without a link; without its room that is said',
  async (t) => {
    const stage = createStage(t);
    const ground = groundOf(t, stage);
    const born = await runCommand(stage, 'golem create', { name: 'ada', domain: 'sim' }).catch(() => undefined);
    const { signal } = new AbortController();
    const lines = await Array.fromAsync(told({ ground }, 'run', { name: 'ada', ticks: 3 }, signal));
    if (!born) return assert.equal(lines[0]?.type === 'failure' && lines[0].code, 'no-door');
    assert.equal(born.failure, undefined);
    const all = lines.map(json);
    assert.match(all.at(-1)?.text, /^3 ticks lived, 3 in all/);
    assert.ok(all.some((said) => said.golem === 'ada' && JSON.stringify(said.windows.clade ?? '').includes('ada')));
    const [nobody] = await Array.fromAsync(told({ ground }, 'run', { name: 'bea' }, signal));
    assert.equal(nobody?.type === 'failure' && nobody.code, 'no-such-golem');
  },
);
