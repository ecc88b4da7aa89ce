/** The properties of `npm test` with their full counts; what has a larger count of its own is not here. */
import { tryAll } from '../property-runs.ts';

tryAll();
await import('../property/skill-text.test.ts');
await import('../property/tool-calls.test.ts');
await import('../property/replace-text.test.ts');
await import('../property/session-search.test.ts');
await import('../property/trace-guard.test.ts');
await import('../property/reflex-draft.test.ts');
await import('../property/bring-session.test.ts');
await import('../property/memory-files.test.ts');
await import('../core/agent/compress/exact-values.test.ts');
await import('../core/agent/compress/split-context.test.ts');
await import('../core/model/tool-calls/parse-cases.test.ts');
await import('../core/model/tool-calls/value-reader.test.ts');
await import('../core/tools/command-risk.test.ts');
await import('../core/tools/search-files.test.ts');
await import('../core/tools/bound-command.test.ts');
await import('../core/tools/web-fetch.test.ts');
await import('../mind/evidence/guard/scan-skill.test.ts');
await import('../mind/skills/uses.test.ts');
await import('../surfaces/app/backup/backup.test.ts');
await import('../surfaces/app/home/config.test.ts');
await import('../surfaces/gateway/telegram-text.test.ts');
