/** An ask that is killed goes on to the same outcome, and pays for no call twice. Every call: test/deep/rlm/ask-resume.test.ts. */
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { checkResume } from './resume-cases.ts';

describe('rlm/ask: resume', () => {
  verifies('rlm:run:resume', 'killed before, in and after its sub-calls', () => checkResume([2, 5, 7]));
});
