/**
 * The captures of docs/guide/first-hour.md: `node scripts/first-hour.ts` types what the guide says into a real terminal (tmux), in a fresh
 * home and folder, and writes what stands there between the marks of the page. `--check` only compares, times and ids aside;
 * `--keep FOLDER` leaves every capture there, at 80 and at 140 columns. Part two talks to the scripted server of the tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Scene, scenes } from './first-hour/scenes.ts';
import { startFirstHourServer } from './first-hour/server.ts';

const PAGE = resolve(import.meta.dirname, '../docs/guide/first-hour.md');
const PATIENCE_MS = 60_000;
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false }, keep: { type: 'string' } } });

const page = readFileSync(PAGE, 'utf8');
const captures = await play(80);
if (values.keep !== undefined) keep(values.keep, { 80: captures, 140: await play(140) });
const written = captures.reduce((text, [name, shown]) => replaceCapture(text, name, shown), page);
if (!values.check) writeFileSync(PAGE, written);
else if (steady(written) !== steady(page)) {
  const fresh = join(tmpdir(), 'first-hour.md');
  writeFileSync(fresh, written);
  console.error(`the captures of docs/guide/first-hour.md are not what is shown now: diff ${PAGE} ${fresh}`);
  process.exitCode = 1;
}
console.log(`first hour: ${captures.length} captures ${values.check ? 'compared' : 'written'}`);

type Captures = readonly (readonly [name: string, shown: string])[];

async function play(columns: number): Promise<Captures> {
  const root = mkdtempSync(join(tmpdir(), 'talaria-first-hour-'));
  const server = await startFirstHourServer();
  const terminal = openTerminal(root, columns);
  try {
    const captures: (readonly [string, string])[] = [];
    for (const scene of scenes(server.baseUrl)) captures.push([scene.name, await playScene(terminal, scene, root)]);
    return captures;
  } finally {
    terminal.close();
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

async function playScene(terminal: Terminal, scene: Scene, root: string): Promise<string> {
  for (const { type, press = ['Enter'], until } of scene.steps) {
    terminal.type(type ?? '', press);
    await terminal.shows(until);
  }
  const lines = terminal.look().split('\n');
  const from = scene.from ? lines.findIndex((line) => scene.from?.test(line)) : 0;
  return lines.slice(Math.max(0, from)).join('\n').replaceAll(`${root}/home`, '~');
}

interface Terminal {
  type(text: string, keys: readonly string[]): void;
  look(): string;
  shows(expected: RegExp): Promise<void>;
  close(): void;
}

function openTerminal(root: string, columns: number): Terminal {
  const socket = join(root, 'tmux');
  const tmux = (...args: readonly string[]) => {
    const run = spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`tmux ${args[0]}: ${run.stderr || run.error}`);
    return run.stdout;
  };
  mkdirSync(join(root, 'home'));
  const talaria = `talaria() { sh ${resolve(import.meta.dirname, '../bin/talaria')} "$@"; }`;
  writeFileSync(join(root, 'profile'), `PS1='$ '\n${talaria}\ncd ~\n`);
  const shell = `env -i HOME=${root}/home PATH="$PATH" TERM="$TERM" LC_ALL=C.UTF-8 ENV=${root}/profile sh`;
  tmux('new-session', '-d', '-s', 's', '-x', String(columns), '-y', '48', shell);
  const look = () => tmux('capture-pane', '-p', '-t', 's').trimEnd();
  return {
    type: (text, keys) => {
      if (text !== '') tmux('send-keys', '-t', 's', '-l', text);
      if (keys.length > 0) tmux('send-keys', '-t', 's', ...keys);
    },
    look,
    shows: async (expected) => {
      const end = performance.now() + PATIENCE_MS;
      let before = '';
      for (;;) {
        const screen = look();
        if (expected.test(screen) && still(screen) === before) return;
        if (performance.now() > end) throw new Error(`never shown: ${expected}\n${screen}`);
        before = still(screen);
        await new Promise((done) => setTimeout(done, 250));
      }
    },
    close: () => void spawnSync('tmux', ['-S', socket, 'kill-server']),
  };
}

/** Without the line that moves while something runs. */
function still(screen: string): string {
  return screen.replace(/^.*Ctrl-C (?:stops|leaves).*$/gm, '');
}

/** The block of code behind `<!-- capture: NAME -->`. */
function replaceCapture(text: string, name: string, shown: string): string {
  const block = new RegExp(`(<!-- capture: ${name} -->\n\`\`\`text\n)[\\s\\S]*?(\n\`\`\`)`);
  if (!block.test(text)) throw new Error(`the page has no capture ${name}`);
  return text.replace(block, (_, before: string, after: string) => before + shown + after);
}

/** What differs from run to run, made the same. */
function steady(text: string): string {
  return text
    .replace(/\d{8}_\d{6}_[0-9a-f]{6}/g, 'SESSION')
    .replace(/\d+(?:\.\d+)? (?:ms|s|min)\b/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?/g, 'DATE')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/[\d.]+ (?:B|KB|MB|GB)\b/g, 'SIZE')
    .replace(/\d+ cores/g, 'CORES')
    .replace(/bubblewrap [\d.]+/g, 'WALLS')
    .replace(/[\u2800-\u28ff]/g, '*')
    .replace(/[d-][rwx-]{9} .*? (\S+)$/gm, 'FILE $1')
    .replace(/~?\b\d+(?:\.\d+)?(?= *%|\s+tokens| of \d)|~\d+/g, 'N')
    .replace(/ +/g, ' ')
    .replace(/─+/g, '─');
}

function keep(folder: string, all: Readonly<Record<string, Captures>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [columns, captures] of Object.entries(all))
    for (const [name, shown] of captures) writeFileSync(join(folder, `${name}-${columns}.txt`), `${shown}\n`);
}
