/** The REPL cannot reach the host, nor can what it offers be bent; what costs time and memory is tried in the deep run. */
import { ODD_ARGUMENTS, REACHING, TAMPERING } from './escape-cases.ts';
import { escapeSuite } from './escape-suite.ts';

const text = 'Alpha has 3 nodes.\nBeta has 12.\n';

escapeSuite({ name: 'reaching for the host', cases: REACHING, text });
escapeSuite({ name: 'tampering with what the API stands on', cases: TAMPERING, text, apart: true });
escapeSuite({ name: 'odd arguments', cases: ODD_ARGUMENTS, text });
