// Owns the guess which wall a command ran into, from what it printed. Knows no wall that stands.
// Invariant: a guess words a question and opens nothing; what is read here is foreign text.
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Opening } from './walls.ts';

interface Sign {
  readonly pattern: RegExp;
  readonly kind: 'read' | 'write' | 'network' | 'loopback';
  /** It wanted to make a folder: what has to be opened is the one above. */
  readonly isAbove?: true;
  /** Nothing else says this: it counts also where the command went on and ended well. */
  readonly isSure?: true;
}

const PATH = String.raw`["'‘\`]?((?:~|\.{1,2})?/?[^\s"'’\`:,;()\[\]{}]+)["'’\`]?`;

const LOOPBACK = String.raw`(?:localhost|127\.0\.0\.1|\[?::1\]?)`;

/** In this order: what says most comes first. */
const SIGNS: readonly Sign[] = [
  // git says what it could not write, not why, before the reason; what a deleted branch leaves in the settings does no harm
  {
    pattern:
      /could not write config file ([^\n]{1,4000}?): (?:Device or resource busy|Read-only file system)(?!\nwarning: Update of config-file failed)/g,
    kind: 'write',
    isSure: true,
  },
  { pattern: /could not (?:write|lock) config file (\S+?)(?:\.lock)?: /g, kind: 'write' },
  // pushed to a repository beside the folder: the reason first, where to in a line of its own
  {
    pattern:
      /unable to create temporary object directory\n(?:[^\n]*\n){0,4}?To (?:file:\/\/)?((?:~|\.{1,2})?\/[^\n]+)/g,
    kind: 'write',
  },
  { pattern: new RegExp(`EROFS: [^\\n]*?, mkdir ${PATH}`, 'g'), kind: 'write', isAbove: true },
  // git clone, git worktree add, git init
  {
    pattern: /could not create leading directories of '([^'\n]{1,4000}?)\/\.git\/?': Read-only file system/g,
    kind: 'write',
    isAbove: true,
  },
  {
    pattern: /(?:could not create work tree dir|cannot mkdir) '?([^'\n]{1,4000}?)'?: Read-only file system/g,
    kind: 'write',
    isAbove: true,
  },
  { pattern: new RegExp(`create directory ${PATH}: Read-only file system`, 'g'), kind: 'write', isAbove: true },
  { pattern: new RegExp(`EROFS: [^\\n]*?, \\w+ ${PATH}`, 'g'), kind: 'write' },
  { pattern: new RegExp(`EBUSY: [^\\n]*?, \\w+ (?:${PATH} -> )?${PATH}`, 'g'), kind: 'write' },
  { pattern: new RegExp(`Read-only file system: ${PATH}`, 'g'), kind: 'write' },
  { pattern: new RegExp(`${PATH}:? (?:Read-only file system|Device or resource busy)`, 'g'), kind: 'write' },
  { pattern: new RegExp(`EACCES: [^\\n]*?, \\w+ ${PATH}`, 'g'), kind: 'read' },
  { pattern: new RegExp(`Permission denied: ${PATH}`, 'g'), kind: 'read' },
  { pattern: new RegExp(`${PATH}:? (?:Permission denied|No such file or directory)`, 'g'), kind: 'read' },
  {
    pattern:
      /Network is unreachable|Temporary failure in name resolution|Could not resolve host|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|Name or service not known|No route to host|ENETUNREACH|UnknownHostException|nodename nor servname provided|dial (?:tcp|udp)[^\n]*(?:unreachable|no such host|lookup)|failed to lookup address information/g,
    kind: 'network',
  },
  {
    pattern: new RegExp(
      `(?:ECONNREFUSED|\\bto(?: host)?) ${LOOPBACK}(?::| port )(\\d{1,5})\\b|${LOOPBACK}["'),: ]{0,4}(?:\\(${LOOPBACK}\\), )?(?:port[ =])?(\\d{1,5})\\b[^\\n]{0,300}refused`,
      'gi',
    ),
    kind: 'loopback',
  },
];

export interface Printed {
  readonly output: string;
  readonly failed: boolean;
  readonly cwd: string;
  readonly userHome: string;
}

const LONGEST = 200_000;
const MOST = 20;

/** Candidates; who calls knows which of them a wall keeps. A host is a server of this machine that did not answer. */
export function guessOpenings(printed: Printed): readonly Opening[] {
  const text = printed.output.slice(-LONGEST);
  const found = new Map<string, Opening>();
  const told = new Set<string>();
  for (const sign of SIGNS.filter(({ isSure }) => printed.failed || isSure))
    for (const match of text.matchAll(sign.pattern)) {
      const said = openingOf(sign.kind, match, printed);
      if (said === undefined || told.has(keyOf(said)) || found.size >= MOST) continue;
      told.add(keyOf(said));
      const wanted = sign.isAbove && 'path' in said ? { ...said, path: dirname(said.path) } : said;
      found.set(keyOf(wanted), found.get(keyOf(wanted)) ?? wanted);
    }
  return [...found.values()];
}

function keyOf(opening: Opening): string {
  if (opening.kind === 'host') return opening.host;
  return 'path' in opening ? opening.path : opening.kind;
}

function openingOf(kind: Sign['kind'], match: RegExpExecArray, { cwd, userHome }: Printed): Opening | undefined {
  if (kind === 'network') return { kind };
  const named = match.slice(1).findLast((group) => group !== undefined) ?? '';
  if (kind === 'loopback') return { kind: 'host', host: `localhost:${named}` };
  const path = pathOf(named, cwd, userHome);
  return path === undefined ? undefined : { kind, path };
}

function pathOf(named: string, cwd: string, userHome: string): string | undefined {
  const text = named.replace(/^~(?=\/|$)/, () => userHome).replace(/[.,]+$/, '');
  if (text === '' || text.includes('\0') || text.length > 4_000) return undefined;
  return isAbsolute(text) ? resolve(text) : resolve(cwd, text);
}
