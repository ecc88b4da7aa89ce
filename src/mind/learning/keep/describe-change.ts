// Owns how a change reads to a person: the one line of an announcement or an offer, and the whole for `show`. Pure. Knows no surface.
// Invariant: says `cited`, never `verified`; one line has no line break.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import type { Proposal, ProposalDraft } from '#mind/evidence/proposal.ts';

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

/** `New skill "release" (5 steps …)`: what waits. */
export function offerLine(proposal: Proposal): string {
  const { kind, target, action, change, reason } = proposal;
  const why = reason === 'origin-not-allowed' ? ' It rests on text that you did not write.' : '';
  if (kind === 'memory') return `Remember in ${fileOf(target)}: ${quoted(contentOf(change))}?${why}`;
  if (action === 'create') return `Keep this as the skill "${target}"? ${described(change)}${why}`.trim();
  if (action === 'delete') return `Delete the skill "${target}"?${why}`;
  return `Change the skill "${target}" (${action})? ${quoted(changedText(change))}${why}`;
}

/** What waits unasked, since its words are not the owner's. */
export function heldLine(proposal: Proposal): string {
  const what =
    proposal.kind === 'memory'
      ? `an entry for ${fileOf(proposal.target)}`
      : `${proposal.action} of the skill ${proposal.target}`;
  return `Waits: ${what}, since it rests on text that you did not write · talaria pending show ${proposal.id}`;
}

/** The change whole, then the words that it cites. */
export function offerText({ change, action, citations }: Proposal): string {
  const whole =
    action === 'patch' ? `- ${textOf(change, 'old_string')}\n+ ${textOf(change, 'new_string')}` : changedText(change);
  const cited = citations.map(({ handle, quote }) => `  ${handle.replace(':', ' ')}: "${quote}"`);
  return [whole, ...(cited.length > 0 ? ['', 'Cited:', ...cited] : [])].join('\n');
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

function described(change: JsonObject): string {
  const line = /^description:[ \t]*(.+)$/m.exec(textOf(change, 'content'))?.[1]?.replace(/^["']|["']$/g, '') ?? '';
  return line === '' ? '' : ellipsize(line, SHORT);
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
  return `"${ellipsize(text.replace(/\s+/g, ' ').trim(), SHORT)}"`;
}

function textOf(change: JsonObject, ...keys: readonly string[]): string {
  const value = keys.map((key) => change[key]).find((one) => typeof one === 'string' && one !== '');
  return typeof value === 'string' ? value : '';
}
