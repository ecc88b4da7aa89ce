// Owns `.skillignore` and `.clawhubignore`: which files of a skill's folder are none of its business. Pure; the usual subset of
// gitignore: comments, `!`, leading and trailing `/`, `*`, `?`, `**`. Invariant: never throws; rules that could be slow are left out.

export interface IgnoreRules {
  /** `path` relative to the skill's folder, with `/`. */
  readonly ignores: (path: string) => boolean;
}

interface Rule {
  readonly keep: boolean;
  readonly pattern: RegExp;
}

const MOST_RULES = 500;
/** More in one rule make a pattern whose cost explodes. */
const MOST_WILDCARDS = 6;

export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && (line.match(/\*+/g)?.length ?? 0) <= MOST_WILDCARDS)
    .slice(0, MOST_RULES)
    .map(toRule);
  return {
    ignores: (path) => rules.findLast(({ pattern }) => pattern.test(path))?.keep === false,
  };
}

function toRule(line: string): Rule {
  const keep = line.startsWith('!');
  const written = keep ? line.slice(1) : line;
  const isAnchored = written.replace(/\/$/, '').includes('/');
  const glob = written.replace(/^\//, '').replace(/\/$/, '');
  const start = isAnchored ? '^' : '^(?:.*/)?';
  return { keep, pattern: new RegExp(`${start}${globPattern(glob)}(?:/.*)?$`, 's') };
}

function globPattern(glob: string): string {
  const parts = glob.replace(/\*{3,}/g, '**').split(/(\*\*\/|\*\*|\*|\?)/);
  return parts.map((part) => WILD[part] ?? part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('');
}

const WILD: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
