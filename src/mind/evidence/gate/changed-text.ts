// Owns what a proposed change would put where: the new text, what stands there now, and what of it is a grant. Knows no check and no file.
// Invariants: a removal puts nothing there; an entry that the door would replace counts as old only when it really stands there; what a
// skill asks for or may use is a grant, which the owner's words alone give.

import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { foldText } from '#base/text/fold.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { type MemoryOperation, operationsOf, type ProposalDraft } from '../proposal.ts';

/** A SKILL.md as its loader reads it. */
export interface ReadSkill {
  readonly frontmatter: JsonObject;
  readonly body: string;
}

export interface ChangeOptions {
  /** What the change would replace: entries of the memory file, or the text of the skill's file as it stands. */
  readonly before?: readonly string[];
  /** The SKILL.md that the change would leave, and the one that stands there, as the loader reads them. */
  readonly skill?: { readonly after: ReadSkill; readonly before?: ReadSkill };
}

/** One thing that would be kept. */
export interface ChangedText {
  /** Empty for what only goes. */
  readonly text: string;
  /** What the text replaces, or what goes. */
  readonly before?: string;
  readonly isGrant?: true;
}

/** One at least for what can be read; else what is missing, as a sentence. */
export function changedTexts(draft: ProposalDraft, options: ChangeOptions = {}): readonly ChangedText[] | string {
  if (draft.kind === 'skill')
    return [skillText(draft, options.before?.[0]), ...fileTexts(draft.change), ...grantsOf(options)];
  const operations = operationsOf(draft.change);
  if (typeof operations === 'string') return operations;
  return operations.map((operation) => memoryText(operation, options.before ?? []));
}

function memoryText(operation: MemoryOperation, entries: readonly string[]): ChangedText {
  if (operation.action === 'add') return { text: operation.content };
  const before = meantEntry(entries, operation.oldText);
  const was = before === undefined ? {} : { before };
  return operation.action === 'remove' ? { text: '', ...was } : { text: operation.content, ...was };
}

/** The entry that equals the text, else the only one that holds it, as the door finds it. */
function meantEntry(entries: readonly string[], text: string): string | undefined {
  if (entries.includes(text)) return text;
  const cut = text.replace(/(?:…|\.\.\.)$/, '');
  const direct = entries.filter((entry) => entry.includes(text));
  const holding = direct.length > 0 || cut === '' ? direct : entries.filter((entry) => entry.includes(cut));
  return holding.length === 1 ? holding[0] : undefined;
}

/** The action is the one that the door would read. */
function skillText({ action: asked, change }: ProposalDraft, before: string | undefined): ChangedText {
  const action = textOf(change, 'action') || asked;
  const was = before === undefined || before === '' ? {} : { before };
  switch (action) {
    case 'delete':
    case 'remove_file':
      return { text: '', ...was };
    case 'patch':
      return { text: textOf(change, 'new_string', 'newString'), before: textOf(change, 'old_string', 'oldString') };
    case 'write_file':
      return { text: textOf(change, 'file_content', 'fileContent', 'content') };
    default:
      return { text: withoutForm(textOf(change, 'content')), ...was };
  }
}

/** Support files that an edit brings or takes along. */
function fileTexts({ files }: JsonObject): readonly ChangedText[] {
  if (!Array.isArray(files)) return [];
  return files
    .filter(isJsonObject)
    .map((file: JsonObject) => ({ text: textOf(file, 'content'), before: textOf(file, 'path') }));
}

/** Name, version, licence and author of a header are form where they are one word. */
function withoutForm(text: string): string {
  const { front, body } = splitFrontMatter(text);
  if (front === undefined) return text;
  const lines = front.split('\n').filter((line) => !FORM.test(line));
  return `${lines.join('\n')}\n${body}`;
}

const FORM = /^\s*(?:name|version|license|licence|author):\s*["']?[\w.+/@-]{1,40}["']?\s*$/;

const GRANT =
  /(?:^|\.)(?:allowed[-_]?tools|requires?[-_][\w-]*|required[-_][\w-]*|fallback_for_\w*|prerequisites)(?:\.|$)/i;

function grantsOf({ skill }: ChangeOptions): readonly ChangedText[] {
  if (skill === undefined) return [];
  const known = new Set(skill.before ? fieldsOf(skill.before.frontmatter).map((one) => foldText(one)) : []);
  return fieldsOf(skill.after.frontmatter).flatMap((text) =>
    known.has(foldText(text)) ? [] : [{ text, isGrant: true } as const],
  );
}

/** Texts below a field that grants, names of inner fields too. */
function fieldsOf(value: JsonValue | undefined, path = ''): readonly string[] {
  if (value === undefined || value === null || typeof value === 'boolean') return [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => fieldsOf(item, path));
  const isBelow = GRANT.test(path);
  if (!isJsonObject(value)) return isBelow ? [String(value)] : [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(isBelow ? [key] : []),
    ...fieldsOf(item, path === '' ? key : `${path}.${key}`),
  ]);
}

function textOf(change: JsonObject, ...keys: readonly string[]): string {
  const value = keys.map((key) => change[key]).find((one) => typeof one === 'string');
  return typeof value === 'string' ? value : '';
}
