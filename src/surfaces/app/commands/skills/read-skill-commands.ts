// Owns `skills list` and `skills show`. Knows skills by SkillReader only. Invariant: reading writes nothing but the cache.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Skill, SkillRecord } from '#mind/skills/skill.ts';
import type { App } from '../../app.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { findSkill, noSuchSkill } from './skill-deps.ts';

export function listSkillsCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills list',
    summary: 'List the skills, where they come from and how they did',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({ category: z.string().optional().describe('Only skills of this category') }),
    async *run({ category }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const { library } = app.skills;
      await library.refresh();
      const skills = library.list().filter((skill) => category === undefined || skill.category === category);
      const rows = skills.map((skill) => ({ skill, record: library.record(skill.name) }));
      if (rows.length > 0)
        yield {
          type: 'table',
          columns: ['name', 'category', 'from', 'version', 'used', 'worked', 'description'],
          rows: rows.map(({ skill, record }) => rowOf(skill, record)),
        };
      else
        yield line(`No skills${category === undefined ? '' : ` in ${category}`} yet. They lie in ${deps.home.skills}.`);
      for (const { skill } of rows) {
        const note = library.note(skill.name);
        if (note) yield line(`${skill.name}: ${note}`);
      }
      for (const { detail } of library.problems()) yield line(`not read: ${detail}`);
      yield {
        type: 'data',
        value: rows.map(({ skill, record }) => dataOf(skill, record)) as unknown as JsonValue,
      };
    },
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

export function showSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills show',
    summary: 'Show a skill, or one file of it',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['name', 'file'],
    input: z.object({ name: z.string(), file: z.string().optional().describe('A file of its folder') }),
    examples: ['talaria skills show release-notes', 'talaria skills show release-notes references/style.md'],
    async *run({ name, file }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const skill = await findSkill(app, name);
      if (!skill) yield noSuchSkill(name);
      else if (file !== undefined) yield fileOf(app, name, file);
      else yield* wholeOf(app, skill);
    },
  });
}

function fileOf(app: App, name: string, file: string): CommandOutput {
  const text = app.skills.library.file(name, file);
  return text.ok ? line(text.value) : refused(text.reason, text.detail);
}

function* wholeOf(app: App, skill: Skill): Generator<CommandOutput> {
  const { library } = app.skills;
  yield line(skill.text);
  const linked = Object.values(library.linkedFiles(skill.name) ?? {}).flat();
  if (linked.length > 0) yield line(`\nfiles: ${linked.join(', ')}`);
  yield line(`\n${skill.folder} · ${skill.source}${skill.writable ? '' : ' · read only'}`);
  const data = { ...dataOf(skill, library.record(skill.name)), text: skill.text };
  yield { type: 'data', value: data as unknown as JsonValue };
}
