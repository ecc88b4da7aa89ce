// Owns the domain `watch`: checks that the owner named, the remedies against what they find, and nothing else. Knows no walls and no golem.
// Invariants: what runs is a line of the owner's, never words of an observation; what needs the owner is never run; a check that could not be
// run is neither good nor bad.
import type { Clock } from '#base/clock.ts';
import { ellipsize, headTail, plural } from '#base/text.ts';
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

type Own<T extends { readonly name: string; readonly run: string }> = Pick<T, 'name' | 'run'> & Partial<T>;
/** Due at each tick unless it says more. */
type Check = Own<GolemSettings['check'][number]>;
type Remedy = Own<GolemSettings['remedy'][number]>;

export interface WatchOptions {
  readonly checks: readonly Check[];
  readonly remedies: readonly Remedy[];
  readonly run: RunLine;
  readonly clock: Clock;
}

export function createWatchDomain(options: WatchOptions): DomainPlugin {
  return new WatchDomain(options);
}

interface Look {
  readonly check: Check;
  readonly ran: EnclosedRun;
  /** Monotonic, ms. */
  readonly at: number;
  /** Share of the lines that it printed that are other than when it last passed; 0 where it does not pass. */
  readonly change: number;
}

class WatchDomain implements DomainPlugin {
  readonly id = 'watch';
  readonly archetypes = ARCHETYPES.watch;
  readonly categories: readonly string[];
  readonly tools = [];
  readonly #options: WatchOptions;
  readonly #life = createLifetime();
  readonly #past = createPast();
  readonly changed = this.#past.changed;
  readonly close = this.#life.close;
  readonly #looks = new Map<string, Look>();
  /** What each check printed when it last passed. */
  readonly #passed = new Map<string, string>();
  #verdicts: Readonly<Record<string, string>> = {};
  /** What did not pass at the last observation. */
  #troubled: readonly Check[] = [];
  /** Those were looked at again, and nothing happened since. */
  #isCurrent = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.categories = options.checks.map(({ name }) => name);
  }

  observe(signal: AbortSignal): Promise<Observation> {
    return this.#life.within(signal, async (either) => {
      const { checks } = this.#options;
      const due = checks.filter((check) => this.#isDue(check));
      await this.#lookAll(due, either);
      this.#isCurrent = false;
      const looks = checks.flatMap(({ name }) => this.#looks.get(name) ?? []);
      this.#troubled = looks.filter(({ ran }) => ran.status !== 'ok').map(({ check }) => check);
      return observed(looks.filter(({ ran, check }) => ran.status !== 'ok' || due.includes(check)));
    });
  }

  candidates(): readonly Action[] {
    return this.#remedies(false);
  }

  needsOwner(): readonly Action[] {
    return this.#still().some(({ ran }) => ran.status === 'failed') ? this.#remedies(true) : [];
  }

  #remedies(areOwners: boolean): readonly Action[] {
    const meant = this.#options.remedies.filter(({ needs_owner = false }) => needs_owner === areOwners);
    return meant.map(({ name }) => ({ tool: 'remedy', label: name }));
  }

  act(action: Action, signal: AbortSignal): Promise<Acted> {
    return this.#life.within(signal, async (either) => {
      const remedy = this.#remedy(action);
      const blockReason = remedy === undefined ? 'unknown-action' : 'needs-owner';
      if (remedy === undefined || this.guard(action) !== 'allow')
        return { status: 'blocked', blockReason, text: '', hasChanged: false, isOver: false, ms: 0 };
      const ran = await this.#run(remedy, either);
      if (ran.status === 'blocked') return { ...ran, hasChanged: false, isOver: false };
      const before = this.#state();
      await this.#lookAll(this.#troubled, either);
      this.#isCurrent = true;
      const { status, text, ms } = ran;
      const hasChanged = status === 'ok' && this.#state() !== before;
      return { status, text, hasChanged, isOver: this.#still().length === 0, ms };
    });
  }

  verify(_observation: Observation, signal: AbortSignal): Promise<Outcome> {
    return this.#life.within(signal, async (either) => {
      if (!this.#isCurrent) await this.#lookAll(this.#troubled, either);
      this.#isCurrent = true;
      const still = this.#still();
      const verified = still.every(({ ran }) => ran.status === 'failed');
      const names = still.map(({ check }) => check.name).join(', ');
      const summary = still.length === 0 ? 'no check fails' : `${plural(still.length, 'check')} not passed: ${names}`;
      const source = this.#troubled[0] ? `check ${this.#troubled[0].name}` : 'checks';
      const success = still.length === 0;
      return { verified, success, value: still.length, unit: 'checks failing', summary, source };
    });
  }

  guard(action: Action): Guarded {
    const remedy = this.#remedy(action);
    return remedy === undefined ? 'deny' : remedy.needs_owner ? 'needs_owner' : 'allow';
  }

  #remedy({ tool, label }: Action): Remedy | undefined {
    return tool === 'remedy' ? this.#options.remedies.find(({ name }) => name === label) : undefined;
  }

  /** What did not pass is looked at each time. */
  #isDue({ name, every = 0 }: Check): boolean {
    const last = this.#looks.get(name);
    return last?.ran.status !== 'ok' || this.#options.clock.monotonic() - last.at >= every * 1_000;
  }

  async #lookAll(checks: readonly Check[], signal: AbortSignal): Promise<void> {
    for (const check of checks) {
      const { name } = check;
      const ran = await this.#run(check, signal);
      const isOk = ran.status === 'ok';
      const change = isOk ? changedLines(this.#passed.get(name) ?? ran.text, ran.text) : 0;
      this.#looks.set(name, { check, ran, change, at: this.#options.clock.monotonic() });
      if (isOk) this.#passed.set(name, ran.text);
      if (ran.status !== 'blocked') this.#verdicts = { ...this.#verdicts, [name]: ran.status };
    }
    this.#past.note(this.#verdicts, this.#options.clock.now());
  }

  #run({ run: line, timeout = 60, paths = [], hosts = [] }: Check | Remedy, signal: AbortSignal): Promise<EnclosedRun> {
    return this.#options.run({ line, paths, hosts, timeoutMs: timeout * 1_000 }, signal);
  }

  #still(): readonly Look[] {
    return this.#troubled.flatMap(({ name }) => this.#looks.get(name) ?? []).filter(({ ran }) => ran.status !== 'ok');
  }

  /** Of what did not pass: exit codes, and what they print. */
  #state(): string {
    return JSON.stringify(this.#still().map(({ check, ran: { exitCode, text } }) => [check.name, exitCode, text]));
  }
}

