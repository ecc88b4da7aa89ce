// Owns the commands on skills, in the order of help. Invariants: reading writes nothing but the cache, and every write passes the door and its guard.
import { cpSync, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { ellipsize, isYes } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  type CommandSpec,
  defineCommand,
  type Failure,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { provenanceLines } from '#mind/evidence/citations.ts';
import { validateSkill } from './format/validate-skill.ts';
import type { Skill, SkillRecord, SkillRefusal, SkillVersion, SkillWritten } from './skill.ts';

export function skillsCommands(ground: Ground): readonly AnyCommand[] {
  return [
    listCommand(ground),
    showCommand(ground),
    installCommand(ground),
    removeCommand(ground),
    logCommand(ground),
    diffCommand(ground),
    rollbackCommand(ground),
    whyCommand(ground),
    exportCommand(ground),
  ];
}

type Outputs = AsyncGenerator<CommandOutput, void>;

/** A command with the agent open; one that is not `readOnly` only where something may be changed. */
function skillCommand<Input>(
  ground: Ground,
  spec: Omit<CommandSpec<Input>, 'run' | 'surfaces'> & Partial<Pick<CommandSpec, 'surfaces'>>,
  run: (input: Input, mind: Mind, context: CommandContext) => Outputs,
): AnyCommand {
  return defineCommand<Input>({
    surfaces: ['cli', 'chat'],
    ...spec,
    async *run(input, context): Outputs {
      if (spec.readOnly !== true) await ground.writable();
      yield* run(input, await ground.open(), context);
    },
  });
}

const data = (value: unknown): CommandOutput => ({ type: 'data', value: value as JsonValue });
const name = z.string();

function listCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills list',
    summary: 'List the skills, where they come from and how they did',
    readOnly: true as const,
    input: z.object({ category: z.string().optional().describe('Only skills of this category') }),
  };
  return skillCommand(ground, spec, async function* ({ category }, { skills: library }) {
    await library.refresh();
    const skills = library.list().filter((skill) => category === undefined || skill.category === category);
    const rows = skills.map((skill) => ({ skill, record: library.record(skill.name) }));
    const columns = ['name', 'category', 'from', 'version', 'used', 'worked', 'description'];
    const none = `No skills${category === undefined ? '' : ` in ${category}`} yet. They lie in ${ground.places.skills}.`;
    if (rows.length === 0) yield line(none);
    else yield { type: 'table', columns, rows: rows.map(({ skill, record }) => rowOf(skill, record)) };
    for (const { skill } of rows) {
      const note = library.note(skill.name);
      if (note) yield line(`${skill.name}: ${note}`);
    }
    for (const { detail } of library.problems()) yield line(`not read: ${detail}`);
    yield data(rows.map(({ skill, record }) => dataOf(skill, record)));
  });
}

function rowOf(skill: Skill, record: SkillRecord | undefined): readonly string[] {
  const judged = (record?.successCount ?? 0) + (record?.failureCount ?? 0);
  return [
    skill.name,
    skill.category,
    record?.status === undefined || record.status === 'active' ? skill.source : `${skill.source}, ${record.status}`,
    String(record?.version ?? '–'),
    String(record?.useCount ?? 0),
    judged === 0 ? '–' : `${record?.successCount ?? 0}/${judged}`,
    ellipsize(skill.description.replaceAll('\n', ' '), 60),
  ];
}

function dataOf(skill: Skill, record: SkillRecord | undefined) {
  const { name, category, source, description, folder, writable, tags, hash } = skill;
  return { name, category, source, description, folder, writable, tags, hash, ...(record ? { record } : {}) };
}

function showCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills show',
    summary: 'Show a skill, or one file of it',
    readOnly: true as const,
    positional: ['name', 'file'],
    input: z.object({ name, file: z.string().optional().describe('A file of its folder') }),
    examples: ['talaria skills show release-notes', 'talaria skills show release-notes references/style.md'],
  };
  return skillCommand(ground, spec, async function* ({ name, file }, mind) {
    const skill = await findSkill(mind, name);
    if (!skill) return yield noSuchSkill(name);
    const { skills: library } = mind;
    if (file !== undefined) {
      const text = library.file(name, file);
      return yield text.ok ? line(text.value) : refused(text.reason, text.detail);
    }
    yield line(skill.text);
    const linked = Object.values(library.linkedFiles(skill.name) ?? {}).flat();
    if (linked.length > 0) yield line(`\nfiles: ${linked.join(', ')}`);
    yield line(`\n${skill.folder} · ${skill.source}${skill.writable ? '' : ' · read only'}`);
    yield data({ ...dataOf(skill, library.record(skill.name)), text: skill.text });
  });
}

