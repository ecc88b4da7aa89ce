/** An ask killed at each of its calls. */
import { describe } from 'node:test';
import { CALLS, checkResume } from '../../extensions/rlm/ask/resume-cases.ts';
import { verifies } from '../../verifies.ts';

describe('rlm/ask: resume at every call', () => {
  verifies('rlm:run:resume', 'killed at each call, it goes on to the same outcome', () =>
    checkResume(Array.from({ length: CALLS }, (_, at) => at + 1)),
  );
});
