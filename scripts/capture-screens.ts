/**
 * The screens of golems as pictures: `node scripts/capture-screens.ts [--only 80x24] [--keep]`. In a throw-away home golems of the domains `sim` and
 * `watch` are born, live, rest and die; then the windows are shown in tmux, read, and written to docs/images/screens-WINDOW-SIZE.svg: Clade by
 * `talaria clade`, Hearth by `talaria attach` and the others by `talaria run`, which lives the golem meanwhile.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { WindowName } from '#surfaces/tui/event-table.ts';
import { WINDOW_NAMES, WINDOWS } from '#surfaces/tui/windows.ts';
import { offer } from './capture/market-offers.ts';
import { svgOf } from './capture/terminal-picture.ts';

const SIZES = ['80x24', '200x60'];
const PATIENCE_MS = 120_000;
const root = resolve(import.meta.dirname, '..');
const talaria = join(root, 'bin/talaria');
/** To Meta, before the windows are shown. */
const SAID = ['how are my golems', 'tell ada to leave the flaky suite alone'];
const { values } = parseArgs({ options: { only: { type: 'string' }, keep: { type: 'boolean', default: false } } });

async function captureAll(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'talaria-screens-'));
  try {
    settle(home);
    await offer(join(home, 'home'));
    for (const size of SIZES.filter((one) => (values.only ?? one) === one)) await capture(home, size);
  } finally {
    if (values.keep) console.log(`home: ${home}`);
    else rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A clade with a past: one that lives on, one that died and left its skills, one at rest that looks at a folder. */
function settle(home: string): void {
  const work = join(home, 'work');
  mkdirSync(work);
  const say = (...words: readonly string[]) => {
    const { status, stderr } = spawnSync('sh', [talaria, ...words], { env: env(home), cwd: work, encoding: 'utf8' });
    if (status !== 0) throw new Error(`talaria ${words.join(' ')}: ${stderr}`);
  };
  for (const name of ['ada', 'bea']) {
    say('golem', 'create', name, '--domain', 'sim');
    say('golem', 'run', name, '--ticks', '400');
  }
  say('golem', 'retire', 'bea', '--yes');
  say('golem', 'create', 'ledger', '--domain', 'watch', '--dir', work);
  say('golem', 'run', 'ledger', '--ticks', '1');
}

function env(home: string): Record<string, string> {
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  return { PATH, LANG, HOME: home, TALARIA_HOME: join(home, 'home'), TERM: 'xterm-256color' };
}

async function capture(home: string, size: string): Promise<void> {
  const tmux = (...words: readonly string[]) =>
    spawnSync('tmux', ['-L', `talaria-screens-${process.pid}`, ...words], { env: env(home), encoding: 'utf8' }).stdout;
  const open = (words: string) => {
    const [columns = '', rows = ''] = size.split('x');
    const place = ['-d', '-s', words, '-x', columns, '-y', rows, '-c', join(home, 'work')];
    tmux('new-session', ...place, `sh ${talaria} ${words}`);
    return screenOf(words, size, tmux);
  };
  try {
    const run = open('run ada');
    await run.shows('[Hearth]');
    for (const line of SAID) {
      run.type('-l', line);
      run.type('Enter');
      await sleep(1_500);
    }
    await open('clade').picture('clade');
    await open('attach ada').picture('hearth');
    for (const name of WINDOW_NAMES.slice(2)) {
      run.type('Tab');
      await run.picture(name);
    }
    // Each ends in order, before the home goes or is lived in again.
    for (const session of tmux('list-sessions', '-F', '#{session_name}').trim().split('\n'))
      tmux('send-keys', '-t', session, 'C-c');
    const end = performance.now() + PATIENCE_MS;
    while (tmux('list-sessions') !== '' && performance.now() < end) await sleep(200);
  } finally {
    tmux('kill-server');
  }
}

function screenOf(session: string, size: string, tmux: (...words: readonly string[]) => string) {
  const shown = () => tmux('capture-pane', '-p', '-e', '-t', session);
  const shows = async (text: string) => {
    const end = performance.now() + PATIENCE_MS;
    while (!shown().includes(text)) {
      if (performance.now() > end) throw new Error(`${session} does not show ${text}:\n${shown()}`);
      await sleep(100);
    }
  };
  const picture = async (name: WindowName) => {
    await shows(`[${WINDOWS[name]}]`);
    await sleep(700);
    const file = `docs/images/screens-${name}-${size}.svg`;
    writeFileSync(join(root, file), svgOf(shown(), `${WINDOWS[name]}, ${size}`, size.split('x').map(Number)));
    console.log(`${file}: talaria ${session}`);
  };
  return { shows, picture, type: (...keys: readonly string[]) => tmux('send-keys', '-t', session, ...keys) };
}

if (spawnSync('tmux', ['-V']).status === 0) await captureAll();
else {
  console.error('tmux is not installed (Debian: apt-get install tmux)');
  process.exitCode = 1;
}
