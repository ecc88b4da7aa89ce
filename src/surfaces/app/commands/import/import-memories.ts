// Owns bringing MEMORY.md and USER.md through the one door of mind/memory. Knows no lock and no limit.
// Invariant: entries are added, never replaced; what the door refuses is named with its reason; what did not fit, and what the
// owner did not agree to, waits for him.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#base/errors.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { ellipsize } from '#base/text.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createPendingFiles } from '#mind/learning/keep/pending-files.ts';
import { normalizeEntry, parseEntries } from '#mind/memory/entry-format.ts';
import type { MemoryFiles, MemoryTarget } from '#mind/memory/memory-files.ts';
import type { ImportPlace } from './import-place.ts';

export interface MemoryDoors {
  readonly memory: MemoryFiles;
  readonly ledger: ProposalLedger;
}

const FILES: readonly (readonly [MemoryTarget, string])[] = [
  ['memory', 'MEMORY.md'],
  ['user', 'USER.md'],
];

const MOST_BYTES = 4_000_000;

export async function importMemories(place: ImportPlace, doors: MemoryDoors): Promise<void> {
  for (const [target, name] of FILES) {
    const path = join(place.from, 'memories', name);
    if (!existsSync(path)) continue;
    const entries = readEntries(place, path);
    const isAgreed = await agreed(place, doors, { target, name, entries });
    for (const entry of entries) await bringEntry(place, doors, { target, entry, isAgreed });
  }
}

/** One question a file, with every entry that would come. */
async function agreed(
  { dryRun, agrees }: ImportPlace,
  { memory, ledger }: MemoryDoors,
  {
    target,
    name,
    entries,
  }: { readonly target: MemoryTarget; readonly name: string; readonly entries: readonly string[] },
): Promise<boolean> {
  const state = memory.read(target);
  const known = state.ok ? state.value.entries : [];
  const fresh = entries.filter((entry) => !known.includes(entry) && !isWaiting(ledger, { target, entry }));
  return (
    dryRun ||
    fresh.length === 0 ||
    agrees(
      name,
      fresh.map((entry) => `+ ${entry}`),
    )
  );
}

function readEntries({ report }: ImportPlace, path: string): readonly string[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readRegular(path, MOST_BYTES));
    return [...new Set(parseEntries(text).entries.map(normalizeEntry))];
  } catch (error) {
    report.broken('memories', path, errorText(error));
    return [];
  }
}

interface Bringing {
  readonly target: MemoryTarget;
  readonly entry: string;
}

async function bringEntry(
  place: ImportPlace,
  doors: MemoryDoors,
  { target, entry, isAgreed }: Bringing & { readonly isAgreed: boolean },
): Promise<void> {
  const { report, dryRun, signal } = place;
  const name = `"${ellipsize(entry.replaceAll('\n', ' '), 50)}"`;
  const state = doors.memory.read(target);
  if (state.ok && state.value.entries.includes(entry)) {
    report.same('memories', name);
    return;
  }
  if (isWaiting(doors.ledger, { target, entry })) {
    report.left('memories', name, 'it waits, or was turned down: `talaria pending list`');
    return;
  }
  if (dryRun) {
    report.took('memories', name);
    return;
  }
  if (!isAgreed) {
    await keepWaiting(doors.ledger, { target, entry }, { pending: place.home.pending, ...UNAGREED });
    report.left('memories', name, 'you did not agree to it; it waits: `talaria pending list`');
    return;
  }
  const added = await doors.memory.apply(target, [{ action: 'add', content: entry }], {
    actor: 'import',
    signal,
  });
  if (added.ok) report.took('memories', name);
  else if (added.reason === 'over_limit') {
    await keepWaiting(doors.ledger, { target, entry }, { pending: place.home.pending, ...FULL });
    report.left(
      'memories',
      name,
      `${target === 'user' ? 'USER.md' : 'MEMORY.md'} is full; it waits: \`talaria pending list\``,
    );
  } else report.left('memories', name, `${added.reason}: ${ellipsize(added.detail, 120)}`);
}

function isWaiting(ledger: ProposalLedger, { target, entry }: Bringing): boolean {
  return ledger
    .list({ kind: 'memory', actor: 'import' })
    .some((proposal) => proposal.target === target && proposal.change.content === entry && isOpen(proposal.status));
}

function isOpen(status: string): boolean {
  return status === 'pending' || status === 'rejected';
}

const FULL = { reason: 'over_limit', detail: 'The file was full at import.' };
const UNAGREED = { reason: 'needs-owner', detail: 'Nobody agreed to it at import.' };

async function keepWaiting(
  ledger: ProposalLedger,
  { target, entry }: Bringing,
  { pending, ...why }: { readonly pending: string; readonly reason: string; readonly detail: string },
): Promise<void> {
  const change = { action: 'add', target, content: entry };
  const draft = { kind: 'memory', actor: 'import', target, action: 'add', change, citations: [] } as const;
  const { id } = await ledger.open(draft);
  await ledger.decide(id, { status: 'pending', ...why });
  const waiting = ledger.get(id);
  if (waiting) createPendingFiles(pending).put(waiting);
}
