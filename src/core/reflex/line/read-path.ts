// Owns how files, folders and places are named in a line: paths, spoken names, and the nouns around them.
// Knows no disk: a path is a spelling, whether it exists is the tool's business.

import { CODED_FOLDERS, COMMON_FOLDERS, PERSONAL_FOLDERS } from './common-folders.ts';
import { nearWord } from './near-word.ts';
import { type Line, phraseLengths } from './read-line.ts';
import type { Candidate } from './slot-candidate.ts';
import { isPath, type Token } from './tokenize.ts';
import { isVagueAdjective, isVagueLink } from './vague-name.ts';

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

/** `README.md`, `the file src/a.ts`, `"my notes.txt"`, `the readme`, `file called notes`, `it`. */
export function readFile(line: Line, at: number): readonly Candidate[] {
  const { file } = nounsOf(line);
  const lead = leadOf(line, at, file);
  const found = [
    ...spokenFile(line, at),
    ...spacedFile(line, lead),
    ...phrasesAt(line, at, line.language.slots.sameFile, SAME_FILE),
  ];
  const token = line.tokens[lead.at];
  const bare = token?.kind === 'word' && isPlainWord(line, token);
  const quality = token === undefined || bare ? 0 : fileQuality(token, lead);
  if (token === undefined || quality === 0) return found;
  const end = file.nouns.has(line.tokens[lead.at + 1]?.word ?? '') ? lead.at + 2 : lead.at + 1;
  return [...found, { end, value: token.raw, quality, quoted: isQuoted(token), sure: true }];
}

/** Stands for the file that the conversation was last about. */
const SAME_FILE = '@same';

