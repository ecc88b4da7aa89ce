/** What a hostile endpoint does without sending much; the floods are in test/deep. */
import { describe } from 'node:test';
import { verifies } from '../verifies.ts';
import { askEndpoint } from './hostile/ask-endpoint.ts';
import { checkCase } from './hostile/check-case.ts';
import { HOSTILE_CASES } from './hostile/endpoint-cases.ts';

describe('a hostile endpoint', { concurrency: 4 }, () => {
  for (const one of HOSTILE_CASES.filter(({ small }) => small))
    verifies('core:model:endpoint-bounds', `${one.to}: ${one.name}`, async () => {
      await checkCase(one, askEndpoint);
    });
});