/** What failed comes first. */
function observed(looks: readonly Look[]): Observation {
  const failed = looks.filter(({ ran }) => ran.status === 'failed');
  const unseen = looks.filter(({ ran }) => ran.status === 'blocked');
  const changed = looks.filter(({ change }) => change > 0);
  const parts = [...failed, ...unseen, ...changed].map(wordsOf);
  const most = Math.max(60, Math.floor(MOST_CHARS / Math.max(1, parts.length)) - 60);
  const text = parts.map((part) => headTail(part, Math.floor(most * 0.6), Math.floor(most * 0.4))).join('\n');
  return {
    text: ellipsize(text, MOST_CHARS),
    tag: failed[0]?.check.name ?? (unseen.length > 0 ? 'unseen' : 'quiet'),
    signals: [
      ...failed.map(({ check }) => ({ name: check.name, value: 1 })),
      ...changed.map(({ check, change }) => ({ name: check.name, value: change })),
    ],
  };
}

function wordsOf({ check: { name }, ran }: Look): string {
  const end = ran.exitCode === undefined ? 'it did not end by itself' : `exit ${ran.exitCode}`;
  const what = {
    ok: 'passes, and prints something else',
    failed: `failed (${end})`,
    blocked: `could not be run (${ran.blockReason})`,
  }[ran.status];
  return `check ${name} ${what}\n${ran.text}`.trimEnd();
}

/** Share of the lines, wherever they stand, that one has and the other has not. */
function changedLines(before: string, after: string): number {
  const [old, now] = [new Set(before.split('\n')), new Set(after.split('\n'))];
  return 1 - (2 * old.intersection(now).size) / (old.size + now.size);
}