/** A name with blanks, `disk usage.txt`: up to three words before one with an ending. */
function spacedFile(line: Line, lead: Lead): readonly Candidate[] {
  const found: Candidate[] = [];
  if (!lead.named && !lead.noun && (line.tokens[lead.at]?.word.length ?? 0) < 4) return found;
  for (let end = lead.at + 2; end <= lead.at + 4; end += 1) {
    const run = line.tokens.slice(lead.at, end);
    const last = run.at(-1);
    if (
      last === undefined ||
      run.slice(0, -1).some((token) => !/^[\p{L}\p{N}_/.+-]+$/u.test(token.raw) || isPlainWord(line, token))
    )
      break;
    if (last.kind !== 'path' || last.raw.includes('/') || isFolderLike(last.raw)) continue;
    const value = line.text.slice(run[0]?.start, last.end);
    found.push({ end, value, quality: lead.named ? 0.98 : 0.9, sure: true });
  }
  return found;
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

/** Folders that begin with a dot. */
const DOT_FOLDER =
  /(?:^|\/)\.(?:ssh|git|github|gitlab|vscode|idea|config|cache|npm|docker|aws|kube|husky|circleci|local|venv|next|nuxt|storybook|changeset|devcontainer)$/;

/** Files without an ending that every machine has. */
const SYSTEM_FILE =
  /\/(?:hosts|passwd|group|shadow|fstab|hostname|sudoers|crontab|shells|motd|os-release|environment|cpuinfo|meminfo|version|authorized_keys|known_hosts|id_rsa|config)$/;

function isFolderLike(path: string): boolean {
  if (SYSTEM_FILE.test(path)) return false;
  if (DOT_FOLDER.test(path)) return true;
  return /(^|\/)(\.{1,2}|~)?$/.test(path) || !isPath(path.split('/').at(-1) ?? '');
}

function spokenFile(line: Line, at: number): readonly Candidate[] {
  const { knownFiles } = line.language.slots;
  const start = skipDeterminers(line, at);
  return [1, 2, 3].flatMap((length) => {
    const run = line.tokens.slice(start, start + length);
    const path = knownFiles[run.map((token) => token.word).join(' ')];
    if (path === undefined || run.length < length || (length > 1 && start === 0)) return [];
    const after = line.tokens[start + length]?.word === 'file';
    return [{ end: start + length + (after ? 1 : 0), value: path, quality: 1, sure: true }];
  });
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
  const after = isNoun(line, line.tokens[lead.at + 1], folder.nouns);
  const noun = lead.noun || after;
  const quality = folderQuality(line, token, { ...lead, noun });
  if (quality === 0) return found;
  const said = token.kind === 'path' || isQuoted(token) || lead.named;
  const vague = !said && (isVagueAdjective(token.word, line.language) || (!noun && isOrdinary(line, lead)));
  const sure = token.kind === 'path' || (!vague && (noun || COMMON_FOLDERS.test(token.raw)));
  const end = after ? lead.at + 2 : lead.at + 1;
  return [
    ...found,
    { end, value: token.raw, quality: vague ? quality * VAGUE : quality, quoted: isQuoted(token), sure },
  ];
}

/** Multiplies the quality of a folder that is only any word. */
const VAGUE = 0.5;

/** `the docs`: what is meant may be anything, and no folder. */
function isOrdinary(line: Line, lead: Lead): boolean {
  const counted = /^(?:all|every|each|many)$/.test(line.tokens[lead.at - 1]?.word ?? '');
  return (lead.determined || counted) && !CODED_FOLDERS.test(line.tokens[lead.at]?.raw ?? '');
}

/** Only what is a folder by its spelling, its noun or its common name. */
export function readSureFolder(line: Line, at: number): readonly Candidate[] {
  return readFolder(line, at).filter(
    (candidate) => candidate.sure === true && (candidate.quality > 0.6 || candidate.value === '.'),
  );
}

function folderQuality(line: Line, token: Token, lead: Lead): number {
  if (token.kind === 'word') return wordFolderQuality(line, token, lead);
  if (token.kind !== 'path' && !isQuoted(token)) return 0;
  const file = isPath(token.raw) && !isFolderLike(token.raw);
  return file && !lead.noun ? 0.6 : 0.99;
}

function wordFolderQuality(line: Line, token: Token, lead: Lead): number {
  if (!/^[\p{L}\p{N}_@+-]{2,40}$/u.test(token.raw) || line.determiners.has(token.word) || line.fillers.has(token.word))
    return 0;
  if (isVagueLink(token.word, line.language)) return 0;
  if (lead.noun) return namedFolderQuality(line, token, lead);
  if (COMMON_FOLDERS.test(token.raw)) return lead.determined ? 0.9 : 0.96;
  if (isPlainWord(line, token)) return isPersonal(line, token, lead) ? 0.93 : 0;
  return lead.determined ? 0.6 : 0.93;
}

/** `package json` is a file, though a package is a folder. */
function namedFolderQuality(line: Line, token: Token, lead: Lead): number {
  const before = line.tokens[lead.at - 1]?.word ?? '';
  if (line.language.slots.knownFiles[`${before} ${token.word}`] !== undefined) return 0;
  return isPlainWord(line, token) ? 0.9 : 0.98;
}

/** `in music`: an ordinary word, but where people keep things. */
function isPersonal(line: Line, token: Token, lead: Lead): boolean {
  return PERSONAL_FOLDERS.test(token.raw) && line.placeWords.has(line.tokens[lead.at - 1]?.word ?? '');
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
  const determined = place > at || line.determiners.has(line.tokens[at - 1]?.word ?? '');
  const noun = isNoun(line, line.tokens[place], words.nouns) && place + 1 < line.tokens.length;
  if (noun) place += 1;
  const named = words.named.has(line.tokens[place]?.word ?? '');
  if (named) place += 1;
  return { at: place, noun, named, determined };
}

/** `foldr`, `direcotry`: a slip in the noun is no other word. */
function isNoun(line: Line, token: Token | undefined, nouns: ReadonlySet<string>): boolean {
  if (token?.kind !== 'word') return false;
  if (nouns.has(token.word)) return true;
  if (token.word.length < 5 || line.commonWords.has(token.word)) return false;
  return [...nouns].some((noun) => noun.length > 5 && nearWord(token.word, noun) > 0);
}

function skipDeterminers(line: Line, at: number): number {
  let place = at;
  while (line.determiners.has(line.tokens[place]?.word ?? '')) place += 1;
  return place;
}

function phrasesAt(line: Line, at: number, phrases: readonly string[], value: string): Candidate[] {
  const found: Candidate[] = [];
  for (const length of phraseLengths(line.tokens, at, phrases))
    found.push({ end: at + length, value, quality: 1, sure: true });
  return found;
}

function isQuoted(token: Token): boolean {
  return token.kind === 'quoted' || token.kind === 'code';
}
