// Owns what a proposed change adds: only that is claimed. A removal adds nothing. Knows no check and no file.
// A skill's body is one claim, judged against all that is cited together: its steps rest on several messages. Values of its header are
// claims of their own; its name and the headings that every skill has are form, not content; a file that is no prose is code.
import { type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { operationsOf } from '../memory-operation.ts';
import type { ProposalDraft } from '../proposal.ts';
import { foldText } from '../trace-guard/fold-text.ts';
import { addedEntries } from './added-entries.ts';
import { headerClaims, type ReadSkill } from './header-claims.ts';

export interface AddedTextOptions {
  /** What the change would replace: entries of the memory file, or the text of the skill's file as it stands. */
  readonly before?: readonly string[];
  /** The SKILL.md that the change would leave, and the one that stands there, as the loader reads them. */
  readonly skill?: { readonly after: ReadSkill; readonly before?: ReadSkill };
}

/** One thing that would be kept; an empty text for what only goes. */
export interface AddedText {
  readonly text: string;
  /** Only the owner's words give it; what they do not say waits for him. */
  readonly isGrant?: true;
}

/** One at least for what can be read; else what is missing, as a sentence. */
export function addedTexts(draft: ProposalDraft, options: AddedTextOptions = {}): readonly AddedText[] | string {
  if (draft.kind === 'skill') return skillTexts(draft, options);
  const operations = operationsOf(draft.change);
  if (typeof operations === 'string') return operations;
  return addedEntries(operations, options.before ?? []).map((text) => ({ text }));
}

const REMOVALS: readonly string[] = ['delete', 'remove_file'];

/** The action is the one that the door would read. */
function skillTexts(draft: ProposalDraft, { before = [], skill }: AddedTextOptions): readonly AddedText[] | string {
  const asked = textOf(draft.change, 'action');
  const action = asked === '' ? draft.action : asked;
  if (REMOVALS.includes(action)) return [{ text: '' }];
  const added = { ...draft, action };
  if (skill === undefined) return [{ text: skillText(added, before) }];
  const { prose: said, values, grants } = headerClaims(skill.after, skill.before);
  const whole = action === 'create' || action === 'edit';
  const body = whole
    ? withoutForm(addedLines(skill.after.body, skill.before === undefined ? [] : [skill.before.body]), draft.target)
    : skillText(added, before);
  const main = [withoutForm(said.join('\n'), draft.target), body].filter((text) => text.trim() !== '').join('\n');
  const rest = [...values.map((text) => ({ text })), ...grants.map((text) => ({ text, isGrant: true }) as const)];
  return main === '' && rest.length > 0 ? rest : [{ text: main }, ...rest];
}

function skillText({ target, action, change }: ProposalDraft, before: readonly string[]): string {
  const path = textOf(change, 'file_path', 'filePath');
  switch (action) {
    case 'patch': {
      const added = addedLines(textOf(change, 'new_string', 'newString'), [textOf(change, 'old_string', 'oldString')]);
      return withoutForm(added, target);
    }
    case 'write_file': {
      const added = addedLines(textOf(change, 'file_content', 'fileContent', 'content'), before);
      return /\.(?:md|txt)$/i.test(path) || added === '' ? withoutForm(added, target) : `\`\`\`\n${added}\n\`\`\``;
    }
    default: {
      const added = addedLines(prose(textOf(change, 'content')), before.map(prose));
      return withoutForm(added, target);
    }
  }
}

/** Header and body; where nobody parsed the header all of its lines are text, but those that are form. */
function prose(text: string): string {
  const { front, body } = splitFrontMatter(text);
  if (front === undefined) return body;
  const lines = front.split('\n').filter((line) => !FORM_FIELD.test(line));
  return [...lines.map((line) => plainScalar(line.replace(FIELD_NAME, '').trim())), body].join('\n');
}

const FORM_FIELD = /^\s*(?:name|version|license|author):[ \t]+["']?[\w.+/:-]{1,64}["']?[ \t]*$/;
const FIELD_NAME = /^\s*(?:- )?["']?[\w.-]{1,60}["']?[ \t]*:(?=\s|$)/;

/** Text in double quotes has escapes. */
function plainScalar(value: string): string {
  const parsed = value.startsWith('"') ? parseJson(value) : undefined;
  return parsed?.ok && typeof parsed.value === 'string' ? parsed.value : value.replace(/^["'>|-]+\s*|["']$/g, '');
}

/** A step that only moved to another number is not new. */
function addedLines(after: string, before: readonly string[]): string {
  const keyOf = (line: string) => foldText(line.replace(/^\s*\d{1,3}[.)]\s+/, ''));
  const old = new Set(before.flatMap((text) => text.split('\n')).map(keyOf));
  const added = after.split('\n').filter((line) => /^\s*```/.test(line) || !old.has(keyOf(line)));
  return added.some((line) => line.trim() !== '' && !/^\s*```/.test(line)) ? added.join('\n') : '';
}

const FORM =
  /^[ \t]*#{1,6}[ \t]*(?:when to use|use when|overview|purpose|steps?|procedure|instructions?|usage|how to|parameters?|prerequisites?|requirements?|inputs?|outputs?|verification|verify|checks?|pitfalls?|notes?|examples?|references?|constraints?|troubleshooting|context|background|summary)[ \t:]*$/gim;

/** `1. Run` before code: the verb of a step says no more than the code itself. */
const STEP_VERB = /^([ \t]*\d{1,3}[.)][ \t]+)(?:run|execute|read|write|find|call)(?=[ \t]+`|:[ \t]*$)/gim;

/** The name goes where it stands by itself: in `check.sh` it is a part of what is claimed. */
function withoutForm(text: string, name: string): string {
  const plain = text.replace(FORM, '').replace(STEP_VERB, '$1');
  if (name === '') return plain;
  const alone = new RegExp(`(?<![^\\s"'*([#])${RegExp.escape(name)}(?![^\\s"'*)\\].,:;!?]|\\.[\\p{L}\\p{N}])`, 'gu');
  return plain.replace(alone, ' ').trim();
}

function textOf(change: JsonObject, ...keys: readonly string[]): string {
  const value: JsonValue | undefined = keys.map((key) => change[key]).find((one) => typeof one === 'string');
  return typeof value === 'string' ? value : '';
}
