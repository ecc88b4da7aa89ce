// A machine for tests of timers: a home of its own and, as the whole PATH, a folder with scripts that write down how they were called.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { createStage, type RanCommand, runCommand, type Stage } from '../../../surfaces/app/app-fixture.ts';

export interface Machine extends Stage {
  /** Adds a program; `script` comes after the line that writes down the call. */
  program(name: string, script?: string): string;
  /** Its calls so far, one a line. */
  calls(name: string): readonly string[];
  curator(command: string, input?: unknown, ask?: (question: string) => Promise<string>): Promise<RanCommand>;
  /** `~/.config/systemd/user/NAME`. */
  unit(name: string): string;
  readonly plist: string;
}

/** `startedBy`: what started Talaria; default a `talaria` on the PATH. */
export function createMachine(
  t: TestContext,
  programs: readonly string[] = ['systemctl'],
  startedBy: readonly string[] | undefined = undefined,
): Machine {
  const stage = createStage(t);
  const bin = join(stage.temp.path, 'bin');
  mkdirSync(bin);
  const environment = {
    ...stage.environment,
    variables: { ...stage.environment.variables, PATH: bin },
    ...(startedBy ? { program: startedBy } : {}),
  };
  const machine: Machine = {
    ...stage,
    environment,
    program: (name, script = '') => {
      const path = join(bin, name);
      writeFileSync(path, `#!/bin/sh\necho "$*" >> "$0.calls"\n${script}\n`, { mode: 0o700 });
      return path;
    },
    calls: (name) => {
      const path = join(bin, `${name}.calls`);
      return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
    },
    curator: (command, input = {}, ask = undefined) => runCommand(machine, `curator ${command}`, input, ask),
    unit: (name) => join(stage.temp.path, '.config/systemd/user', name),
    plist: join(stage.temp.path, 'Library/LaunchAgents/ai.talaria.curator.auto.plist'),
  };
  for (const name of ['talaria', ...programs]) machine.program(name);
  return machine;
}

/** The one JSON value that a command printed. */
export function printedJson({ outputs }: RanCommand): JsonObject {
  const lines = outputs.flatMap((output) => (output.type === 'line' ? [output.text] : []));
  const parsed = parseJson(lines.join('\n'));
  assert.ok(parsed.ok && isJsonObject(parsed.value), lines.join('\n'));
  return parsed.value;
}
