// Owns what a proposed change adds: only that is claimed. A removal adds nothing. Knows no check and no file.
// A skill's text is one claim, judged against all that is cited together: its steps rest on several messages. Its header's fields but
// the description, its name and the headings that every skill has are form, not content; a file that is no prose is code.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import type { ProposalDraft } from '../proposal.ts';
import { foldText } from '../trace-guard/fold-text.ts';

export interface AddedTextOptions {
  /** What the change would replace: entries of the memory file, or the text of the skill's file as it stands. */
  readonly before?: readonly string[];
}

/** One text for each thing that would be kept; empty texts for what only goes. */
export function addedTexts(draft: ProposalDraft, options: AddedTextOptions = {}): readonly string[] {
  const before = options.before ?? [];
  return draft.kind === 'memory' ? memoryTexts(draft.change, before) : [skillText(draft, before)];
}

function memoryTexts(change: JsonObject, entries: readonly string[]): readonly string[] {
  const operations = Array.isArray(change.operations) ? change.operations.filter(isJsonObject) : [change];
  return operations.map((operation) => {
    const content = textOf(operation, 'content', 'new_text');
    const oldText = textOf(operation, 'old_text', 'oldText');
    if (operation.action === 'remove') return '';
    if (oldText === '') return content;
    return addedParts(content, entries.find((entry) => entry.includes(oldText)) ?? oldText);
  });
}

/** Sentences, lines and clauses between semicolons that were not there before. */
function addedParts(after: string, before: string): string {
  const old = foldText(before);
  const parts = after.split(/(?<=[.!?;])\s+|\n+/u).filter((part) => {
    const folded = foldText(part).replace(/[.;!?]+$/, '');
    return folded !== '' && !` ${old} `.replace(/[.;!?]/g, ' ').includes(` ${folded} `);
  });
  return parts.join('\n');
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
    case 'delete':
    case 'remove_file':
      return '';
    default: {
      const added = addedLines(prose(textOf(change, 'content')), before.map(prose));
      return withoutForm(added, target);
    }
  }
}

/** Description and body; the other fields of the header are form. */
function prose(text: string): string {
  const { front, body } = splitFrontMatter(text);
  if (front === undefined) return body;
  const described = [...front.matchAll(/^(?:description|when_to_use|when-to-use):[ \t]*(.*(?:\n[ \t]+.*)*)/gm)];
  return [...described.map(([, value = '']) => plainScalar(value.trim())), body].join('\n');
}

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
