/** The properties of `npm test` with their full counts; what has a larger count of its own is not here. */
import { tryAll } from '../property-runs.ts';

tryAll();
await import('../property/skill-text.test.ts');
await import('../property/tool-calls.test.ts');
await import('../property/replace-text.test.ts');
await import('../property/session-search.test.ts');
await import('../property/trace-guard.test.ts');
await import('../core/model/tool-calls/parse-cases.test.ts');
await import('../mind/evidence/guard/scan-skill.test.ts');
