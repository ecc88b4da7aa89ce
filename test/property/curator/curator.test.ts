import { describe } from 'node:test';
import { verifies } from '../../verifies.ts';
import {
  evidenceInstructsNobody,
  evidenceStaysInItsFence,
  splicingTouchesNothingElse,
  updatesAreWholeAndMadeOnce,
} from './block-properties.ts';
import { blocksIgnoreOrder, plansIgnoreOrder, searchIgnoresOrder } from './order-properties.ts';
import { pagesKeepTheirShape } from './page-properties.ts';

describe('a managed block, whatever the evidence says', () => {
  verifies(['curator:block:markers', 'curator:block:no-injection'], 'keeps it in its fence', () =>
    evidenceStaysInItsFence(60),
  );

  verifies('curator:block:no-injection', 'instructs nobody, in any text of the owner', () =>
    evidenceInstructsNobody(60),
  );

  verifies(['curator:block:replace-only-block', 'curator:block:append'], 'leaves every byte outside the markers', () =>
    splicingTouchesNothingElse(60),
  );

  verifies('curator:block:broken-markers', 'is whole or not there, and made once', () =>
    updatesAreWholeAndMadeOnce(60),
  );
});

describe('a page of the curator', () => {
  verifies('curator:report:formats', 'keeps its shape, whatever the evidence says', () => pagesKeepTheirShape(60));
});

describe('input in another order', () => {
  verifies('curator:variants:deterministic', 'makes the same block and the same winner', () => blocksIgnoreOrder(30));
  verifies('curator:auto:deterministic-order', 'makes the same plan', () => plansIgnoreOrder(30));
  verifies('curator:candidates:lexical', 'finds the same skills', () => searchIgnoresOrder(60));
});
