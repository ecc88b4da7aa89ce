// Owns gathering what was decided or demanded: sentences with a telling word, kept as they were said, with who said them and where.
// Knows no meaning. Invariant: a sentence is never reworded; what is too long to be one is left to the search.
import type { TextPart } from '#core/model/message.ts';
import type { StoredMessage } from '../../session-store.ts';

const OWNERS_CUES =
  /\b(?:decid|let['’]s|we(?:['’]ll| will| should| agreed)|must\b|never|always|don['’]t|do not|instead|rather than|prefer|from now on|make sure|remember|important|deadline|only use|go with|agreed)/gi;
const AGENTS_CUES = /\b(?:decided|agreed|chose|will use|went with|settled on|the plan is)\b/gi;
const LENGTH = { least: 12, most: 300 };
const MOST = 80;

/** The latest ones, oldest first. */
export function gatherSaid(messages: readonly StoredMessage[]): readonly string[] {
  const lines: string[] = [];
  for (const { id, message } of messages.toReversed()) {
    if (lines.length >= MOST) break;
    const said = message.parts.flatMap((part) => (part.type === 'text' ? linesOf(part, id) : []));
    lines.push(...said.reverse());
  }
  return lines.reverse();
}

function linesOf(part: TextPart, id: number): readonly string[] {
  const cues = cuesFor(part);
  return cues ? sentencesWith(part.text, cues).map((sentence) => `${part.origin}: ${sentence} #${id}`) : [];
}

function cuesFor({ origin, label }: TextPart): RegExp | undefined {
  if (origin === 'owner' && (label === undefined || label === 'steer')) return OWNERS_CUES;
  return origin === 'model' && label === undefined ? AGENTS_CUES : undefined;
}

function sentencesWith(text: string, cues: RegExp): readonly string[] {
  const found: string[] = [];
  let end = 0;
  for (const { index } of text.matchAll(cues)) {
    if (index < end) continue;
    const from = startOf(text, index);
    const to = endOf(text, index);
    end = to ?? index + LENGTH.most;
    if (from === undefined || to === undefined) continue;
    const sentence = text.slice(from, to).replace(/\s+/g, ' ').trim();
    if (sentence.length >= LENGTH.least && sentence.length <= LENGTH.most) found.push(sentence);
  }
  return found;
}

/** Undefined when the sentence is too long to be one. */
function startOf(text: string, at: number): number | undefined {
  for (let i = at - 1; at - i <= LENGTH.most; i -= 1) if (i < 0 || isEnd(text, i)) return i + 1;
  return undefined;
}

function endOf(text: string, at: number): number | undefined {
  for (let i = at; i - at < LENGTH.most; i += 1) {
    if (i >= text.length) return text.length;
    if (isEnd(text, i)) return i + 1;
  }
  return undefined;
}

/** A full stop ends a sentence when a space follows it. */
function isEnd(text: string, at: number): boolean {
  const sign = text[at];
  if (sign === '\n') return true;
  return (sign === '.' || sign === '!' || sign === '?') && /^\s?$/.test(text[at + 1] ?? '');
}
