// Owns the work of `skills_list`, `skill_view` and `skill_manage` (core notes 2.6 and 2.7, seed 001 ch 10 to 12).
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { isProgram } from '#base/paths/typed-path.ts';
import type { Refusal, Result } from '#base/result.ts';
import { ellipsize } from '#base/text.ts';
import type { Shown } from '#core/agent/room.ts';
import { type AnyTool, defineTool, type Risk, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import {
  type ForegroundGate,
  foreignRisk,
  type Grounds,
  groundsOf,
  type KeptDraft,
} from '#mind/evidence/gate/foreground-gate.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { checkSkillChange } from './door/check-skill.ts';
import { parseSkill } from './format/parse-skill.ts';
import { platformName, readNeeds, relatedSkills } from './format/read-header.ts';
import { SKILL_FILE, skillLimits } from './format/skill-text.ts';
import type { LinkedFiles } from './library/folder-files.ts';
import type { OpenLibrary } from './library/skill-library.ts';
import type {
  Skill,
  SkillChange,
  SkillDoor,
  SkillHeader,
  SkillReader,
  SkillRefusal,
  SkillWrite,
  SkillWritten,
} from './skill.ts';
import {
  type AskedChange,
  readSkillChange,
  type SkillManageInput,
  skillManageCard,
  skillsListCard,
  skillViewCard,
} from './skill-cards.ts';

interface ReadingGround {
  readonly library: OpenLibrary;
  readonly conditions: () => Shown;
}

export function createSkillsListTool({ library, conditions }: ReadingGround): AnyTool {
  return defineTool({
    ...skillsListCard,
    summary: ({ category }) => (category ? `skills_list ${ellipsize(category, 60)}` : 'skills_list'),
    run: async ({ category }, _context, signal) => {
      await library.ready(signal);
      return { text: JSON.stringify(answer(library.offered(conditions()), category?.trim() ?? '')) };
    },
  });
}

function answer(offered: readonly SkillHeader[], category: string) {
  const found =
    category === '' ? offered : offered.filter((header) => `${header.category}/`.startsWith(`${category}/`));
  const skills = found.map(({ name, description, category: place }) => ({
    name: ellipsize(name, skillLimits.name),
    description: ellipsize(description, skillLimits.description),
    category: place,
  }));
  const categories = [...new Set(offered.map((header) => header.category))].filter(Boolean).sort();
  return { success: true, skills, categories, count: skills.length, hint: hintFor(skills.length, category) };
}

function hintFor(count: number, category: string): string {
  if (count > 0) return 'skill_view(name) shows a skill whole.';
  return category === '' ? 'There are no skills yet.' : 'No skill is in this category; leave it out to see all.';
}

export function createSkillViewTool(options: SkillViewOptions): AnyTool {
  const { library, conditions } = options;
  return defineTool({
    ...skillViewCard,
    summary: ({ name, file_path: path }) => `skill_view ${ellipsize(name, 64)}${path ? ` ${ellipsize(path, 60)}` : ''}`,
    run: async ({ name, file_path: path }, context, signal) => {
      await library.ready(signal);
      const skill = library.get(name.trim());
      if (!skill) return noSuchSkill(options, name);
      const fault = unusable(skill, conditions());
      return fault ?? (path ? viewFile(library, skill, path) : viewSkill(options, skill, context));
    },
  });
}

interface SkillViewOptions extends ReadingGround {
  /** Value of an environment variable of the process or of the home's `.env`. */
  readonly environment: (name: string) => string | undefined;
  /** Absolute folder that credential files are named from: the home. */
  readonly credentialFolder: string;
}

function unusable({ name, text, folder, platforms }: Skill, { platform }: Shown): ToolOutput | undefined {
  if (platforms.length > 0 && !platforms.includes(platformName(platform))) {
    const error = `The skill "${name}" is for ${platforms.join(', ')} only.`;
    return failure({ error, reason: 'unsupported-platform', readiness_status: 'unsupported' });
  }
  if (text !== '') return undefined;
  return failure({ error: `SKILL.md of "${name}" cannot be read as text now (${folder}).`, reason: 'not-text' });
}

function viewSkill(options: SkillViewOptions, skill: Skill, context: ToolContext): ToolOutput {
  const parsed = parseSkill(skill.text);
  const frontmatter = parsed.ok ? parsed.frontmatter : {};
  const linked = options.library.linkedFiles(skill.name);
  const [example] = Object.values(linked ?? {}).flat();
  return json({
    success: true,
    name: skill.name,
    description: skill.description,
    tags: skill.tags,
    related_skills: relatedSkills(frontmatter),
    content: fillVariables(skill.text, skill, context),
    path: [skill.category, basename(skill.folder), SKILL_FILE].filter(Boolean).join('/'),
    skill_dir: skill.folder,
    linked_files: linkedAnswer(linked),
    ...(example ? { usage_hint: `skill_view(name, file_path) shows a linked file, e.g. ${example}` } : {}),
    ...skillSetup(frontmatter, options),
    ...(frontmatter.metadata === undefined ? {} : { metadata: frontmatter.metadata }),
  });
}

/** Null when the skill has no supporting files. */
function linkedAnswer(linked: LinkedFiles | undefined): JsonObject | null {
  const filled = Object.entries(linked ?? {}).filter(([, files]) => files.length > 0);
  return filled.length === 0 ? null : Object.fromEntries(filled);
}

function fillVariables(text: string, { folder }: Skill, { sessionId }: ToolContext): string {
  return text.replace(/\$\{HERMES_(SKILL_DIR|SESSION_ID)\}/g, (_all, name) =>
    name === 'SKILL_DIR' ? folder : sessionId,
  );
}

function viewFile(library: OpenLibrary, skill: Skill, path: string): ToolOutput {
  const read = library.file(skill.name, path);
  if (read.ok) return json({ success: true, name: skill.name, file: path, content: read.value });
  return failure({
    error: read.detail,
    reason: read.reason,
    available_files: linkedAnswer(library.linkedFiles(skill.name)),
  });
}

function noSuchSkill({ library, conditions }: ReadingGround, name: string): ToolOutput {
  const wanted = name.toLowerCase();
  const names = library.offered(conditions()).map((header) => header.name);
  const near = names.filter((other) => other.toLowerCase().includes(wanted) || wanted.includes(other.toLowerCase()));
  const shown = (near.length > 0 ? near : names).slice(0, 10);
  const error = `There is no skill ${JSON.stringify(ellipsize(name, 64))}.`;
  return failure({ error, reason: 'no-such-skill', available_skills: shown, hint: 'skills_list names all.' });
}

function failure(answer: JsonObject): ToolOutput {
  return { ...json({ success: false, ...answer }), isError: true };
}

function json(value: JsonObject): ToolOutput {
  return { text: JSON.stringify(value) };
}

/** What it needs before it can run, and what of that is missing: names and existence only, no value and no content. */
function skillSetup(
  frontmatter: JsonObject,
  { environment, credentialFolder }: Pick<SkillViewOptions, 'environment' | 'credentialFolder'>,
): JsonObject {
  const needs = readNeeds(frontmatter);
  const missingVariables = needs.variables.map(({ name }) => name).filter((name) => !environment(name));
  const missingCommands = needs.commands.filter((name) => !isCommand(name, environment('PATH') ?? ''));
  const missingFiles = needs.credentialFiles.filter((path) => !existsSync(resolve(credentialFolder, path)));
  const isReady = missingVariables.length + missingCommands.length + missingFiles.length === 0;
  return {
    required_environment_variables: needs.variables.map(({ name, prompt, help, requiredFor }) => ({
      name,
      ...(prompt ? { prompt } : {}),
      ...(help ? { help } : {}),
      ...(requiredFor ? { required_for: requiredFor } : {}),
    })),
    required_commands: needs.commands,
    missing_required_environment_variables: missingVariables,
    missing_required_commands: missingCommands,
    missing_credential_files: missingFiles,
    setup_needed: !isReady,
    readiness_status: isReady ? 'available' : 'setup_needed',
  };
}

function isCommand(name: string, path: string): boolean {
  return (
    /^[\w.+-]+$/.test(name) && path.split(delimiter).some((folder) => folder !== '' && isProgram(join(folder, name)))
  );
}

/** What happens with a change that is the owner's to decide: asked at once, kept as a draft, or made. */
export type OwnerSay = 'ask' | 'draft' | 'apply';

interface SkillManageOptions {
  readonly door: Pick<SkillDoor, 'write'>;
  readonly reader: Pick<SkillReader, 'get' | 'record'> & {
    /** Awaited before a draft: the reader then knows every skill. */
    readonly ready?: () => Promise<void>;
  };
  /** `ask` wherever a person can answer; elsewhere by the setting `skills.write_approval`. */
  readonly ownerSay: (sessionId: string) => OwnerSay;
  /** Keeps a change as a pending proposal, unless the same waits already. */
  readonly draft: (write: SkillWrite) => Promise<Result<KeptDraft>>;
  /** What a write of this session rests on: the owner's words of the turn, and the call. */
  readonly citationsOf?: (sessionId: string) => readonly Citation[];
  /** What was written after foreign words were read is the owner's to decide as well. Absent: nothing is asked for that. */
  readonly gate?: Pick<ForegroundGate, 'messagesOf' | 'say'>;
  /** Called after a write, so that readers see it. */
  readonly written?: () => Promise<void>;
}

export function createSkillManageTool(options: SkillManageOptions): AnyTool {
  const impossible = new WeakMap<SkillManageInput, Refusal>();
  return defineTool<SkillManageInput>({
    ...skillManageCard,
    summary: ({ action, name, file_path: path }) =>
      `skill_manage ${action} ${ellipsize(name, 64)}${path ? ` ${ellipsize(path, 60)}` : ''}`,
    risk: (input, context) => {
      const asked = readSkillChange(input);
      if (!asked.ok) return { level: 'none' };
      const risk = riskHere(options, asked.value, context);
      if (risk.level === 'none') return risk;
      const checked = checkSkillChange(options.reader, asked.value.name, asked.value.change);
      if (checked.ok) return risk;
      impossible.set(input, checked);
      return { level: 'none' };
    },
    run: async (input, context, signal) => {
      const asked = readSkillChange(input);
      if (!asked.ok) return refused(asked);
      // Nobody was asked about it: it stays refused, though it might be possible by now.
      const refusal = impossible.get(input);
      if (refusal) return refused(refusal);
      const { evidence } = input as JsonObject;
      const { write, mustWait } = writeOf(options, asked.value, context, evidence);
      if (mustWait) return draft(options, write);
      const done = await options.door.write(write, signal);
      if (!done.ok) return refused(done);
      await options.written?.();
      return success(asked.value.change, done.value);
    },
  });
}

function groundsHere(
  { gate }: SkillManageOptions,
  { name, change }: AskedChange,
  context: ToolContext,
  evidence?: JsonValue,
): Grounds {
  return gate ? groundsOf(gate, context, { texts: [previewOf(name, change)], evidence }) : { citations: [] };
}

function writeOf(options: SkillManageOptions, asked: AskedChange, context: ToolContext, evidence?: JsonValue) {
  const { gate, ownerSay, citationsOf } = options;
  const { sessionId } = context;
  const { source, citations: found } = groundsHere(options, asked, context, evidence);
  const citations = found.length > 0 ? found : citationsOf?.(sessionId);
  const write: SkillWrite = {
    ...asked,
    actor: 'agent',
    approved: true,
    sessionId,
    ...(citations ? { citations } : {}),
  };
  const isTheirs = ownerSay(sessionId) === 'draft' && isOwners(options, asked);
  return { write, mustWait: isTheirs || (source !== undefined && gate?.say(sessionId) === 'draft') };
}

/** Asked where somebody is there to be asked. */
function riskHere(options: SkillManageOptions, asked: AskedChange, context: ToolContext): Risk {
  const { gate, ownerSay } = options;
  const { name, change } = asked;
  const preview = previewOf(name, change);
  const reason = REASONS[change.action];
  const { source } = gate?.say(context.sessionId) === 'ask' ? groundsHere(options, asked, context) : {};
  if (source) return { ...foreignRisk(preview, source), ...(isOwners(options, asked) ? { reason } : {}) };
  if (ownerSay(context.sessionId) !== 'ask' || !isOwners(options, asked)) return { level: 'none' };
  return { level: 'ask', reason, key: `skill:${change.action}:${name}`, preview };
}

/** Making and deleting is always the owner's to decide; so is every change of what the agent did not make. */
function isOwners({ reader }: SkillManageOptions, { name, change }: AskedChange): boolean {
  return change.action === 'create' || change.action === 'delete' || reader.record(name)?.createdBy !== 'agent';
}

const REASONS: Readonly<Record<SkillChange['action'], string>> = {
  create: 'makes a new skill',
  delete: 'deletes a skill',
  patch: 'changes a skill that the agent did not make',
  edit: 'rewrites a skill that the agent did not make',
  write_file: 'adds to a skill that the agent did not make',
  remove_file: 'takes a file from a skill that the agent did not make',
};

/** What the owner decides on, whole. */
function previewOf(name: string, change: SkillChange): string {
  switch (change.action) {
    case 'create':
      return `create skill ${name}\n${change.content}`;
    case 'edit':
      return [
        `edit skill ${name}`,
        change.content,
        ...(change.files ?? []).map(({ path, content }) => `${path}\n${content ?? ''}`),
      ].join('\n');
    case 'patch':
      return `patch skill ${name}${change.filePath ? ` ${change.filePath}` : ''}\n${marked(change.oldString, '-')}\n${marked(change.newString, '+')}`;
    case 'write_file':
      return `write ${change.filePath} of skill ${name}\n${change.content}`;
    case 'remove_file':
      return `remove ${change.filePath} of skill ${name}`;
    case 'delete':
      return `delete skill ${name}${change.absorbedInto ? ` (its content went into ${change.absorbedInto})` : ''}`;
  }
}

function marked(text: string, sign: string): string {
  return text
    .split('\n')
    .map((line) => `${sign}${line}`)
    .join('\n');
}

function success(change: SkillChange, written: SkillWritten): ToolOutput {
  const isHeader =
    change.action === 'create' || change.action === 'edit' || (change.action === 'patch' && !change.filePath);
  const preview = isHeader ? indexLine(written) : undefined;
  const answer: JsonObject = {
    success: true,
    message: `${DONE[change.action]} ${written.name} (version ${written.version}).`,
    path: written.folder,
    skill_md: written.path,
    hint: hintOf(change, written),
    _change: { action: change.action, version: written.version, sha256: written.newHash, proposal: written.proposalId },
    ...(written.warnings.length > 0 ? { lint_warnings: written.warnings } : {}),
    ...(preview === undefined ? {} : { system_prompt_preview: preview }),
  };
  // A preview and warnings quote what the model wrote: not wholly our own record.
  const isOurs = preview === undefined && written.warnings.length === 0;
  return { text: JSON.stringify(answer), origin: isOurs ? 'observed' : 'foreign' };
}

const DONE: Readonly<Record<SkillChange['action'], string>> = {
  create: 'Created the skill',
  patch: 'Patched the skill',
  edit: 'Rewrote the skill',
  delete: 'Deleted the skill',
  write_file: 'Wrote a file of the skill',
  remove_file: 'Removed a file of the skill',
};

function hintOf(change: SkillChange, { name }: SkillWritten): string {
  if (change.action === 'create')
    return 'New conversations list it. Long detail goes into references/ with write_file.';
  const undo = `Undo: talaria skills rollback ${name}.`;
  return change.action === 'delete' ? `It lies in the archive. ${undo}` : undo;
}

/** The line that new conversations will show of it. */
function indexLine({ name, path }: SkillWritten): string | undefined {
  const parsed = parseSkill(readFileSync(path, 'utf8'));
  return parsed.ok ? `- ${name}: ${ellipsize(String(parsed.frontmatter.description ?? ''), 60)}` : undefined;
}

/** What cannot be made is no draft. */
async function draft({ reader, draft: keep }: SkillManageOptions, write: SkillWrite): Promise<ToolOutput> {
  const { name, change } = write;
  await reader.ready?.();
  const checked = checkSkillChange(reader, name, change);
  if (!checked.ok) return refused(checked);
  const kept = await keep(write);
  if (!kept.ok) return refused(kept);
  const { id, isKnown } = kept.value;
  const waits = `${change.action} ${name} waits for the owner. Nothing changed yet;`;
  const answer = isKnown
    ? {
        success: true,
        pending: id,
        note: 'already pending',
        message: `Already pending (${id}): ${waits} do not repeat it.`,
      }
    : { success: true, pending: id, message: `Kept as a draft (${id}): ${waits} go on with the task.` };
  return { text: JSON.stringify(answer), origin: 'observed' };
}

/** Refusals quote the skill's text. */
function refused({ reason, detail, proposalId }: Refusal & Pick<SkillRefusal, 'proposalId'>): ToolOutput {
  const pending = reason === 'guard-asks' && proposalId ? { pending: proposalId } : {};
  const answer = { success: false, error: detail, reason, ...pending };
  return { text: JSON.stringify(answer), isError: true, origin: 'foreign' };
}
