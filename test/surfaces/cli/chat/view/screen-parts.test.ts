/** The parts of the screen by themselves: footer, hidden input, working line, letting go of what has scrolled away. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Container, Text, TuiMainScreen, visibleWidth } from '@earendil-works/pi-tui';
import { NO_USAGE } from '#core/model/model-client.ts';
import {
  elapsed,
  Footer,
  HistorySearch,
  keysPanel,
  letGoOfOldParts,
  QuestionPanel,
  SecretInput,
  TurnMeter,
  WaitingPanel,
  WorkingLine,
} from '#surfaces/cli/chat/screen-parts.ts';
import { KEYS } from '#surfaces/cli/chat/typed-line.ts';
import { createPaint, plain } from '#surfaces/cli/terminal-text.ts';
import { until } from '../../../../ends.ts';
import { verifies } from '../../../../verifies.ts';
import { MemoryTerminal } from './memory-terminal.ts';

const paint = createPaint(true);

describe('screen parts', () => {
  verifies('core:cli:header-names-model', 'the footer is one line, with model and money first', () => {
    const footer = new Footer(paint);
    footer.show({ model: 'openai/m', cost: 0.0123, context: 0.42, session: '20260101_000000_abcdef' });
    assert.deepEqual(footer.render(100).map(plain), [
      'openai/m · $0.01 · context 42 % · /help · 20260101_000000_abcdef',
    ]);
    const [narrow = ''] = footer.render(20);
    assert.ok(visibleWidth(narrow) <= 20);
    assert.match(plain(narrow), /^openai\/m · \$0\.01/);
    footer.show({ model: '日本/模型', cost: null, context: undefined, session: '' });
    for (const width of [1, 2, 3, 7]) assert.ok(visibleWidth(footer.render(width)[0] ?? '') <= width);
  });

  it('hidden input shows a dot a character, and gives back what was typed', () => {
    const input = new SecretInput();
    for (const key of 'secret-key') input.handleInput(key);
    const shown = plain(input.render(40)[0] ?? '');
    assert.match(shown, /•{10}/);
    assert.doesNotMatch(shown, /s|k/);
    assert.equal(input.getValue(), 'secret-key');
  });

  it('a question stands until it is answered, without what a terminal would take for a command', () => {
    const panel = new QuestionPanel(paint);
    panel.show({ lines: ['one\u001b[2J', 'two'] });
    assert.deepEqual(
      panel.container.render(20).map((line) => plain(line).trimEnd()),
      ['', 'one', 'two'],
    );
    panel.show(undefined);
    assert.deepEqual(panel.container.render(20), []);
  });

  verifies.slow(
    'core:cli:streams',
    'waiting shows elapsed time, and nothing runs while nothing is under way',
    async () => {
      const labels: string[] = [];
      const tui = new TuiMainScreen(new MemoryTerminal());
      const line = new WorkingLine(tui, paint, (time) => {
        labels.push(time);
        return `working · ${time}`;
      });
      assert.deepEqual(line.container.render(40), []);
      line.show();
      assert.match(plain(line.container.render(40).join('\n')), /working · \d+ s/);
      await until(() => labels.length >= 2);
      line.hide();
      const shown = labels.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(labels.length, shown);
      assert.deepEqual([elapsed(999), elapsed(59_999), elapsed(61_000)], ['0 s', '59 s', '1 min 1 s']);
    },
  );

  it('adds up money and says what goes on', () => {
    const meter = new TurnMeter();
    assert.equal(meter.contextOf(1_000), undefined);
    const step = { type: 'step-end', step: 1, model: 'm', tier: 'T2', finish: 'stop', cost: 0.1, ms: 1 } as const;
    meter.take({ ...step, usage: { ...NO_USAGE, inputTokens: 250 } });
    assert.equal(meter.contextOf(1_000), 0.25);
    meter.take({ type: 'reasoning-delta', text: 'hm' });
    assert.equal(meter.activity, 'thinking');
    const end = {
      type: 'turn-end',
      outcome: 'done',
      text: '',
      steps: 1,
      usage: NO_USAGE,
      model: 'm',
      tier: 'T2',
      ms: 1,
    } as const;
    meter.take({ ...end, cost: 0.1 });
    meter.take({ ...end, cost: 0.2 });
    assert.ok(Math.abs((meter.cost ?? 0) - 0.3) < 1e-9);
    meter.take({ ...end, cost: null });
    meter.take({ ...end, cost: 0.2 });
    assert.equal(meter.cost, null);
  });

  it('lets go of what has scrolled away without drawing anything anew', () => {
    const terminal = new MemoryTerminal();
    const tui = new TuiMainScreen(terminal);
    const transcript = new Container();
    tui.addChild(transcript);
    tui.addChild(new Text('footer', 0, 0));
    tui.start();
    for (let i = 0; i < 200; i++) {
      transcript.addChild(new Text(`part ${i} ${'word '.repeat(i % 12)}`, 0, 0));
      letGoOfOldParts(tui, transcript, 40);
      tui.renderNow();
      assert.ok(transcript.children.length <= 52);
    }
    const written = terminal.take();
    assert.ok(!written.includes('\u001b[3J'), 'the history of the terminal was wiped');
    for (let i = 0; i < 200; i++) assert.ok(written.includes(`part ${i} `));
    transcript.addChild(new Text('the last', 0, 0));
    tui.renderNow();
    assert.match(plain(terminal.take()), /^the last\s+footer/);
    tui.stop();
  });

  it('first hour 2: lines that wait are shown in order, the first ones in full, the others are counted', () => {
    const panel = new WaitingPanel(paint);
    const look = (width: number) => panel.render(width).map(plain);
    assert.deepEqual(look(60), []);
    panel.show(['one', `two\nlines \u001b[2J`, `/model add sk-sentinel`, 'four', 'five']);
    assert.deepEqual(look(60), [
      '',
      'waiting, Up takes the last one back:',
      '› one',
      '› two lines',
      '› /model add (hidden)',
      'and 2 more',
    ]);
    for (const width of [1, 2, 5, 20]) for (const row of look(width)) assert.ok(visibleWidth(row) <= width);
  });

  it('first hour 7: the keys fit into 80 columns, and into fewer without breaking a line', () => {
    const panel = keysPanel(paint);
    const rows = panel.render(80).map(plain);
    assert.equal(rows.length, KEYS.length + 1);
    for (const [keys, what] of KEYS)
      assert.ok(
        rows.some((row) => row.startsWith(keys) && row.endsWith(what)),
        what,
      );
    for (const row of panel.render(20)) assert.ok(visibleWidth(row) <= 20);
  });

  it('first hour 7: earlier lines are searched from the newest, whatever case they are in', () => {
    const picked: (string | undefined)[] = [];
    const search = new HistorySearch(['git log', 'show A', 'Git status', 'git log'], paint, (line) =>
      picked.push(line),
    );
    const look = () => search.render(40).map((row) => plain(row).trimEnd());
    for (const key of 'git') search.handleInput(key);
    assert.deepEqual(look(), ['  Git status', '→ git log', 'search: git']);
    search.handleInput('\u0012');
    assert.deepEqual(look().slice(0, 2), ['→ Git status', '  git log']);
    search.handleInput('\u001b[A');
    search.handleInput('\r');
    search.handleInput('x');
    assert.deepEqual(look(), ['  no earlier line has this', 'search: gitx']);
    search.handleInput('\r');
    search.handleInput('\u001b');
    assert.deepEqual(picked, ['Git status', undefined, undefined]);
  });
});
