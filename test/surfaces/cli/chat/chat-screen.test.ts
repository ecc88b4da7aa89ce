/** The screen with a terminal in memory: what a person types, in what order it is answered, and what a key does. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Clock, systemClock } from '#base/clock.ts';
import type { ServerStep } from '#public/testing.ts';
import type { App } from '#surfaces/app/app.ts';
import { runChatScreen } from '#surfaces/cli/chat/chat-screen.ts';
import { UNREAD_MS } from '#surfaces/cli/questions.ts';
import { plain } from '#surfaces/cli/terminal-text.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { until } from '../../../ends.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { openServed } from '../cli-fixture.ts';
import { MemoryTerminal } from './view/memory-terminal.ts';

const ENTER = '\r';
const UP = '\u001b[A';
const CTRL_C = '\u0003';
const CTRL_R = '\u0012';
const ESCAPE = '\u001b';

function startScreen(t: TestContext, app: App) {
  const terminal = new MemoryTerminal();
  terminal.columns = 80;
  terminal.rows = 40;
  const historyFile = join(app.home.root, 'input-history');
  const stop = new AbortController();
  const ended = runChatScreen(app, { greeting: [], continueLast: false, historyFile, terminal }, stop.signal);
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  t.after(async () => {
    stop.abort();
    await over;
  });
  const screen = {
    /** All that was written since the last `forget`. */
    text: () => plain(terminal.written),
    forget: () => terminal.take(),
    shows: (text: string) => until(() => plain(terminal.written).includes(text)),
    type: (text: string, ...keys: readonly string[]) => {
      for (const key of [...text, ...keys]) terminal.press(key);
    },
    isOver: () => isOver,
    historyFile,
  };
  return screen;
}

async function openScreen(t: TestContext, steps: readonly ServerStep[], model?: string, clock: Clock = systemClock) {
  const served = await openServed(t, steps, { clock });
  const app = model === undefined ? served.app : await served.stage.open({ model });
  const screen = startScreen(t, app);
  await screen.shows(`${app.model().id} · $0`);
  return { ...served, app, screen };
}

/** Runs until the file `go` is there. */
const UNTIL_GO = 'while [ ! -e go ]; do sleep 0.05; done';
const letGo = (app: App) => writeFileSync(join(app.environment.cwd, 'go'), '');

