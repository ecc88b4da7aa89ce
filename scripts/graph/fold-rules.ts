/**
 * Owns the judgement of counts that only fall and of what each room may hold (`ratchets`, `budgets` of `scripts/floors.ts`). A count that
 * fell must be written down there as well, or it could rise again. There is no list of exceptions.
 */
import { ratchets } from '../floors.ts';
import type { Tree } from './load-tree.ts';
import { crowdedFolders, deepEdges, deepFiles, readCode, roomSizes, smallFolders, thinFiles } from './measures.ts';

type Counted = keyof typeof ratchets;

/** Each count with what it found, where that is a list. */
export function countAll(tree: Tree): Readonly<Record<Counted, readonly string[] | number>> {
  return {
    crowdedFolders: crowdedFolders(tree),
    smallFolders: smallFolders(tree),
    deepFiles: deepFiles(tree),
    thinFiles: thinFiles(tree),
    deepEdges: deepEdges(tree),
    ...readCode(tree),
  };
}

interface Judged<T> {
  readonly allowed?: T;
  /** A fall is a fault, too. */
  readonly isExact?: boolean;
}

export function judgeCounts(
  tree: Tree,
  { allowed = ratchets, isExact = false }: Judged<Readonly<Record<Counted, number>>> = {},
): readonly string[] {
  return Object.entries(countAll(tree)).flatMap(([name, found]) => {
    const now = typeof found === 'number' ? found : found.length;
    const most = allowed[name as Counted];
    if (now > most)
      return [`${name}: ${now}, and ${most} are allowed; node scripts/graph.ts --found ${name} lists them`];
    return isExact && now < most
      ? [`${name}: ${now} now, so write that in scripts/floors.ts in the place of ${most}`]
      : [];
  });
}

/** A room that shrank by so much must not grow into its old size again. */
const SLACK = 0.9;

export type Budgets = Readonly<Record<string, readonly [lines: number, files: number]>>;

export function judgeBudgets(
  tree: Tree,
  { allowed, isExact = false }: Judged<Budgets> & { readonly allowed: Budgets },
): readonly string[] {
  return [...roomSizes(tree)].flatMap(([room, { lines, files }]) => {
    const [mostLines, mostFiles] = allowed[room] ?? [0, 0];
    const over = [
      ...(lines > mostLines ? [`${lines} non-blank lines, and ${mostLines} are its budget`] : []),
      ...(files > mostFiles ? [`${files} files, and ${mostFiles} are its budget`] : []),
    ];
    const isLoose = lines < mostLines * SLACK || files < mostFiles * SLACK;
    if (isExact && over.length === 0 && isLoose)
      over.push(`${lines} lines and ${files} files now: write that in scripts/floors.ts`);
    return over.map((what) => `room ${room} has ${what}`);
  });
}
