// Owns looking at a run with its packed context in a folder that is gone afterwards. Knows no check and no controller.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackContext } from '../../trace/export/packed-context.ts';
import type { RunRecord } from '../../trace/run-record.ts';
import type { RunTarget } from './find-target.ts';

/** `look` sees the record as it is when nothing is packed. */
export async function overContext<T>(
  { record, context }: RunTarget,
  look: (record: RunRecord) => Promise<T>,
): Promise<T> {
  if (context === null) return look(record);
  const folder = mkdtempSync(join(tmpdir(), 'talaria-context-'));
  try {
    return await look({ ...record, row: unpackContext(record.row, context, folder) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
