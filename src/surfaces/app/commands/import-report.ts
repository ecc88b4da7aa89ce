// Owns what every part of an import is given, and the account of it: what came, what was here already, what was left and why. Knows no source.
// Invariant: everything that was met is counted once; whatever is left has a reason in words, and no value of a key is ever in it.
import type { Clock } from '#base/clock.ts';
import { type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Brought, Doors } from '#core/agent/room.ts';
import type { Home } from '../home/home.ts';

export interface ImportPlace {
  /** The folder that is read; nothing in it is ever changed. */
  readonly from: string;
  readonly home: Home;
  readonly clock: Clock;
  /** Through which what comes has to pass. */
  readonly doors: Doors;
  readonly report: ImportReport;
  /** Count and name, write nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Shows the owner these lines, which every later session would read, and asks for his yes to them. */
  readonly agrees: (what: string, lines: readonly string[]) => Promise<boolean>;
  /** Takes the keys of both homes out of a text. */
  readonly redact: (text: string) => string;
}

const KINDS = ['keys', 'settings', 'identity', 'memories', 'skills', 'sessions', 'jobs', 'other files'] as const;
type ImportKind = (typeof KINDS)[number];

/** `broken`: it should have come and could not be read. */
export type Outcome = Brought['outcome'];

/** Sessions come in thousands: of each reason some are named. */
const MOST_NAMED = 20;

export class ImportReport {
  readonly #met: { readonly kind: ImportKind; readonly name: string; readonly outcome: Outcome }[] = [];
  readonly #notes: string[] = [];

  tell(kind: ImportKind, name: string, outcome: Outcome): void {
    this.#met.push({ kind, name, outcome });
  }

  /** Something to know about what came. */
  note(text: string): void {
    this.#notes.push(text);
  }

  get taken(): number {
    return this.#names('taken').length;
  }

  get left() {
    return this.#met.flatMap(({ kind, name, outcome }) =>
      typeof outcome === 'string' ? [] : [{ kind, name, reason: outcome.left, broken: outcome.broken === true }],
    );
  }

  outputs({ from, dryRun }: { readonly from: string; readonly dryRun: boolean }): readonly CommandOutput[] {
    const { left } = this;
    const kinds = KINDS.map((kind) => ({
      kind,
      taken: this.#names('taken', kind).length,
      here: this.#names('here', kind).length,
      left: left.filter((thing) => thing.kind === kind).length,
    })).filter((row) => row.taken + row.here + row.left > 0);
    const taken = Object.fromEntries(
      KINDS.map((kind) => [kind, this.#names('taken', kind)] as const).filter(([, names]) => names.length > 0),
    );
    const coming = Object.entries(taken).map(([kind, names]) => `would come (${kind}): ${someOf(names)}`);
    const byReason = Map.groupBy(left, ({ kind, reason }) => `left (${kind}): \0: ${reason}`);
    const kept = [...byReason].map(([text, things]) =>
      text.replace('\0', () => someOf(things.map((thing) => thing.name))),
    );
    return [
      {
        type: 'table',
        columns: ['what', dryRun ? 'would come' : 'came', 'here already', 'left'],
        rows: kinds.map((row) => [row.kind, String(row.taken), String(row.here), String(row.left)]),
      },
      ...[...(dryRun ? coming : []), ...kept, ...this.#notes].map(line),
      { type: 'data', value: { from, dryRun, kinds, taken, left, notes: [...this.#notes] } },
    ];
  }

  #names(outcome: Outcome, of?: ImportKind): string[] {
    return this.#met
      .filter((one) => one.outcome === outcome && (of === undefined || one.kind === of))
      .map(({ name }) => name);
  }
}

function someOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return names.slice(0, MOST_NAMED).join(', ') + more;
}
