// Owns what several of the curator's commands are asked with, and the two forms in which they show a result: text for people, the original's JSON for
// programs (curator notes 5, 8.1, 11.3, 16).
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import {
  type AnyCommand,
  type CommandOutput,
  type CommandSpec,
  defineCommand,
  type Failure,
  line,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { dumpJson } from '../text.ts';

/** A command of the shell, unless it says otherwise. */
export function curatorCommand<Input>(
  command: Omit<CommandSpec<Input>, 'surfaces'> & Partial<Pick<CommandSpec, 'surfaces'>>,
): AnyCommand {
  return defineCommand({ surfaces: ['cli'], ...command });
}

/** What typed paths mean where the command was typed; absolute. */
export function pathReader({ places }: Ground, { cwd }: { readonly cwd: string }) {
  return <Path extends string | undefined>(path: Path) =>
    (path === undefined ? path : typedPath(path, { cwd, userHome: places.userHome })) as Path;
}

const required = (how: string) => z.string(how).min(1, how);
const on = (what: string) => z.boolean().default(false).describe(what);
const text = (what: string) => z.string().min(1).optional().describe(what);
const pattern = (what: string) => z.array(z.string()).default([]).describe(what);

export const flag = {
  ...{ on, text, required },
  /** `how`: what to type, e.g. `name it: --skill NAME`. */
  name: (how: string) => required(how).trim().min(1, how),
  /** Windows are clamped later, not refused. */
  daysBack: z.number().default(30).describe('Days to look back, 1 to 3650; 30'),
  days: (byDefault: number) =>
    z.coerce.number().default(byDefault).describe(`Days that count, 1 to 3650; default ${byDefault}`),
  markdownOrJson: z.enum(['markdown', 'json']).default('markdown').describe('How the result is printed'),
  textOrJson: z.enum(['text', 'json']).default('text').describe('How the result is printed'),
  verify: {
    verifyCommand: text('Command that must end with 0, else the write is taken back'),
    verifyCwd: text('Folder that the commands run in'),
    preVerifyCommand: text('Cheaper command that is asked first'),
    stagedVerify: on('Check in stages, from cheap to expensive; always so here'),
  },
  /** The two lists of skill names that a run may, or may not, write. */
  patterns: {
    allowAutoApplySkill: pattern('Write only skills whose name fits; may be given again'),
    blockAutoApplySkill: pattern('Never write skills whose name fits; may be given again'),
  },
};

/** Absent: all of them say something. */
export function emptyPattern(
  asked: Readonly<Record<keyof typeof flag.patterns, readonly string[]>>,
): Failure | undefined {
  const lists = {
    '--allow-auto-apply-skill': asked.allowAutoApplySkill,
    '--block-auto-apply-skill': asked.blockAutoApplySkill,
  };
  const [typed] = Object.entries(lists).find(([, list]) => list.some((one) => one.trim() === '')) ?? [];
  if (typed === undefined) return undefined;
  return wrongUse(
    'empty-pattern',
    `${typed}: the pattern is empty`,
    `Name a skill or a pattern, or leave ${typed} out.`,
  );
}

/** The printed text, without a last line end. `text`: asked for unless the format is JSON. */
export function printedText(result: unknown, format: 'json' | 'markdown' | 'text', text: () => string): string {
  return format === 'json' ? dumpJson(result) : text().trimEnd();
}

/** The lines, then the same as data for `--json`. */
export function* printed(
  result: unknown,
  format: 'json' | 'markdown' | 'text' = 'json',
  text: () => string = () => '',
): Generator<CommandOutput, void, undefined> {
  yield line(printedText(result, format, text));
  yield { type: 'data', value: result as JsonValue };
}

/** `path`: absolute, or absent when none was named. */
export function missingFolderNote(path: string | undefined): string | undefined {
  return path === undefined || existsSync(path) ? undefined : `there is no folder ${path}`;
}

/** `archives`: absolute folders. */
export function editKept(archives: readonly string[]): string {
  return `The text from before the write stands again. What was edited while it was checked lies in ${archives.join(', ')}: take it from there.`;
}
