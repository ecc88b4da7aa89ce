/** Attempts to take the sandbox's time, memory or stack: each ends in its limit, and the session answers again. */
import { BREAKING } from '../../extensions/rlm/repl/sandbox/escape-cases.ts';
import { escapeSuite } from '../../extensions/rlm/repl/sandbox/escape-suite.ts';

const text = `Alpha has 3 nodes.\nBeta has 12.\n${'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(50_000)}`;

escapeSuite({ name: 'breaking the sandbox', cases: BREAKING, text });
