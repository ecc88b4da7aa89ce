// Owns the account of an import: what came, what was here already, what was left and why. Knows no source.
// Invariant: everything that was met is counted once; whatever is left has a reason in words, and no value of a key is ever in it.
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { line } from '../command-deps.ts';

export type ImportKind = 'keys' | 'settings' | 'identity' | 'memories' | 'skills' | 'sessions' | 'other files';

export interface LeftThing {
  readonly kind: ImportKind;
  readonly name: string;
  readonly reason: string;
  /** It should have come and could not be read. */
  readonly broken: boolean;
}

export interface ImportReport {
  took(kind: ImportKind, name: string): void;
  /** Was here already. */
  same(kind: ImportKind, name: string): void;
  left(kind: ImportKind, name: string, reason: string): void;
  broken(kind: ImportKind, name: string, reason: string): void;
  /** Something to know about what came. */
  note(text: string): void;
  readonly taken: number;
  readonly leftThings: readonly LeftThing[];
  outputs(input: { readonly from: string; readonly dryRun: boolean }): readonly CommandOutput[];
}

const KINDS: readonly ImportKind[] = ['keys', 'settings', 'identity', 'memories', 'skills', 'sessions', 'other files'];
/** Sessions come in thousands: of each reason some are named. */
const MOST_NAMED = 20;

export function createImportReport(): ImportReport {
  const taken = new Map<ImportKind, string[]>();
  const here = new Map<ImportKind, string[]>();
  const leftThings: LeftThing[] = [];
  const notes: string[] = [];
  const add = (map: Map<ImportKind, string[]>, kind: ImportKind, name: string) => {
    const names = map.get(kind);
    if (names) names.push(name);
    else map.set(kind, [name]);
  };
  const countOf = (map: Map<ImportKind, string[]>, kind: ImportKind) => map.get(kind)?.length ?? 0;
  return {
    took: (kind, name) => add(taken, kind, name),
    same: (kind, name) => add(here, kind, name),
    left: (kind, name, reason) => void leftThings.push({ kind, name, reason, broken: false }),
    broken: (kind, name, reason) => void leftThings.push({ kind, name, reason, broken: true }),
    note: (text) => void notes.push(text),
    get taken() {
      return [...taken.values()].reduce((sum, names) => sum + names.length, 0);
    },
    leftThings,
    outputs({ from, dryRun }) {
      const counted = KINDS.map((kind) => {
        const left = leftThings.filter((thing) => thing.kind === kind).length;
        return { kind, taken: countOf(taken, kind), here: countOf(here, kind), left };
      }).filter((row) => row.taken + row.here + row.left > 0);
      return [
        {
          type: 'table',
          columns: ['what', dryRun ? 'would come' : 'came', 'here already', 'left'],
          rows: counted.map((row) => [row.kind, String(row.taken), String(row.here), String(row.left)]),
        },
        ...(dryRun ? [...taken].map(comingLine).map(line) : []),
        ...leftLines(leftThings).map(line),
        ...notes.map(line),
        {
          type: 'data',
          value: {
            from,
            dryRun,
            kinds: counted,
            taken: Object.fromEntries([...taken].map(([kind, names]) => [kind, [...names]])),
            left: leftThings.map((thing) => ({ ...thing })),
            notes: [...notes],
          },
        },
      ];
    },
  };
}

function comingLine([kind, names]: readonly [ImportKind, readonly string[]]): string {
  return `would come (${kind}): ${someOf(names)}`;
}

function someOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return names.slice(0, MOST_NAMED).join(', ') + more;
}

/** One line a reason, with the names that it holds for. */
function leftLines(things: readonly LeftThing[]): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const { kind, name, reason } of things) {
    const key = `${kind}\0${reason}`;
    byReason.set(key, [...(byReason.get(key) ?? []), name]);
  }
  return [...byReason].map(([key, names]) => {
    const [kind = '', reason = ''] = key.split('\0');
    return `left (${kind}): ${someOf(names)}: ${reason}`;
  });
}
