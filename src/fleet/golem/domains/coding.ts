// Owns the domain `coding`: a repository whose tests are looked at, and its own tasks against what they say. Knows no golem and no model; the
// worktree and its git are worktree.ts. Invariants: without a model nothing but a task of the repository is run; what the tests print is text
// and nothing follows from it; only what passed the tests is committed, on `golem/NAME`, and nothing is pushed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, known } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, escapeRegExp, headTail } from '#base/text.ts';
import { textOf } from '#core/tools/walls/git-folders.ts';
import type { GolemSettings } from '../golem-toml.ts';
import {
  type Acted,
  type Action,
  ARCHETYPES,
  type DomainPlugin,
  type Guarded,
  type Observation,
  type Outcome,
} from './domain.ts';
import { createLifetime, createPast, type EnclosedRun, MOST_CHARS, type RunLine } from './enclosed.ts';
import { type CheckoutRefusal, findCheckout, type Worktree, type WorktreePlace } from './worktree.ts';

/** `every`: 900, `timeout`: 600 seconds. */
export interface CodingOptions extends WorktreePlace, Partial<GolemSettings['coding']> {
  /** Its scratch folder is the worktree, and lines run there. */
  readonly run: RunLine;
  readonly clock: Clock;
  /** A model works in the worktree, with the agent's own tools. */
  readonly model: boolean;
}

export async function openCodingDomain(
  options: CodingOptions,
): Promise<Result<DomainPlugin, CheckoutRefusal | 'no-test-command'>> {
  const found = await findCheckout(options);
  if (!found.ok) return found;
  const { top, open } = found.value;
  const test = options.test ?? testCommandIn(top);
  if (test === undefined)
    return refuse('no-test-command', `${top} names no test in package.json, Makefile, tasks/test.sh, test.sh.`);
  try {
    return ok(new CodingDomain({ ...options, test }, await open()));
  } catch (error) {
    if (errorCode(error) !== 'git-failed') throw error;
    return refuse('git-failed', errorText(error));
  }
}

interface Tested {
  readonly ran: EnclosedRun;
  /** Of the worktree, when they had run. */
  readonly mark: string;
  /** Monotonic, ms. */
  readonly at: number;
}

const LONG_CHARS = 40_000;
const DENIED = ['publish', 'deploy', 'release', 'push'];
const FILE_TOOLS = ['read_file', 'write_file', 'patch', 'search_files', 'terminal'];

class CodingDomain implements DomainPlugin {
  readonly id = 'coding';
  readonly archetypes = ARCHETYPES.coding;
  readonly categories = ['tests'];
  readonly tools: readonly string[];
  readonly #options: CodingOptions & { readonly test: string };
  readonly #tree: Worktree;
  readonly #life = createLifetime();
  readonly #past = createPast();
  readonly changed = this.#past.changed;
  readonly close = this.#life.close;
  #last: Tested | undefined;
  /** Commit of the checkout that was taken in last. */
  #seen: string | undefined;
  /** Tasks since the last conclusion. */
  #done: readonly string[] = [];

  constructor(options: CodingOptions & { readonly test: string }, tree: Worktree) {
    this.#options = options;
    this.#tree = tree;
    this.tools = options.model ? FILE_TOOLS : [];
  }

  observe(signal: AbortSignal): Promise<Observation> {
    return this.#life.within(signal, async (either) => {
      try {
        const note = await this.#follow();
        const { ran } = (await this.#stillTrue(either)) ?? (await this.#test(either));
        return observed(this.#options.test, ran, note);
      } catch (error) {
        if (errorCode(error) !== 'git-failed') throw error;
        return { text: ellipsize(errorText(error), MOST_CHARS), tag: 'unseen', signals: [] };
      }
    });
  }

