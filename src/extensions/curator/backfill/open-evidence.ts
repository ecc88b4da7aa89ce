// Owns opening the evidence for whoever reads it: a ledger that is new or was set aside is filled from the stored sessions first.
// Knows no report. Invariant: what was filled in is told once.
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import { ensureEvidence } from './ensure-evidence.ts';

export interface OpenEvidence {
  readonly mind: CuratorMind;
  /** A line for a person, when something was filled in. */
  readonly told?: string;
}

export async function openEvidence(ground: CuratorGround, signal: AbortSignal): Promise<OpenEvidence> {
  const mind = await ground.open();
  const { places, clock } = ground;
  const told = await ensureEvidence({ mind, places, clock, redact: mind.redact }, signal);
  return { mind, ...(told === undefined ? {} : { told }) };
}
