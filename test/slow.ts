/**
 * A test that takes half a second or more and no kill, fault or random input: only `npm run test:deep` runs it, so that `npm test` stays
 * short. There it is the only kind that runs of a file, in a run of its own.
 */
import { type TestOptions, test } from 'node:test';
import type { TestBody } from './verifies.ts';

const wanted = process.env.TALARIA_TESTS === 'slow';

export function slow(name: string, body: TestBody): void;
export function slow(name: string, options: TestOptions, body: TestBody): void;
export function slow(name: string, given: TestOptions | TestBody, body?: TestBody): void {
  if (!wanted) return;
  if (typeof given === 'function') test.only(name, given);
  else test.only(name, given, body);
}
