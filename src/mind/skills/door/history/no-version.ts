// Owns why no version belongs to a manifest that somebody named: nothing there, no manifest, a write that did not stand, another home's.
// Knows no rollback. Invariant: what a manifest says of itself is believed only where the ledger says the same.
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import { type Refusal, refuse } from '#base/result.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { readManifestText } from '../backup/skill-manifest.ts';

/** A manifest lists at most a thousand files. */
const MAX_BYTES = 16 * 1_048_576;

export function noVersionOf(
  ledger: Pick<ProposalLedger, 'get'>,
  path: string,
): Refusal<'no-such-version' | 'nothing-to-undo'> {
  const text = textOf(path);
  if (typeof text !== 'string') return refuse('no-such-version', text.why);
  const manifest = readManifestText(text);
  if (!manifest.ok) return refuse('no-such-version', `${path} is no manifest of a backup of ours, or is damaged.`);
  const { status } = ledger.get(manifest.value.proposal_id) ?? {};
  if (manifest.value.rolled_back && (status === 'refused' || status === 'dropped'))
    return refuse('nothing-to-undo', 'That write was taken back by its check; there is nothing to undo.');
  return refuse('no-such-version', `No version of a skill in this home belongs to ${path}.`);
}

function textOf(path: string): string | { readonly why: string } {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return { why: `${path} is a folder; name the manifest.json in it.` };
    if (!stats.isFile() || stats.size > MAX_BYTES) return { why: `${path} is no manifest of a backup.` };
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    return { why: isGone ? `There is no file ${path}.` : `${path} cannot be read (${code}).` };
  }
}
