/** The properties of recursion that `npm test` tries a part of, with their full counts. */
import { tryAll } from '../../property-runs.ts';

tryAll();
await import('../../property/rlm/ask-replay.test.ts');
