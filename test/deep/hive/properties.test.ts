/** The properties of peers that `npm test` tries a part of, with their full counts. */
import { tryAll } from '../../property-runs.ts';

tryAll();
await import('../../property/hive/rebuild.test.ts');
await import('../../property/hive/sync.test.ts');
await import('../../property/hive/hive-sparks.test.ts');
await import('../../extensions/hive/peers.test.ts');
await import('../../extensions/hive/peers.test.ts');
await import('../../extensions/hive/foreign-text.test.ts');
await import('../../extensions/hive/approval.test.ts');
