// Owns leaving out of a message what its writer only passes on: fenced blocks, quoted lines, quotations, lines of a pasted conversation.
// Knows no claim. Invariant: total and linear; nothing is added. Seed 004: only what a peer says itself counts.

/** Text beyond this is not read. */
const LONGEST = 8_000;

const QUOTATIONS = [/"([^"\n]{1,600})"/g, /“([^”\n]{1,600})”/g, /«([^»\n]{1,600})»/g, /„([^“”\n]{1,600})[“”]/g];
/** Something is claimed in the quotation: it is somebody's sentence and no mere name. */
const CLAIMING = /\b(?:i|we|my|our|me|us|needs?|looking|offers?|can|expert|specialis|specializ|should_introduce)\b/i;
const SINGLE_QUOTATION = /(^|[\s(:])'([^'\n]{1,20} [^\n']{4,400})'(?=[\s.,;!?)]|$)/gm;
/** `Carol: …`, `<carol> …`, `[12:01] carol: …`, `Carol wrote:` */
const SPEAKER =
  /^\s*(?:\[[^\]\n]{1,30}\]\s*)?(?:<([\w@.-]{1,40})>|([\p{L}][\p{L}\p{N}_.-]{0,30}(?: \p{Lu}[\p{L}.-]{0,30})?)\s?:)\s+\S/u;
const LABELS =
  /^(?:needs?|wants?|wanted|requests?|offers?|offering|provides?|skills?|services|expertise|special\w{2,5}|knows|background|fields?|seeking|ps|p\.s|note|nb|btw|fyi|update|edit|also|question|hi|hello|hey|intro|about|context|summary|status|request|reply|answer|todo|goal|project|problem|issue|topic|re)$/i;

/** @param isOwn whether a name is one of the writer's or of whom the text is about */
export function ownWords(text: string, isOwn: (name: string) => boolean): string {
  const plain = text.slice(0, LONGEST).replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, '\n');
  const lines = plain.split(/\r\n?|\n/).filter((line) => !/^\s*(?:>|&gt;|\|)/.test(line));
  return lines.map((line) => withoutQuotations(spokenLine(line, isOwn))).join('\n');
}

function spokenLine(line: string, isOwn: (name: string) => boolean): string {
  const match = SPEAKER.exec(line);
  const speaker = match?.[1] ?? match?.[2];
  if (match === null || speaker === undefined || LABELS.test(speaker)) return line;
  return isOwn(speaker) ? line.slice(match[0].length - 1) : '';
}

function withoutQuotations(line: string): string {
  let own = line.replace(SINGLE_QUOTATION, (_, before: string, said: string) => `${before}${keepNames(said)}`);
  for (const pattern of QUOTATIONS) own = own.replace(pattern, (_, said: string) => keepNames(said));
  return own;
}

function keepNames(said: string): string {
  return CLAIMING.test(said) ? '…' : said;
}
