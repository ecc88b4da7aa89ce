// Owns bringing MEMORY.md and USER.md through the one door of mind/memory. Knows no lock and no limit.
// Invariant: entries are added, never replaced; what the door refuses is named with its reason, and what did not fit waits for the owner.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#base/errors.ts';
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

export async function importMemories(place: ImportPlace, doors: MemoryDoors): Promise<void> {
  for (const [target, name] of FILES) {
    const path = join(place.from, 'memories', name);
    if (!existsSync(path)) continue;
    for (const entry of readEntries(place, path)) await bringEntry(place, doors, { target, entry });
  }
}

function readEntries({ report }: ImportPlace, path: string): readonly string[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
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

async function bringEntry(place: ImportPlace, doors: MemoryDoors, { target, entry }: Bringing): Promise<void> {
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
  const added = await doors.memory.apply(target, [{ action: 'add', content: entry }], {
    actor: 'import',
    signal,
  });
  if (added.ok) report.took('memories', name);
  else if (added.reason === 'over_limit') {
    await keepWaiting(doors.ledger, { target, entry }, place.home.pending);
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

async function keepWaiting(ledger: ProposalLedger, { target, entry }: Bringing, pending: string): Promise<void> {
  const change = { action: 'add', target, content: entry };
  const draft = { kind: 'memory', actor: 'import', target, action: 'add', change, citations: [] } as const;
  const { id } = await ledger.open(draft);
  await ledger.decide(id, { status: 'pending', reason: 'over_limit', detail: 'The file was full at import.' });
  const waiting = ledger.get(id);
  if (waiting) createPendingFiles(pending).put(waiting);
}
