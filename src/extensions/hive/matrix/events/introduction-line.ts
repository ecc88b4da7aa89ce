// Owns the lines by which agents are introduced: `About @id: context` and `Why: reason` (seed 004, layer 3). Pure.
import { sliceText } from '#base/text.ts';
import { isUserId, opaqueId } from './user-id.ts';

const MAX_CONTEXT = 4_000;

export function aboutLine(userId: string, context: string): string {
  return `About ${userId}: ${context}`;
}

export function whyLine(reason: string): string {
  return `Why: ${reason}`;
}

/** What `text` says about that person, several lines kept, at most 4,000 characters; undefined when it is about somebody else. */
export function contextIn(text: string, userId: string): string | undefined {
  const start = aboutLine(userId, '').trimEnd();
  const trimmed = text.trimStart();
  return trimmed.startsWith(start) ? sliceText(trimmed.slice(start.length).trim(), MAX_CONTEXT) : undefined;
}

export function isIntroductionLine(text: string): boolean {
  return subjectOf(text) !== undefined || text.startsWith('Why: ');
}

/** The line with an opaque id; any other text as it is. */
export function translateLine(text: string): string {
  const subject = subjectOf(text);
  return subject === undefined
    ? text
    : `${aboutLine(opaqueId(subject), '')}${text.slice(aboutLine(subject, '').length - 1).trimStart()}`;
}

/** Who the line is about. The id ends at the last colon before a blank: a server may have a port. */
function subjectOf(text: string): string | undefined {
  const id = /^About (@\S{1,255}):(?=\s|$)/.exec(text)?.[1];
  return isUserId(id) ? id : undefined;
}