describe('chat screen', () => {
  slow('first hour 2: without a model to steer each line becomes a turn of its own, in order', async (t) => {
    const { screen, app } = await openScreen(t, [], 'reflex');
    for (const name of ['a', 'b', 'c']) writeFileSync(join(app.environment.cwd, `${name}.txt`), `text of ${name}\n`);
    screen.type(`!${UNTIL_GO}`, ENTER);
    await screen.shows('running');
    for (const name of ['a', 'b', 'c']) screen.type(`show me ${name}.txt`, ENTER);
    await screen.shows('› show me c.txt');
    assert.match(screen.text(), /waiting, Up takes the last one back:[\s\S]*› show me a\.txt[\s\S]*› show me b\.txt/);
    screen.type('', UP);
    screen.type('\u0005 please', ENTER);
    await screen.shows('› show me c.txt please');
    screen.forget();
    letGo(app);
    await screen.shows('text of c');
    assert.match(
      screen.text(),
      /› show me a\.txt[\s\S]*text of a[\s\S]*› show me b\.txt[\s\S]*text of b[\s\S]*› show me c\.txt please/,
    );
  });

  slow(
    'first hour 2: a model that can be steered takes a line between two steps, and only then it leaves the list',
    async (t) => {
      const { screen, server, app } = await openScreen(t, [
        { calls: [{ name: 'terminal', arguments: { command: UNTIL_GO } }] },
        'Brief.',
        'It ran.',
      ]);
      screen.type('work', ENTER);
      await screen.shows('running');
      for (const line of ['be brief', '!echo now', 'and then?']) screen.type(line, ENTER);
      await screen.shows('› and then?');
      assert.equal(server.requests.length, 1);
      screen.forget();
      letGo(app);
      await screen.shows('It ran.');
      assert.match(
        screen.text(),
        /› be brief[\s\S]*Brief\.[\s\S]*› !echo now[\s\S]*⏺ \$ echo now[\s\S]*› and then\?[\s\S]*It ran\./,
      );
      assert.match(server.requests[1]?.raw ?? '', /be brief/);
      assert.match(server.requests[2]?.raw ?? '', /!echo now[\s\S]*and then/);
    },
  );

  it('first hour 2: after Ctrl-C what waits comes back to the editor, before what stands there', async (t) => {
    const { screen, server } = await openScreen(t, [{ fault: 'hang-after' }]);
    screen.type('hold on', ENTER);
    await screen.shows('The first half');
    for (const line of ['one', 'two', 'three', 'four', 'five']) screen.type(line, ENTER);
    await screen.shows('and 2 more');
    screen.type('half a line', CTRL_C);
    await screen.shows('stopped on request');
    assert.equal(server.requests.length, 1);
    server.push('All at once.');
    screen.type('', ENTER);
    await screen.shows('All at once.');
    assert.match(server.requests[1]?.raw ?? '', /"one\\ntwo\\nthree\\nfour\\nfive\\nhalf a line"/);
  });

  it('first hour 2: exit leaves at once, also while a turn runs', async (t) => {
    const { screen, server } = await openScreen(t, [{ fault: 'hang-after' }]);
    screen.type('hold on', ENTER);
    await screen.shows('The first half');
    screen.type('and then act', ENTER);
    await screen.shows('› and then act');
    screen.type('exit', ENTER);
    await until(screen.isOver);
    assert.equal(server.requests.length, 1, 'what waited is not sent any more');
  });

  slow('first hour 2: a command that changes the conversation waits for the turn, others run beside it', async (t) => {
    const { screen, app } = await openScreen(t, [], 'reflex');
    screen.type(`!${UNTIL_GO}`, ENTER);
    await screen.shows('running');
    screen.type('/clear', ENTER);
    await screen.shows('after this turn');
    screen.type('/permissions', ENTER);
    await screen.shows('You are asked before');
    assert.doesNotMatch(screen.text(), /new session/);
    letGo(app);
    await screen.shows('new session');
  });

  slow('first hour 7: a command is no answer to a question: it runs, and the question waits', async (t) => {
    const { screen, app } = await openScreen(t, [
      { calls: [{ name: 'terminal', arguments: { command: 'echo new > kept.txt' } }] },
      'Written.',
    ]);
    writeFileSync(join(app.environment.cwd, 'kept.txt'), 'old\n');
    screen.type('write it', ENTER);
    await screen.shows('y = once');
    screen.type('/permissions', ENTER);
    await screen.shows('You are asked before');
    screen.type('y', ENTER);
    await screen.shows('Written.');
    assert.equal(readFileSync(join(app.environment.cwd, 'kept.txt'), 'utf8'), 'new\n');
  });

  verifies(
    'core:approval:read-before-answered',
    'what is typed before or with a question is no answer to it',
    async (t) => {
      const clock = createManualClock();
      const overwrite = { calls: [{ name: 'terminal', arguments: { command: 'echo new > kept.txt' } }] };
      const { screen, app, server } = await openScreen(t, [overwrite, 'Left as it is.', 'Noted.'], undefined, clock);
      const kept = join(app.environment.cwd, 'kept.txt');
      writeFileSync(kept, 'old\n');
      screen.type('write it', ENTER, 'y');
      await screen.shows('asks to run this');
      screen.type('y', ENTER, ENTER);
      await clock.advance(UNREAD_MS - 1);
      screen.type('a', ENTER);
      assert.doesNotMatch(screen.text(), /y = once/);
      await clock.advance(1);
      await screen.shows('y = once');
      assert.equal(server.requests.length, 1);
      screen.type('', ENTER);
      await screen.shows('Left as it is.');
      assert.equal(readFileSync(kept, 'utf8'), 'old\n');
      assert.match(server.requests[1]?.raw ?? '', /the owner said no/);
      assert.match(screen.text(), /why: it empties a file[^\n]*\s+y = once/);
      screen.forget();
      screen.type('!', ENTER);
      await screen.shows('y!');
      await screen.shows('Noted.');
    },
  );

  it('first hour 7: a line cleared by Ctrl-C comes back with Up, also after a restart unless it holds a key', async (t) => {
    const { screen, server } = await openScreen(t, ['Sent.', 'Sent too.']);
    const key = `sk-${'a1B2'.repeat(12)}`;
    screen.type('a draft', CTRL_C);
    screen.type('', UP, ENTER);
    await screen.shows('Sent.');
    screen.type(`the key is ${key}`, CTRL_C, UP, ENTER);
    await screen.shows('Sent too.');
    assert.match(server.requests[0]?.raw ?? '', /"a draft"/);
    assert.match(server.requests[1]?.raw ?? '', /the key is/);
    assert.equal(readFileSync(screen.historyFile, 'utf8'), '"a draft"\n');
  });

  it('first hour 7: Ctrl-C twice leaves only on an empty line', async (t) => {
    const { screen } = await openScreen(t, ['Still here.']);
    screen.type('', CTRL_C);
    await screen.shows('Ctrl-C again leaves');
    screen.type('typed since', CTRL_C);
    screen.type('and this', CTRL_C);
    screen.type('are you there?', ENTER);
    await screen.shows('Still here.');
    assert.equal(screen.isOver(), false);
    screen.type('', CTRL_C, CTRL_C);
    await until(screen.isOver);
  });

  it('first hour 7: the first Ctrl-C stops what runs, the second leaves unless a line was begun', async (t) => {
    const { screen } = await openScreen(t, [{ fault: 'hang-after' }, { fault: 'hang-after' }]);
    screen.type('hold on', ENTER);
    await screen.shows('The first half');
    screen.type('begun', CTRL_C, CTRL_C);
    await screen.shows('stopped on request');
    screen.forget();
    assert.equal(screen.isOver(), false);
    screen.type('again', ENTER);
    await screen.shows('The first half');
    screen.type('', CTRL_C, CTRL_C);
    await until(screen.isOver);
  });

  it('first hour 7: ? shows the keys until the next one, Ctrl-R finds an earlier line', async (t) => {
    const { screen, server } = await openScreen(t, ['One.', 'Two.', 'Three.']);
    for (const [line, answer] of [
      ['the first line', 'One.'],
      ['another', 'Two.'],
    ] as const) {
      screen.type(line, ENTER);
      await screen.shows(answer);
    }
    screen.forget();
    screen.type('?');
    await screen.shows('Ctrl-R        searches earlier lines');
    screen.type('', CTRL_R);
    screen.type('FIRST');
    await screen.shows('→ the first line');
    screen.type('', ENTER, ENTER);
    await screen.shows('Three.');
    assert.match(server.requests[2]?.raw ?? '', /Two\.[\s\S]*"the first line"/);
    screen.forget();
    screen.type('a ?', CTRL_R, ESCAPE);
    await screen.shows('a ?');
    assert.doesNotMatch(screen.text(), /Ctrl-D/);
  });
});
