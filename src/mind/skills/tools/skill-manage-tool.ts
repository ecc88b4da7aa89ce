// Owns the `skill_manage` tool of a foreground turn: what a model may ask of the skill door and how the answer reads (core notes 2.6,
// seed 001 ch 10 to 12). Knows no file; everything goes through the door. Invariants: where a person is, a skill is made, deleted, or
// changed that is not the agent's own only after that person agreed; a refusal is an answer that lets the model go on.
import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Refusal, Result } from '#base/result.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type Risk, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import {
  type ForegroundGate,
  foreignRisk,
  type Grounds,
  groundsOf,
  type KeptDraft,
} from '#mind/evidence/gate/foreground-gate.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { checkSkillChange, quickRefusal } from '../door/check/check-skill-change.ts';
import type { SkillReader } from '../skill.ts';
import type { SkillChange, SkillDoor, SkillRefusal, SkillWrite, SkillWritten } from '../skill-door.ts';
import {
  type AskedChange,
  readSkillChange,
  SKILL_MANAGE_DESCRIPTION,
  SKILL_MANAGE_TOOL_NAME,
  type SkillManageInput,
  skillManageInput,
} from './skill-manage-input.ts';

/** What happens with a change that is the owner's to decide: asked at once, kept as a draft, or made. */
export type OwnerSay = 'ask' | 'draft' | 'apply';

export interface SkillManageOptions {
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
    name: SKILL_MANAGE_TOOL_NAME,
    description: SKILL_MANAGE_DESCRIPTION,
    input: skillManageInput,
    toolset: 'skills',
    effect: 'write',
    summary: ({ action, name, file_path: path }) =>
      `skill_manage ${action} ${ellipsize(name, 64)}${path ? ` ${ellipsize(path, 60)}` : ''}`,
    risk: (input, context) => {
      const asked = readSkillChange(input);
      if (!asked.ok) return { level: 'none' };
      const risk = riskHere(options, asked.value, context);
      if (risk.level === 'none') return risk;
      const refusal = quickRefusal(options.reader, asked.value.name, asked.value.change);
      if (refusal) impossible.set(input, refusal);
      return refusal ? { level: 'none' } : risk;
    },
    run: async (input, context, signal) => {
      const asked = readSkillChange(input);
      if (!asked.ok) return refused(asked);
      // Nobody was asked about it: it stays refused, though it might be possible by now.
      const refusal = impossible.get(input);
      if (refusal) return refused(refusal);
      const { evidence } = input as JsonObject;
      const grounds = groundsHere(options, asked.value, { context, evidence });
      const write = writeOf(options, { asked: asked.value, grounds }, context.sessionId);
      if (mustWait(options, { asked: asked.value, grounds }, context.sessionId)) return draft(options, write);
      const done = await options.door.write(write, signal);
      if (!done.ok) return refused(done);
      await options.written?.();
      return success(asked.value.change, done.value);
    },
  });
}

interface Grounded {
  readonly asked: AskedChange;
  readonly grounds: Grounds;
}

function groundsHere(
  { gate }: SkillManageOptions,
  { name, change }: AskedChange,
  { context, evidence }: { readonly context: ToolContext; readonly evidence?: JsonValue | undefined },
): Grounds {
  return gate ? groundsOf(gate, context, { texts: [previewOf(name, change)], evidence }) : { citations: [] };
}

function writeOf({ citationsOf }: SkillManageOptions, { asked, grounds }: Grounded, sessionId: string): SkillWrite {
  const citations = grounds.citations.length > 0 ? grounds.citations : citationsOf?.(sessionId);
  return { ...asked, actor: 'agent', approved: true, sessionId, ...(citations ? { citations } : {}) };
}

/** Asked where somebody is there to be asked. */
function riskHere(options: SkillManageOptions, asked: AskedChange, context: ToolContext): Risk {
  const own = riskOf(asked);
  const { gate, ownerSay } = options;
  const { source } = gate?.say(context.sessionId) === 'ask' ? groundsHere(options, asked, { context }) : {};
  if (source)
    return {
      ...foreignRisk(own.preview, source),
      ...(isOwners(options, asked) ? { reason: own.reason } : {}),
    };
  return ownerSay(context.sessionId) === 'ask' && isOwners(options, asked) ? own : { level: 'none' };
}

function mustWait(options: SkillManageOptions, { asked, grounds }: Grounded, sessionId: string): boolean {
  const { gate, ownerSay } = options;
  if (ownerSay(sessionId) === 'draft' && isOwners(options, asked)) return true;
  return gate?.say(sessionId) === 'draft' && grounds.source !== undefined;
}

/** Making and deleting is always the owner's to decide; so is every change of what the agent did not make. */
function isOwners({ reader }: SkillManageOptions, { name, change }: AskedChange): boolean {
  return change.action === 'create' || change.action === 'delete' || reader.record(name)?.createdBy !== 'agent';
}

function riskOf({ name, change }: AskedChange): Extract<Risk, { level: 'ask' }> {
  return {
    level: 'ask',
    reason: REASONS[change.action],
    key: `skill:${change.action}:${name}`,
    preview: previewOf(name, change),
  };
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

async function success(change: SkillChange, written: SkillWritten): Promise<ToolOutput> {
  const preview = touchesHeader(change) ? await indexLine(written) : undefined;
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

function touchesHeader(change: SkillChange): boolean {
  return change.action === 'create' || change.action === 'edit' || (change.action === 'patch' && !change.filePath);
}

const SHOWN = 60;

/** The line that new conversations will show of it. */
async function indexLine({ name, path }: SkillWritten): Promise<string | undefined> {
  const { parseSkill } = await import('../format/parse-skill.ts');
  const parsed = parseSkill(readFileSync(path, 'utf8'));
  return parsed.ok ? `- ${name}: ${ellipsize(String(parsed.frontmatter.description ?? ''), SHOWN)}` : undefined;
}

/** What cannot be made is no draft. */
async function draft({ reader, draft: keep }: SkillManageOptions, write: SkillWrite): Promise<ToolOutput> {
  const { name, change } = write;
  await reader.ready?.();
  const checked = await checkSkillChange(reader, name, change);
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

function refused({ reason, detail, proposalId }: Refusal & Pick<SkillRefusal, 'proposalId'>): ToolOutput {
  const pending = reason === 'guard-asks' && proposalId ? { pending: proposalId } : {};
  return failure({ error: detail, reason, ...pending });
}

/** Refusals quote the skill's text. */
function failure(answer: JsonObject): ToolOutput {
  return { text: JSON.stringify({ success: false, ...answer }), isError: true, origin: 'foreign' };
}
