/** The faults and kills of which `npm test` tries a sample: at each operation, and more often. */
import { tryAll } from '../property-runs.ts';

tryAll();
await import('../core/tools/link-races.test.ts');
await import('../fault/memory-files.test.ts');
await import('../mind/memory/memory-journal.test.ts');
await import('../fault/import/import-killed.test.ts');
await import('../fault/sessions/checkpoints.test.ts');
await import('../fault/sessions/compaction.test.ts');
await import('../fault/sessions/processes.test.ts');
