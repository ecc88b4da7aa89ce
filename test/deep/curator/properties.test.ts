/** The properties of the curator's texts, with enough runs to meet rare combinations. */
import { describe, test } from 'node:test';
import {
  evidenceInstructsNobody,
  evidenceStaysInItsFence,
  splicingTouchesNothingElse,
  updatesAreWholeAndMadeOnce,
} from '../../property/curator/block-properties.ts';
import { blocksIgnoreOrder, plansIgnoreOrder, searchIgnoresOrder } from '../../property/curator/order-properties.ts';
import { pagesKeepTheirShape } from '../../property/curator/page-properties.ts';

describe('a managed block, many times', () => {
  test('keeps the evidence in its fence', () => evidenceStaysInItsFence(5000));
  test('instructs nobody', () => evidenceInstructsNobody(8000));
  test('leaves every byte outside the markers', () => splicingTouchesNothingElse(20_000));
  test('is whole or not there, and made once', () => updatesAreWholeAndMadeOnce(8000));
});

describe('a page of the curator, many times', () => {
  test('keeps its shape', () => pagesKeepTheirShape(5000));
});

describe('input in another order, many times', () => {
  test('makes the same block', () => blocksIgnoreOrder(1500));
  test('makes the same plan', () => plansIgnoreOrder(1500));
  test('finds the same skills', () => searchIgnoresOrder(10_000));
});
