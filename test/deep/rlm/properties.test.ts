/** The properties and faults of recursion that `npm test` tries a part of, with their full counts. */
import { tryAll } from '../../property-runs.ts';

tryAll();
await import('../../fault/rlm/trace-store.test.ts');
await import('../../property/rlm/ask-replay.test.ts');
await import('../../property/rlm/process-call.test.ts');
await import('../../property/rlm/repl.test.ts');
await import('../../property/rlm/run.test.ts');
await import('../../extensions/rlm/chunk/plan-chunks.test.ts');
await import('../../extensions/rlm/page/damaged-record.test.ts');
await import('../../extensions/rlm/text/extract-json.test.ts');
await import('../../extensions/rlm/tree/rlm-tree.test.ts');
