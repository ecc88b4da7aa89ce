// Owns how files, folders and places are named in a line: paths, spoken names, and the nouns around them.
// Knows no disk: a path is a spelling, whether it exists is the tool's business.

import { type Line, startsWith } from './read-line.ts';
import type { Candidate } from './slot-candidate.ts';
import { isPath, type Token } from './tokenize.ts';

interface Nouns {
  readonly nouns: ReadonlySet<string>;
  readonly named: ReadonlySet<string>;
}

const nounSets = new WeakMap<object, { readonly file: Nouns; readonly folder: Nouns }>();

function nounsOf(line: Line): { readonly file: Nouns; readonly folder: Nouns } {
  const words = line.language.slots;
  const known = nounSets.get(words);
  if (known !== undefined) return known;
  const named = new Set(words.namedWords.split(' '));
  const made = {
    file: { nouns: new Set(words.fileNouns.split(' ')), named },
    folder: { nouns: new Set(words.folderNouns.split(' ')), named },
  };
  nounSets.set(words, made);
  return made;
}

/** `README.md`, `the file src/a.ts`, `"my notes.txt"`, `the readme`, `file called notes`. */
export function readFile(line: Line, at: number): readonly Candidate[] {
  const { file } = nounsOf(line);
  const spoken = spokenFile(line, at);
  const lead = leadOf(line, at, file);
  const token = line.tokens[lead.at];
  const quality = token === undefined ? 0 : fileQuality(token, lead);
  if (token === undefined || quality === 0) return spoken;
  const end = file.nouns.has(line.tokens[lead.at + 1]?.word ?? '') ? lead.at + 2 : lead.at + 1;
  return [{ end, value: token.raw, quality, quoted: isQuoted(token) }, ...spoken];
}

function fileQuality(token: Token, lead: Lead): number {
  if (isQuoted(token)) return quotedFileQuality(token, lead);
  if (token.kind !== 'path') return token.kind === 'word' && lead.named ? 0.9 : 0;
  if (!isFolderLike(token.raw)) return 1;
  return lead.noun || lead.named ? 0.97 : 0.8;
}

function quotedFileQuality(token: Token, lead: Lead): number {
  const spelled = token.raw.replaceAll(' ', '_');
  if (isPath(spelled) && !isFolderLike(spelled)) return 1;
  return lead.noun ? 0.95 : 0;
}

function isFolderLike(path: string): boolean {
  return /(^|\/)(\.{1,2}|~)?$/.test(path) || !isPath(path.split('/').at(-1) ?? '');
}

function spokenFile(line: Line, at: number): readonly Candidate[] {
  const start = skipDeterminers(line, at);
  const found: Candidate[] = [];
  for (const [phrase, path] of Object.entries(line.language.slots.knownFiles)) {
    const words = startsWith(line.tokens, phrase.split(' '), start);
    if (words === 0) continue;
    const end = line.tokens[start + words]?.word === 'file' ? start + words + 1 : start + words;
    found.push({ end, value: path, quality: 0.99 });
  }
  return found;
}

/** `src`, `the src folder`, `folder docs`, `here`, `the parent folder`. */
export function readFolder(line: Line, at: number): readonly Candidate[] {
  const { here, parent, home } = line.language.slots;
  const found = [
    ...phrasesAt(line, at, here, '.'),
    ...phrasesAt(line, at, parent, '..'),
    ...phrasesAt(line, at, home, '~'),
  ];
  const { folder } = nounsOf(line);
  const lead = leadOf(line, at, folder);
  const token = line.tokens[lead.at];
  if (token === undefined) return found;
  const noun = folder.nouns.has(line.tokens[lead.at + 1]?.word ?? '');
  const quality = folderQuality(line, token, { ...lead, noun: lead.noun || noun });
  if (quality > 0)
    found.push({ end: noun ? lead.at + 2 : lead.at + 1, value: token.raw, quality, quoted: isQuoted(token) });
  return found;
}

function folderQuality(line: Line, token: Token, lead: Lead): number {
  if (token.kind === 'word') return wordFolderQuality(line, token, lead);
  if (token.kind !== 'path' && !isQuoted(token)) return 0;
  const file = isPath(token.raw) && !isFolderLike(token.raw);
  return file && !lead.noun ? 0.6 : 0.99;
}

function wordFolderQuality(line: Line, token: Token, lead: Lead): number {
  if (!/^[\w@+-]{2,40}$/.test(token.raw)) return 0;
  if (isPlainWord(line, token)) return lead.noun && lead.named ? 0.8 : 0;
  if (lead.noun) return 0.98;
  return lead.determined ? 0.72 : 0.95;
}

function isPlainWord(line: Line, { word }: Token): boolean {
  return line.commonWords.has(word) || line.determiners.has(word) || line.fillers.has(word);
}

/** Where to search: everywhere (empty value), a folder or a file. */
export function readPlace(line: Line, at: number): readonly Candidate[] {
  return [
    ...phrasesAt(line, at, line.language.slots.everywhere, ''),
    ...readFolder(line, at),
    ...readFile(line, at),
  ].map((candidate) => (candidate.value === '.' ? { ...candidate, value: '' } : candidate));
}

interface Lead {
  readonly at: number;
  readonly noun: boolean;
  readonly named: boolean;
  readonly determined: boolean;
}

/** Skips `the file called` before the name itself. */
function leadOf(line: Line, at: number, words: Nouns): Lead {
  let place = skipDeterminers(line, at);
  const determined = place > at;
  const noun = words.nouns.has(line.tokens[place]?.word ?? '') && place + 1 < line.tokens.length;
  if (noun) place += 1;
  const named = words.named.has(line.tokens[place]?.word ?? '');
  if (named) place += 1;
  return { at: place, noun, named, determined };
}

function skipDeterminers(line: Line, at: number): number {
  let place = at;
  while (line.determiners.has(line.tokens[place]?.word ?? '')) place += 1;
  return place;
}

function phrasesAt(line: Line, at: number, phrases: readonly string[], value: string): Candidate[] {
  const found: Candidate[] = [];
  for (const phrase of phrases) {
    const words = startsWith(line.tokens, phrase.split(' '), at);
    if (words > 0) found.push({ end: at + words, value, quality: 1 });
  }
  return found;
}

function isQuoted(token: Token): boolean {
  return token.kind === 'quoted' || token.kind === 'code';
}
