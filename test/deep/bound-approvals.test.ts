import { describe } from 'node:test';
import { noYesRidesOnAnother } from '../property/bound-approvals.ts';
import { verifies } from '../verifies.ts';

describe('approvals, at length', () => {
  verifies('core:approval:bound', 'no yes rides on another: 10,000 pairs', () => noYesRidesOnAnother(10_000));
});