  candidates(): readonly Action[] {
    const all = commandsIn(this.#tree.path);
    const labels = [...all.keys()].filter((label) => this.#isAllowed(label, all));
    return labels.map((label) => ({ tool: 'task', label }));
  }

  act(action: Action, signal: AbortSignal): Promise<Acted> {
    return this.#life.within(signal, async (either) => {
      const none = { hasChanged: false, isOver: false };
      if (this.guard(action) !== 'allow') {
        const isTask = action.tool === 'task' && commandsIn(this.#tree.path).has(action.label);
        return { status: 'blocked', blockReason: isTask ? 'denied' : 'unknown-action', text: '', ms: 0, ...none };
      }
      const before = this.#last?.ran;
      const ran = await this.#run(action.label, MOST_CHARS, either);
      if (ran.status === 'blocked') return { ...ran, ...none };
      this.#done = [...this.#done, action.label];
      const { ran: after } = await this.#test(either);
      const hasChanged = after.status !== 'blocked' && before !== undefined && shape(after) !== shape(before);
      return { status: ran.status, text: ran.text, ms: ran.ms, hasChanged, isOver: after.status === 'ok' };
    });
  }

  verify(_observation: Observation, signal: AbortSignal): Promise<Outcome> {
    return this.#life.within(signal, async (either) => {
      const last = this.#last;
      const isSame = last !== undefined && last.mark === (await this.#tree.mark(either));
      const { status, exitCode } = (isSame ? last : await this.#test(either)).ran;
      const source = this.#options.test;
      const summary = { ok: 'passes', failed: 'fails', blocked: 'could not be run' }[status];
      return {
        ...{ verified: status !== 'blocked', success: status === 'ok', summary: `${source} ${summary}`, source },
        ...(exitCode === undefined ? {} : { value: exitCode, unit: 'exit code' }),
      };
    });
  }

  guard({ tool, label }: Action): Guarded {
    return tool === 'task' && this.#isAllowed(label, commandsIn(this.#tree.path)) ? 'allow' : 'deny';
  }

  verifyClaim(text: string): 'ok' | 'falsified' | 'unknown' {
    const named = [...text.matchAll(/`(npm run [^\s`]+|make [^\s`=]+|sh tasks\/[^\s`]+\.sh)`/g)];
    const all = commandsIn(this.#tree.path);
    if (named.length === 0) return 'unknown';
    return named.every(([, label = '']) => all.has(label)) ? 'ok' : 'falsified';
  }

  conclude({ verified, success }: Outcome, signal: AbortSignal): Promise<void> {
    const { name, test } = this.#options;
    const what = this.#done.join(', ') || 'edits';
    this.#done = [];
    return this.#life.within(signal, () =>
      verified && success ? this.#tree.commit(`golem ${name}: ${what}\n\n${test} passes.`) : this.#tree.undo(),
    );
  }

  settle(signal: AbortSignal): Promise<void> {
    return this.#life.within(signal, () => this.#tree.remove());
  }

  async #follow(): Promise<string | undefined> {
    const head = await this.#tree.head();
    if (head === this.#seen) return undefined;
    this.#last = undefined;
    const note = await this.#tree.follow(head);
    this.#seen = head;
    return note;
  }

  /** What passed, a while ago at most, on what the worktree still is. */
  async #stillTrue(signal: AbortSignal): Promise<Tested | undefined> {
    const { clock, every = 900 } = this.#options;
    const last = this.#last;
    if (last?.ran.status !== 'ok' || clock.monotonic() - last.at >= every * 1_000) return undefined;
    return (await this.#tree.mark(signal)) === last.mark ? last : undefined;
  }

  async #test(signal: AbortSignal): Promise<Tested> {
    const ran = await this.#run(this.#options.test, LONG_CHARS, signal);
    const { clock } = this.#options;
    const tested = { ran, mark: await this.#tree.mark(signal), at: clock.monotonic() };
    this.#last = tested;
    const bodies = [...commandsIn(this.#tree.path)].map(([label, body]) => [label, sha256(body)]);
    if (ran.status !== 'blocked') this.#past.note({ ...Object.fromEntries(bodies), tests: ran.status }, clock.now());
    return tested;
  }

  #run(line: string, chars: number, signal: AbortSignal): Promise<EnclosedRun> {
    const { timeout = 600, hosts = [] } = this.#options;
    const paths = this.#tree.reads.map((path) => `${path}:ro`);
    return this.#options.run({ line, paths, hosts, chars, timeoutMs: timeout * 1_000 }, signal);
  }

  #isAllowed(label: string, all: Commands): boolean {
    const { test, deny = DENIED } = this.#options;
    const body = all.get(label);
    if (body === undefined || label === test || label === test.replace(/^npm test$/, 'npm run test')) return false;
    const isDenied = (word: string) =>
      label.toLowerCase().includes(word.toLowerCase()) || new RegExp(`\\b${escapeRegExp(word)}\\b`, 'i').test(body);
    return !isHook(label, all) && !deny.some(isDenied);
  }
}

/** What can be typed in a repository, and what it stands for. */
type Commands = ReadonlyMap<string, string>;

const manifest = z.object({ scripts: z.record(z.string(), z.string()).optional() });
/** Lines of a Makefile that begin a rule, with its recipe. */
const RULE = /^([\w-]+(?: +[\w-]+)*) *:{1,2}(?![:=])[^\n]*((?:\n\t[^\n]*)*)/gm;

function commandsIn(folder: string): Commands {
  const read = (name: string) => textOf(join(folder, name));
  const json = parseJson(read('package.json'));
  const scripts = manifest.safeParse(json.ok ? json.value : {}).data?.scripts ?? {};
  const makefile = ['GNUmakefile', 'makefile', 'Makefile'].map(read).find((text) => text !== '') ?? '';
  const tasks = known(() => readdirSync(join(folder, 'tasks')).sort()) ?? [];
  const found = [
    ...Object.entries(scripts).map(([name, body]) => [`npm run ${name}`, body] as const),
    ...[...makefile.matchAll(RULE)].flatMap(([, names = '', recipe = '']) =>
      names.split(/ +/).map((name) => [`make ${name}`, recipe] as const),
    ),
    ...tasks.filter((name) => name.endsWith('.sh')).map((name) => [`sh tasks/${name}`, read(`tasks/${name}`)] as const),
  ];
  const all = new Map<string, string>();
  // A label is a line of the shell as it stands.
  for (const [label, body] of found)
    if (/^[a-z]+ (?:run )?\w[\w:./-]*$/.test(label)) all.set(label, `${all.get(label) ?? ''}${body}`);
  return all;
}

const OF_NPM = /^npm run (?:prepare|(?:pre|post)(?:(?:un)?install|publish|pack|version|prepare|test|start|stop))$/;

/** What npm runs by itself, around another script or around what it does. */
function isHook(label: string, all: Commands): boolean {
  return OF_NPM.test(label) || (/^npm run (?:pre|post)/.test(label) && all.has(label.replace(/ (?:pre|post)/, ' ')));
}

function testCommandIn(folder: string): string | undefined {
  const all = commandsIn(folder);
  const script = all.get('npm run test');
  if (script !== undefined && !script.includes('no test specified')) return 'npm test';
  const named = ['make test', 'sh tasks/test.sh'].find((label) => all.has(label));
  return named ?? (textOf(join(folder, 'test.sh')) === '' ? undefined : 'sh test.sh');
}

const ERROR = /\b(?:\w*error|\w*exception|fatal|panic|cannot|could not|failed|failure|not ok|assertion)\b/i;
/** Good news, and lines in which npm says what it runs. */
const NO_ERROR = /\b(?:0|no) (?:errors?|failures?|failed)\b|^\s*>/i;
const NAMES = /(?<![A-Za-z])'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|\S*(?:[/\\]|\w\.\w)\S*/g;

function observed(command: string, { status, text, exitCode }: EnclosedRun, note = ''): Observation {
  const test = ellipsize(command, 200);
  if (status === 'ok') return { text: note, tag: 'quiet', signals: [] };
  if (status === 'blocked')
    return { text: ellipsize(`${test} could not be run: ${text}`, MOST_CHARS), tag: 'unseen', signals: [] };
  const errors = text
    .split('\n')
    .filter((line) => ERROR.test(line) && !NO_ERROR.test(line))
    .slice(0, 10)
    .map((line) => ellipsize(line.trim(), 200));
  const [first = ''] = errors;
  const shown = first.replaceAll(NAMES, ' ').toLowerCase();
  const end = exitCode === undefined ? 'it did not end by itself' : `exit ${exitCode}`;
  const start = [note, `${test} failed (${end})`, ...errors, 'The end of what it printed:'].join('\n').trim();
  return {
    text: `${start}\n${headTail(text, 0, MOST_CHARS - start.length - 60)}`,
    tag:
      shown
        .match(/[a-z]+/g)
        ?.slice(0, 6)
        .join('-') ?? 'tests-fail',
    signals: [{ name: 'tests', value: 1 }],
  };
}

/** Without what is another at each run: how long things took, and when it was. */
const PASSING = /(?<!\d)\d+(?:\.\d+)?\s?(?:ms|µs|s|seconds?)\b|(?<=duration_ms )[\d.]+|\d\d:\d\d:\d\d\S*/g;

function shape({ status, text }: EnclosedRun): string {
  return `${status} ${text.replaceAll(PASSING, '#')}`;
}
