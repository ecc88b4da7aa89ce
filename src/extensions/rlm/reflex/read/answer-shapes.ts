// Owns the shapes of answers that a rule can see: how a question asks for one, and how a passage shows one. Data only.
// Invariant: every pattern is linear.
import { contentStems } from '#base/text/content-stems.ts';

export interface AnswerShape {
  readonly name: string;
  /** In a question, lower case. */
  readonly asked: RegExp;
  /** In a passage. */
  readonly shown: RegExp;
  /** Stems by which the shape itself is named: what a passage of it need not say. */
  readonly names: readonly string[];
}

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

function shape(name: string, asked: RegExp, shown: RegExp, named: string): AnswerShape {
  return { name, asked, shown, names: contentStems(named) };
}

export const SHAPES: readonly AnswerShape[] = [
  shape(
    'time',
    /\b(?:when|dates?|deadlines?|what\s+(?:day|time|year)|which\s+(?:day|year)|how\s+long|since|until)\b/,
    new RegExp(
      `\\b(?:\\d{4}-\\d\\d(?:-\\d\\d)?|(?:19|20)\\d\\d|\\d{1,2}:\\d\\d|\\d{1,2}\\.\\s?\\d{1,2}\\.|${MONTH}\\s+\\d{1,2}|\\d{1,2}\\.?\\s+${MONTH}|\\d+\\s+(?:ms|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?))\\b`,
      'i',
    ),
    'date dates deadline deadlines time year day when',
  ),
  shape(
    'figure',
    /\b(?:how\s+(?:many|much|large|big|high|often|far|fast|old|long)|numbers?|figures?|amounts?|prices?|costs?|total|percent(?:age)?|limits?|size|maximum|minimum|default)\b/,
    /\d/,
    'number numbers figure figures amount amounts price prices cost costs total percentage',
  ),
  shape(
    'person',
    /\b(?:who|whom|whose|people|persons?|names?)\b/,
    /(?<![.!?]\s|^)\b[A-Z][\p{L}'’-]+(?:\s+[A-Z][\p{L}'’-]+)?/u,
    'people person persons name names',
  ),
  shape(
    'meaning',
    /\b(?:what\s+(?:is|are|does\b.{0,80}\bmean)|define|definition|definitions|meaning|terms)\b/,
    /(?:^|\s)(?:is|are|means|stands\s+for|refers\s+to)\s|^[^:]{1,60}:\s/,
    'definition definitions meaning define term terms',
  ),
  shape(
    'reason',
    /\bwhy\b|\breasons?\b/,
    /\b(?:because|since|so\s+that|therefore|in\s+order|reason|for\s+fear)\b/i,
    'reason reasons',
  ),
  shape(
    'command',
    /\bhow\s+(?:do|can|to|does|should)\b|\bcommands?\b|\bflags?\b|\boptions?\b/,
    /`[^`]+`|(?:^|\s)--[a-z]|^\s*\$\s/,
    'command commands flag flags option options',
  ),
  shape(
    'place',
    /\bwhere\b|\bpaths?\b|\bwhich\s+(?:file|folder|directory)\b/,
    /[~./\w-]+\/[\w./-]+|\b\w+\.\w{1,5}\b/,
    'path paths folder directory',
  ),
  shape('mail', /\be-?mails?\b/, /[\w.+-]+@[\w-]+\.[\w.-]+/, 'email e-mail mail address addresses emails mails'),
  shape('link', /\b(?:urls?|links?)\b/, /https?:\/\/\S+/, 'url urls link links'),
  shape(
    'duty',
    /\b(?:requirements?|obligations?|rules?|must)\b/,
    /\b(?:must|shall|required|has\s+to|have\s+to|never|only)\b/i,
    'requirement requirements obligation obligations rule rules',
  ),
];
