// Owns how a change reads to a person: the one line of an announcement or an offer, and the whole for `show`. Pure. Knows no surface.
// Invariant: says `cited`, never `verified`; one line has no line break.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { ellipsize, oneLine, plural } from '#base/text.ts';
import type { Proposal, ProposalDraft } from '#mind/evidence/proposal.ts';
import { readSteps } from '../procedure/steps.ts';
import { shortStep } from '../procedure/traces.ts';

const SHORT = 90;
const FILES = { memory: 'MEMORY.md', user: 'USER.md' } as const;

type Change = Pick<ProposalDraft, 'kind' | 'target' | 'action' | 'change'>;

/** `Kept in USER.md: "…"`, `Patched the skill release: "…"`. */
export function doneLine(draft: Change): string {
  return draft.kind === 'memory' ? memoryLine(draft) : skillLine(draft);
}

export function takenBackLine(draft: Change): string {
  const isGone = draft.kind === 'skill' && (draft.action === 'create' || draft.action === 'install');
  return isGone ? `Taken back: the skill ${draft.target} is gone.` : `Taken back: ${doneLine(draft)}`;
}

/** With the words for an answer behind it an offer fits into 100 columns. */
const OFFER = 73;
const OFFERED_NAME = 32;
const SHOWN_STEPS = 3;

/** `New skill "build" (4 steps: cat page.txt, sh build.sh, …)?`: what waits, on one short line. */
export function offerLine({ kind, target, action, change }: Proposal): string {
  const name = `"${ellipsize(target, OFFERED_NAME)}"`;
  if (kind === 'memory') return framed(`Remember in ${fileOf(target)}: `, contentOf(change), '?');
  if (action === 'create') return newSkillLine(name, textOf(change, 'content'));
  if (action === 'delete') return `Delete the skill ${name}?`;
  return framed(`Change the skill ${name}: `, plainText(addedPart(change)) || action, '?');
}

function newSkillLine(name: string, content: string): string {
  const steps = readSteps(splitFrontMatter(content).body).map(({ step, source }) =>
    plainText(step.kind === 'call' ? shortStep(step).replace(/^\$ /, '') : source.replace(/^\d{1,3}[.)]\s+/, '')),
  );
  if (steps.length === 0) return framed(`New skill ${name} (`, described(content), ')?');
  const head = `New skill ${name} (${plural(steps.length, 'step')}: `;
  for (let count = Math.min(SHOWN_STEPS, steps.length); count > 0; count -= 1) {
    const line = `${head}${steps.slice(0, count).join(', ')}${count < steps.length ? ', …' : ''})?`;
    if (line.length <= OFFER) return line;
  }
  return framed(head, steps[0] ?? '', ')?');
}

function framed(head: string, text: string, end: string): string {
  return `${head}${ellipsize(plainText(text), Math.max(8, OFFER - head.length - end.length))}${end}`;
}

function plainText(text: string): string {
  return oneLine(text);
}

/** What waits unasked, and why. */
export function heldLine(proposal: Proposal): string {
  const what =
    proposal.kind === 'memory'
      ? `an entry for ${fileOf(proposal.target)}`
      : `${proposal.action} of the skill ${proposal.target}`;
  const why = HELD[proposal.reason ?? ''] ?? 'it is yours to decide';
  return `Waits: ${what}, since ${why} · talaria pending show ${proposal.id}`;
}

const HELD: Readonly<Record<string, string>> = {
  'origin-not-allowed': 'it rests on text that you did not write',
  'foreign-words': 'its words come from text that you did not write',
  'value-not-cited': 'it names what stands in nothing it cites',
  'goes-beyond': 'it says more than what it cites',
  'not-judged': 'no model judged it',
};

/** The change whole, then the words that it cites. */
export function offerText({ change, action, citations }: Proposal): string {
  const whole =
    action === 'patch' ? `- ${textOf(change, 'old_string')}\n+ ${textOf(change, 'new_string')}` : changedText(change);
  const cited = citations.map(({ handle, quote }) => `  ${handle.replace(':', ' ')}: "${quote}"`);
  return [whole, ...changedFiles(change), ...(cited.length > 0 ? ['', 'Cited:', ...cited] : [])].join('\n');
}

/** Support files that change with SKILL.md. */
function changedFiles({ files }: JsonObject): readonly string[] {
  if (!Array.isArray(files)) return [];
  return files.filter(isJsonObject).map((file) => {
    const path = textOf(file, 'path');
    return file.content === null ? `\nThe file ${path} goes.` : `\nThe file ${path}:\n${textOf(file, 'content')}`;
  });
}

function memoryLine({ target, action, change }: Change): string {
  const verb = { add: 'Kept in', replace: 'Changed in', remove: 'Removed from' }[action] ?? 'Changed in';
  return `${verb} ${fileOf(target)}: ${quoted(contentOf(change))}`;
}

const SKILL_VERBS: Readonly<Record<string, string>> = {
  create: 'Kept the new skill',
  install: 'Installed the skill',
  delete: 'Deleted the skill',
  patch: 'Patched the skill',
  edit: 'Rewrote the skill',
  write_file: 'Wrote a file of the skill',
  remove_file: 'Removed a file of the skill',
};

function skillLine({ target, action, change }: Change): string {
  const verb = SKILL_VERBS[action] ?? 'Changed the skill';
  const more = action === 'patch' ? `: ${quoted(addedPart(change))}` : '';
  return `${verb} ${target}${more}`;
}

/** The lines of the new text that the old one does not have, whatever their number in a list. */
function addedPart(change: JsonObject): string {
  const linesOf = (key: string) => textOf(change, key).split('\n');
  const bare = (line: string) => line.trim().replace(/^\d{1,3}[.)]\s+/, '');
  const old = new Set(linesOf('old_string').map(bare));
  const added = linesOf('new_string').filter((line) => line.trim() !== '' && !old.has(bare(line)));
  return added.length > 0 ? added.join(' ') : textOf(change, 'new_string');
}

function described(content: string): string {
  return /^description:[ \t]*(.+)$/m.exec(content)?.[1]?.replace(/^["']|["']$/g, '') ?? '';
}

function contentOf(change: JsonObject): string {
  const steps = Array.isArray(change.operations) && change.operations.length > 0 ? change.operations : [change];
  return steps
    .filter(isJsonObject)
    .map((step) => textOf(step, 'content', 'new_text', 'old_text'))
    .join('; ');
}

function changedText(change: JsonObject): string {
  return textOf(change, 'content', 'file_content', 'new_string', 'file_path') || contentOf(change);
}

function fileOf(target: string): string {
  return target === 'user' ? FILES.user : FILES.memory;
}

function quoted(text: string): string {
  return `"${ellipsize(plainText(text), SHORT)}"`;
}

function textOf(change: JsonObject, ...keys: readonly string[]): string {
  const value = keys.map((key) => change[key]).find((one) => typeof one === 'string' && one !== '');
  return typeof value === 'string' ? value : '';
}