/** From this machine, through the guard: what it refuses is not installed, whatever was said; what it asks about needs --force. */
function installCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills install',
    summary: 'Install a skill from a folder; it is scanned first',
    positional: ['from'],
    input: z.object({
      from: z.string().describe('Folder that holds SKILL.md'),
      name: z.string().optional().describe('Install it under this name'),
      category: z.string().optional().describe('Folder below the skills folder'),
      force: z.boolean().default(false).describe('You read what the guard found, and want it'),
    }),
    examples: ['talaria skills install ./downloads/release-notes', 'talaria skills install ./x --category git'],
  };
  return defineCommand({
    surfaces: ['cli', 'chat'],
    ...spec,
    async *run({ from, name, category, force }, context): Outputs {
      const folder = folderOf(resolve(context.cwd, from));
      if (folder === undefined)
        return yield wrongUse('no-such-folder', `${from} is no folder.`, 'Name the folder that holds SKILL.md.');
      await ground.writable();
      const { skills, door, judge } = await ground.open();
      await skills.ready();
      const named = { ...(name === undefined ? {} : { name }), ...(category === undefined ? {} : { category }) };
      const request = { from: folder, source: 'community', approved: true, force, judge, ...named } as const;
      const installed = await door.install(request, context.signal);
      if (!installed.ok) return yield doorRefusal(installed, INSTALL_FIXES[installed.reason]);
      await skills.refresh();
      for (const warning of installed.value.warnings) yield line(`note: ${warning}`);
      yield line(`Installed ${installed.value.name}: ${installed.value.path}`);
      yield data({ ...installed.value });
    },
  });
}

const INSTALL_FIXES: Readonly<Record<string, string>> = {
  'guard-asks': 'Read it; then add --force if you want it all the same.',
};

/** The folder itself, or that of a SKILL.md that was named. */
function folderOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return path;
  return found?.isFile() && /skill\.md$/i.test(path) ? dirname(path) : undefined;
}

function removeCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills remove',
    summary: 'Remove a skill; `skills rollback` brings it back',
    positional: ['name'],
    input: z.object({ name, yes: z.boolean().default(false).describe('Do not ask') }),
  };
  return skillCommand(ground, spec, async function* ({ name: asked, yes }, mind, context) {
    const skill = await findSkill(mind, asked);
    if (!skill) return yield noSuchSkill(asked);
    const { name, folder, hash } = skill;
    const no = await askedNo(`Remove ${name} (${folder})?`, `Removing ${name}`, yes, context);
    if (no) return yield no;
    const removed = await mind.door.write(
      { name, change: { action: 'delete' }, actor: 'owner', approved: true, expectedHash: hash },
      context.signal,
    );
    if (!removed.ok) return yield doorRefusal(removed);
    await mind.skills.refresh();
    yield line(`Removed ${name}. \`talaria skills rollback ${name}\` brings it back.`);
    yield data({ ...removed.value });
  });
}

function logCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills log',
    summary: 'Show every version of a skill: when, by whom, what',
    readOnly: true as const,
    positional: ['name'],
    input: z.object({ name }),
  };
  return skillCommand(ground, spec, async function* ({ name }, { door }) {
    const versions = door.versions(name);
    if (versions.length === 0) return yield noVersion(name);
    const rows = versions.map(({ version, at, actor, action, rolledBackAt: undone }) => [
      ...[String(version), isoTime(at), actor, action, undone === undefined ? '' : `undone ${isoTime(undone)}`],
    ]);
    yield { type: 'table', columns: ['version', 'when', 'by', 'what', 'state'], rows };
    yield data(versions);
  });
}

function diffCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills diff',
    summary: 'Show what changed between two versions of a skill; the last change when none is named',
    readOnly: true as const,
    positional: ['name', 'from', 'to'],
    input: z.object({
      name,
      from: z.coerce.number().int().min(0).optional().describe('Version; 0 is what stood there before the first'),
      to: z.coerce.number().int().min(0).optional().describe('Version; the present one when absent'),
    }),
  };
  return skillCommand(ground, spec, async function* ({ name, from, to: until }, { door }) {
    const last = newest(door.versions(name));
    if (last === undefined) return yield noVersion(name);
    const to = until ?? last.version;
    const diff = await door.diff(name, { from: from ?? Math.max(0, to - 1), to });
    yield diff.ok ? line(diff.value) : refused(diff.reason, diff.detail, 'See `talaria skills log`.');
  });
}

function rollbackCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills rollback',
    summary: 'Undo the last change of a skill, or a named version; its first one goes only with your yes',
    positional: ['name', 'version'],
    input: z.object({
      name,
      version: z.coerce.number().int().min(1).optional().describe('The version to undo; the last one when absent'),
      force: z.boolean().default(false).describe('Also when the file was edited by hand since'),
      yes: z.boolean().default(false).describe('Do not ask before the skill itself goes'),
    }),
  };
  return skillCommand(ground, spec, async function* ({ name, version, force, yes }, { door, skills }, context) {
    if (isFirst(door.versions(name), version)) {
      const question = `That is how ${name} began: undo it, so that it is gone?`;
      const no = await askedNo(question, `Removing ${name}`, yes, context);
      if (no) return yield no;
    }
    const target = { skill: name, ...(version === undefined ? {} : { version }) };
    const undone = await door.rollback(target, { force, actor: 'rollback' });
    const fix = undone.ok ? '' : (ROLLBACK_FIXES[undone.reason] ?? 'See `talaria skills log`.');
    if (!undone.ok) return yield refused(undone.reason, undone.detail, fix);
    await skills.refresh();
    yield line(undoneLine(name, undone.value));
    yield data({ ...undone.value });
  });
}

