// Owns `/init`: a first AGENTS.md for a folder. A model is asked to write it; without one it is filled from what lies there.
// Knows no prompt of sessions. Invariants: facts of the folder alone; a file that is there is never written over.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isJsonObject, parseJsonObject } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { oneLine } from '#base/text.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { App } from '#surfaces/app/app.ts';
import { lookAtProject, trustProject } from '#surfaces/app/home/trust.ts';
import type { ChatControl } from './chat-control.ts';

/** Sent as the owner's own line. */
export const INIT_PROMPT = [
  'Write AGENTS.md for this folder: what an agent has to know to work well here.',
  'Look first at the README, build files, scripts, tests and the main source folders. Change nothing else.',
  'Say what this is in two sentences; how to build, test, check and run it, and one test alone; how it is laid out;',
  'and the conventions that its files show. Only what you saw: nothing that any developer knows, no secrets, at most 60 lines.',
  'If AGENTS.md is there already, read it and change only what is wrong or missing.',
].join('\n');

const NAME = 'AGENTS.md';

export function initCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'init',
    summary: 'write a first AGENTS.md: what an agent has to know here',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* (_input, context) {
      if (chat.app.model().tier === 'T0') yield* writeTemplate(chat.app, context);
      else chat.submit(INIT_PROMPT);
    },
  });
}

async function* writeTemplate(app: App, { cwd, ask }: CommandContext): AsyncGenerator<CommandOutput, void> {
  const path = join(cwd, NAME);
  if (existsSync(path)) {
    yield refused('file-exists', `${NAME} is already there.`, 'With a model, /init goes through it.');
    return;
  }
  const facts = [...commandLines(cwd), ...folderLines(cwd)];
  if (facts.length === 0) {
    yield refused(
      'nothing-found',
      'No scripts, targets or folders are here that it could name.',
      `Write ${NAME} yourself.`,
    );
    return;
  }
  const text = [`# ${basename(cwd)}`, ...facts].join('\n');
  yield { type: 'line', text };
  yield { type: 'line', text: '' };
  const answer = await ask?.(`Write this as ${NAME}? (y/n)`);
  if (answer !== undefined && !/^\s*y(?:es)?\s*$/i.test(answer)) {
    yield { type: 'line', text: 'nothing was written' };
    return;
  }
  atomicWrite(path, `${text}\n`, { mode: 0o644 });
  const written = lookAtProject(app.home, cwd);
  if (answer !== undefined && written?.file.path === path) trustProject(app.home, written.file, app.clock);
  yield { type: 'line', text: `${NAME} is written; it counts from the next session on: /new` };
}

function commandLines(cwd: string): readonly string[] {
  const lines = [...scriptLines(cwd), ...targetLines(cwd)];
  return lines.length === 0 ? [] : ['', '## Commands', '', ...lines];
}

const LONGEST = 80;

function scriptLines(cwd: string): readonly string[] {
  const read = parseJsonObject(textOf(cwd, 'package.json'));
  const scripts = read.ok ? read.value.scripts : undefined;
  if (!isJsonObject(scripts)) return [];
  const runner = existsSync(join(cwd, 'pnpm-lock.yaml')) ? 'pnpm' : 'npm';
  return Object.entries(scripts).map(
    ([name, work]) => `- \`${runner} run ${name}\`: ${oneLine(String(work), LONGEST)}`,
  );
}

function targetLines(cwd: string): readonly string[] {
  const targets = [...textOf(cwd, 'Makefile').matchAll(/^([A-Za-z0-9][\w-]*)[ \t]*:(?!=)/gm)].map(([, name]) => name);
  return [...new Set(targets)].map((name) => `- \`make ${name}\``);
}

const NOT_SOURCE = new Set(['node_modules', 'dist', 'build', 'target', 'vendor']);

function folderLines(cwd: string): readonly string[] {
  const folders = readdirSync(cwd, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_SOURCE.has(entry.name))
    .map(({ name }) => `- \`${name}/\``)
    .sort();
  return folders.length === 0 ? [] : ['', '## Folders', '', ...folders];
}

const MOST_BYTES = 2_000_000;

function textOf(cwd: string, name: string): string {
  try {
    return readRegular(join(cwd, name), MOST_BYTES).toString('utf8');
  } catch {
    // What is not there, or cannot be read, adds no line.
    return '';
  }
}
