/** One home with the composed agent, skills that the agent made, and evidence of their use: what a run of the curator needs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import type { Ground, Mind } from '#core/agent/room.ts';
import { runAutoRun } from '#extensions/curator/run/auto-run.ts';
import type { AppliedEntry, AutoRun } from '#extensions/curator/run/run-outcome.ts';
import { insertToolEvent } from '#mind/evidence/ledger/event-rows.ts';
import type { JsonObject } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { createStage, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';

export const WRITE = { applyLowRisk: true, approveAutoApply: true } as const;
export const never = new AbortController().signal;

export interface RunBench {
  readonly stage: Stage;
  readonly app: App;
  readonly clock: ManualClock;
  readonly ground: Ground;
  readonly mind: Mind;
  /** Absolute path of SKILL.md. */
  fileOf(name: string): string;
  /** A skill that the agent made. */
  skill(name: string, body?: string): Promise<string>;
  /** A skill that nobody recorded. */
  handMade(name: string, text?: string): string;
  /** Calls that name the skill, one a second, the last of them a command that failed while it was in use. */
  used(name: string, events?: number, preview?: string): void;
  run(flags?: JsonObject, rank?: Parameters<typeof runAutoRun>[0]['rank']): Promise<AutoRun>;
}

const VIEW = { tool: 'skill_view', isError: false, isErrorUpstream: false, argsJson: '{}' } as const;
const COMMAND = { tool: 'terminal', isError: true, isErrorUpstream: true, argsJson: '{"command":"make all"}' } as const;

export function skillText(name: string, body = 'Do it step by step.\n'): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n---\n\n# ${name}\n\n${body}`;
}

export async function openBench(t: TestContext): Promise<RunBench> {
  const stage = createStage(t);
  const clock = createManualClock({ auto: true });
  const app = await stage.open({ clock });
  const { environment } = stage;
  const ground = lendGround({ environment, home: findHome(environment), clock, app: async () => app });
  const mind = await ground.open();
  const fileOf = (name: string) => join(ground.places.skills, name, 'SKILL.md');
  let events = 0;
  return {
    ...{ stage, app, clock, ground, mind, fileOf },
    skill: async (name, body) => {
      const change = { action: 'create', content: skillText(name, body) } as const;
      const made = await app.doors.door.write({ name, change, actor: 'agent', approved: true });
      assert.ok(made.ok, made.ok ? '' : made.detail);
      await app.doors.skills.refresh();
      return made.value.path;
    },
    handMade: (name, text = skillText(name)) => stage.temp.write(join('home', 'skills', name, 'SKILL.md'), text),
    used: (name, count = 3, preview = `looked at ${name}`) => {
      const database = mind.evidence();
      for (let at = 0; at < count; at += 1) {
        events += 1;
        const isError = at === count - 1;
        insertToolEvent(database, {
          ...{ key: `event-${events}`, at: clock.now() - 60_000 + events * 1000, sessionId: 's1', taskId: '', ms: 5 },
          ...(isError ? COMMAND : VIEW),
          ...(isError ? { skill: null, activeSkill: name } : { skill: name, activeSkill: null }),
          resultPreview: preview,
        });
      }
    },
    run: async (flags = {}, rank) => {
      const done = await runAutoRun({ ground, mind, ...(rank ? { rank } : {}) }, flags, never);
      assert.ok(done.ok, done.ok ? '' : done.detail);
      return done.value;
    },
  };
}

export function entryOf(run: AutoRun, name: string): AppliedEntry {
  const entry = run.candidates.find(({ skill_name }) => skill_name === name);
  assert.ok(entry, `no candidate ${name}: ${JSON.stringify(run.summary)}`);
  return entry;
}

export function appliedManifest(entry: AppliedEntry): string {
  assert.equal(entry.status, 'applied', JSON.stringify(entry.apply_result));
  return entry.apply_result?.manifest_path ?? '';
}

/** Path and hash of every file below a folder, but for the ledger and the caches. */
export function hashTree(root: string, skip = /(?:^|\/)(?:cache|logs)\/|evidence\.sqlite/): readonly string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const shown = relative(root, path);
      if (skip.test(shown)) continue;
      if (statSync(path).isDirectory()) walk(path);
      else found.push(`${shown} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`);
    }
  };
  walk(root);
  return found;
}

export function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

// A command as it is typed: what it prints, gives and ends with.

export async function typedRun(
  { stage }: RunBench,
  name: string,
  input: Record<string, unknown>,
  command = `curator ${name}`,
) {
  const { outputs, failure, data } = await runCommand(stage, command, input);
  const [first] = outputs;
  return {
    printed: first?.type === 'line' ? first.text : '',
    code: failure?.exitCode ?? 0,
    reason: failure?.code ?? null,
    message: failure?.message ?? '',
    fix: failure?.fix ?? '',
    data: data as Record<string, unknown>,
  };
}