const ROLLBACK_FIXES: Readonly<Record<string, string>> = {
  'target-changed': 'Look at it, then add --force.',
  'manifest-changed': 'Put the manifest back as it was written; --force does not go over it.',
};

/** Would undoing it leave no skill? */
function isFirst(versions: readonly SkillVersion[], asked: number | undefined): boolean {
  const standing = versions.filter(({ action, rolledBackAt }) => action !== 'rollback' && rolledBackAt === undefined);
  const meant = asked === undefined ? newest(standing) : versions.find(({ version }) => version === asked);
  return meant !== undefined && meant.originalHash === null && meant.newHash !== null;
}

function undoneLine(skill: string, { version, path, newHash }: SkillWritten): string {
  return newHash === null
    ? `${skill} is gone (its first version was undone). \`talaria skills rollback ${skill} ${version}\` brings it back.`
    : `Undone. ${skill} is at version ${version}: ${path}`;
}

function newest(versions: readonly SkillVersion[]): SkillVersion | undefined {
  return versions.toSorted((a, b) => b.version - a.version)[0];
}

function whyCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'skills why',
    summary: 'Show the messages that a skill rests on, version by version',
    readOnly: true as const,
    positional: ['name'],
    input: z.object({ name }),
  };
  return skillCommand(ground, spec, async function* ({ name }, { door, proposals }) {
    const versions = door.versions(name).toSorted((a, b) => b.version - a.version);
    const unknown = `Nothing is known of where ${name} comes from: it does not exist, or it was written by hand.`;
    if (versions.length === 0) return yield refused('nothing-known', unknown, LIST);
    const found: unknown[] = [];
    for (const { version, action, actor } of versions) {
      const known = proposals.why({ kind: 'skill', target: name, key: String(version) });
      yield line(`version ${version}: ${action} by ${actor}`);
      for (const text of known.flatMap(provenanceLines)) yield line(text);
      if (known.length === 0) yield line('  no messages are cited');
      found.push({ version, provenance: known });
    }
    yield data(found);
  });
}

/** For any agentskills.io tool; nothing that is there is written over. */
function exportCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'skills export',
    summary: 'Copy a skill for another tool',
    surfaces: ['cli'],
    positional: ['name', 'to'],
    input: z.object({ name, to: z.string().default('.').describe('Folder to copy it into') }),
    examples: ['talaria skills export release-notes ~/.claude/skills'],
    async *run({ name, to }, context): Outputs {
      const skill = await findSkill(await ground.open(), name);
      if (!skill) return yield noSuchSkill(name);
      const target = join(resolve(context.cwd, to), basename(skill.folder));
      if (existsSync(target))
        return yield refused('file-exists', `${target} is already there.`, 'Name another folder.');
      const left = copySkill(skill.folder, target);
      yield line(target);
      for (const path of left) yield line(`not copied: ${path} is a link that leads out of the skill`);
      for (const { message } of validateSkill(target).findings) yield line(`note for other tools: ${message}`);
      yield data({ path: target });
    },
  });
}

/** Gives the links that were left out. */
function copySkill(folder: string, target: string): readonly string[] {
  const home = realpathSync(folder);
  const left: string[] = [];
  const filter = (path: string): boolean => {
    const isCopied = path === home || !lstatSync(path).isSymbolicLink() || leadsInside(home, path);
    if (!isCopied) left.push(relative(home, path));
    return isCopied;
  };
  cpSync(home, target, { recursive: true, errorOnExist: true, force: false, verbatimSymlinks: true, filter });
  return left;
}

/** A link by an absolute path would lead back here from the copy: it counts as leading out, as a broken one does. */
function leadsInside(home: string, path: string): boolean {
  if (isAbsolute(readlinkSync(path)) || !existsSync(path)) return false;
  return realpathSync(path).startsWith(home + sep);
}

const LIST = '`talaria skills list` shows the skills.';

function noVersion(skill: string): Failure {
  const unknown = `No write of ${skill} is known: it does not exist, or it was only ever edited by hand.`;
  return refused('no-such-version', unknown, LIST);
}

async function findSkill(mind: Mind, name: string): Promise<Skill | undefined> {
  await mind.skills.ready();
  return mind.skills.get(name);
}

function noSuchSkill(name: string): Failure {
  return refused('no-such-skill', `There is no skill ${name}.`, '`talaria skills list` shows them.');
}

function doorRefusal(refusal: SkillRefusal, fix = 'Nothing was changed.'): Failure {
  return refused(refusal.reason, refusal.detail, fix);
}

/** Undefined when the person said yes, here or with --yes; else what to say. */
async function askedNo(
  question: string,
  what: string,
  yes: boolean,
  context: CommandContext,
): Promise<Failure | undefined> {
  if (yes) return undefined;
  const answer = await context.ask?.(`${question} (y/n)`);
  if (answer === undefined)
    return refused('approval-required', `${what} needs your yes, and nobody can be asked here.`, 'Add --yes.');
  return isYes(answer) ? undefined : refused('not-agreed', `${what} was not done: you said no.`);
}
