/** What is offered: a form of which no byte can be another, a price that everybody computes alike, shares that sum up, and a filter of words. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { recoverTypedDataAddress } from 'viem';
import { addressOf, type Hex, newKey } from '#base/ethereum.ts';
import {
  bloomOf,
  checkListing,
  type Draft,
  idOf,
  LEAST_BODY,
  LEAST_CONFIDENCE,
  type Listing,
  mayHold,
  PREVIEW,
  previewOf,
  priceAt,
  signListing,
  split,
  wordsOf,
} from '#fleet/market/listing.ts';
import { unreachable } from '../../../scripts/floors.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const KEY = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318';
const SELLER = await addressOf(KEY);
const HOUR = 3_600_000;
const START = 1_790_000_000_000;
const hex = (pair: string, bytes: number): Hex => `0x${pair.repeat(bytes)}`;

const draft: Draft = {
  ...{ item: 'skill', name: 'disk-full', category: 'ops/disks', version: 3, confidence: 0.82, validated_count: 5 },
  ...{ lineage: ['ada-gen1', 'ada-gen2'], preview: '# When a disk is full\n\nRotate the logs – first.\n' },
  ...{ content_hash: hex('a1', 32), ciphertext_hash: hex('a2', 32), key_commit: hex('a3', 32) },
  ...{ base_price: '500000', listed_at: START, seller: SELLER, splitter: hex('b1', 20), escrow: hex('b2', 20) },
  ...{ chain_id: 84_532, agent: { address: hex('b3', 20), key: 'c1'.repeat(32) }, evaluator: 'buyer' },
};
const resold: Draft = { ...draft, evaluator: hex('b3', 20), creator: hex('b4', 20), previous: hex('a4', 32) };
const why = async (value: unknown) => {
  const read = await checkListing(value);
  return read.ok ? 'ok' : read.reason;
};
/** As one who signs what he likes. */
const forged = async (change: object) => {
  const { id, signature } = await signListing(draft, KEY);
  const said = { ...draft, ...change };
  return { ...said, id: 'id' in change ? id : idOf(said), signature };
};
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, part]) => [key, sorted(part)]),
  );
};

describe('a listing', () => {
  verifies(
    ['R2.13', 'R2.14'],
    'says its hash and its price under one signature (EIP-712), and no value can be another',
    async () => {
      for (const one of [draft, resold]) {
        const listing = await signListing(one, KEY);
        assert.deepEqual(await checkListing(JSON.parse(JSON.stringify(listing))), { ok: true, value: listing });
        // The id, computed without the code that is tried.
        assert.equal(
          listing.id,
          `0x${createHash('sha256')
            .update(JSON.stringify(sorted(one)))
            .digest('hex')}`,
        );
        const signer = await recoverTypedDataAddress({
          domain: { name: 'TalariaMarket', version: '1', chainId: 84_532, verifyingContract: draft.escrow },
          types: { Listing: [{ name: 'id', type: 'bytes32' }] },
          ...{ primaryType: 'Listing', message: { id: listing.id }, signature: listing.signature },
        });
        assert.equal(signer.toLowerCase(), SELLER);
        assert.deepEqual(await signListing({ ...one }, `0x${KEY}\n`), listing);
        const others: Partial<Record<keyof Listing, unknown>> = {
          ...{ item: 'entry', name: 'disk-full2', category: 'ops', version: 4, confidence: 0.83, validated_count: 6 },
          ...{ lineage: ['ada-gen2', 'ada-gen1'], preview: 'x', base_price: '500001', listed_at: START + 1 },
          ...{ content_hash: hex('a9', 32), ciphertext_hash: hex('a9', 32), key_commit: hex('a9', 32) },
          ...{ seller: hex('b9', 20), splitter: hex('b9', 20), escrow: hex('b9', 20), chain_id: 8_453 },
          ...{ agent: { ...one.agent, key: 'c2'.repeat(32) }, evaluator: hex('b9', 20), creator: hex('b9', 20) },
          ...{ previous: hex('a9', 32), id: hex('a9', 32) },
        };
        assert.deepEqual(
          new Set(Object.keys({ ...others, signature: '' })),
          new Set(Object.keys({ ...listing, ...resold })),
        );
        for (const [field, value] of Object.entries(others)) {
          const altered = { ...listing, [field]: value };
          assert.equal(await why(altered), 'bad-id', field);
          const { id: _, signature, ...rest } = altered;
          const again = { ...rest, id: idOf(rest as Draft), signature };
          if (field !== 'id') assert.equal(await why(again), 'bad-signature', field);
        }
      }
    },
  );

  test('is signed once: another form of the same signature, none, and somebody else’s are refused', async () => {
    const listing = await signListing(draft, KEY);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const [r, s, v] = [
      listing.signature.slice(2, 66),
      BigInt(`0x${listing.signature.slice(66, 130)}`),
      listing.signature.slice(130),
    ];
    const twin = `0x${r}${(order - s).toString(16).padStart(64, '0')}${v === '1b' ? '1c' : '1b'}`;
    const stranger = await signListing({ ...draft, seller: await addressOf(resellerKey) }, resellerKey);
    for (const signature of [twin, '', '0x', hex('00', 65), listing.signature.toUpperCase(), stranger.signature])
      assert.equal(await why({ ...listing, signature }), 'bad-signature', signature);
    assert.equal(await why({ ...listing, signature: `${listing.signature}00` }), 'not-a-listing');
    await assert.rejects(signListing(draft, resellerKey), { code: 'listing-invalid' });
    await assert.rejects(signListing(draft, 'no key'), { code: 'key-invalid' });
  });

  verifies('R2.9', 'of confidence 0.60 is one, and of 0.59 none, whoever signs it', async () => {
    assert.equal(LEAST_CONFIDENCE, 0.6);
    assert.equal(await why(await signListing({ ...draft, confidence: 0.6 }, KEY)), 'ok');
    for (const confidence of [0.59, 0.599_999_999_999, 0, -1, 1.01, null, '0.9'])
      assert.equal(await why(await forged({ confidence })), 'not-a-listing', String(confidence));
    await assert.rejects(signListing({ ...draft, confidence: 0.59 }, KEY), { code: 'listing-invalid' });
  });

  verifies('R2.14', 'has a base price above nothing, of which a tenth is a price, too', async () => {
    for (const base_price of ['5', '1000000', `1${'0'.repeat(18)}`]) {
      const listing = await signListing({ ...draft, base_price }, KEY);
      assert.ok(priceAt(listing, START + 9_999 * HOUR) > 0n);
    }
    for (const base_price of [
      '0',
      '-5',
      '4',
      '05',
      '5.0',
      '1e6',
      '0x5',
      ' 5',
      '5\n',
      '',
      `1${'0'.repeat(17)}1`.repeat(2),
      `2${'0'.repeat(18)}`,
      5,
    ])
      assert.equal(await why(await forged({ base_price })), 'not-a-listing', String(base_price));
  });

  verifies('R2.10', 'shows the first 500 characters of a body to anybody who reads it, and no more', async () => {
    assert.deepEqual([PREVIEW, LEAST_BODY], [500, 1_000]);
    const body = '\u{1F98A}ä\n'.repeat(400);
    const preview = previewOf(body);
    assert.equal([...preview].length, 500);
    assert.ok(body.startsWith(preview));
    assert.equal(previewOf('short'), 'short');
    const listing = await signListing({ ...draft, preview }, KEY);
    assert.equal(JSON.parse(JSON.stringify(listing)).preview, preview);
    for (const wrong of [`${preview}x`, `${'x'.repeat(499)}\ud83e\udd8ax`, 'x'.repeat(1e6), '\ud83e', ''])
      assert.equal(await why(await forged({ preview: wrong })), 'not-a-listing');
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '\u{1F98A}', 'ä', '\n'), { maxLength: 700 }), (points) => {
        const text = points.join('');
        const cut = previewOf(text);
        assert.ok(text.startsWith(cut) && [...cut].length === Math.min(PREVIEW, points.length));
      }),
      { numRuns: runs(240) },
    );
  });

  test('has bounds on every text and number, and nothing beside its fields', async () => {
    const lines = ['', ' a', 'a\n', 'a\tb', 'a\u0000', 'a\u001b[2J', 'a\u202eb', 'a\u200bb', '\ud83e'];
    const hashes = [
      '',
      '0x',
      hex('a1', 31),
      hex('a1', 33),
      hex('A1', 32),
      'a1'.repeat(32),
      hex('00', 32),
      `${hex('a1', 32)}\n`,
      7,
    ];
    const addresses = ['', hex('b1', 19), hex('b1', 21), hex('B1', 20), hex('00', 20), `${hex('b1', 20)}\n`, null];
    const counts = [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '1', null];
    const wrong: Record<string, readonly unknown[]> = {
      item: ['tool', '', null, 1],
      name: [...lines, 'x'.repeat(65), 7],
      category: [...lines, 'x'.repeat(201), undefined],
      ...{
        version: counts,
        validated_count: counts,
        listed_at: [...counts, 8_640_000_000_000_001],
        chain_id: [...counts, 0],
      },
      lineage: ['ada', null, [''], ['x'.repeat(65)], [7], Array.from({ length: 1_001 }, () => 'ada')],
      ...{ content_hash: hashes, ciphertext_hash: hashes, key_commit: hashes, previous: hashes, id: hashes },
      ...{ seller: addresses, splitter: addresses, escrow: addresses, creator: addresses },
      evaluator: [...addresses, 'seller', 'Buyer'],
      agent: [
        null,
        {},
        { ...draft.agent, key: 'c1' },
        { ...draft.agent, key: 'C1'.repeat(32) },
        { ...draft.agent, more: 1 },
      ],
      ...{ more: [1], signature: [null, 7, 'x'.repeat(133)] },
    };
    const listing = await signListing(draft, KEY);
    for (const [field, values] of Object.entries(wrong))
      for (const value of values)
        assert.equal(
          await why({ ...listing, [field]: value }),
          'not-a-listing',
          `${field}: ${String(value).slice(0, 80)}`,
        );
    for (const field of Object.keys(listing)) {
      const { [field as keyof Listing]: _, ...rest } = listing;
      assert.equal(await why(rest), 'not-a-listing', field);
    }
    for (const none of [undefined, null, 7, 'listing', [], [listing], {}, JSON.parse('{"__proto__": {}}')])
      assert.equal(await why(none), 'not-a-listing');
    const most = {
      name: 'ä'.repeat(64),
      category: '\u{1F98A}'.repeat(200),
      lineage: Array.from({ length: 1_000 }, () => 'a'.repeat(64)),
    };
    assert.equal(await why(await signListing({ ...draft, ...most, item: 'entry', version: 0 }, KEY)), 'ok');
  });
});

const resellerKey = newKey();
const price = (base: bigint | string, confidence: number, hours: number) =>
  priceAt({ base_price: String(base), confidence, listed_at: START }, START + hours * HOUR);

/** The formula in fractions of 120 digits, in another way: the alternating series of exp(-0.01), multiplied hour by hour. */
const exactPrice = (() => {
  const one = 10n ** 120n;
  let [sum, part] = [0n, one];
  for (let at = 1n; part !== 0n; at += 1n) {
    sum += part;
    part = -part / (100n * at);
  }
  const fresh = [one];
  for (let hour = 1; hour <= 400; hour += 1) fresh.push(((fresh[hour - 1] ?? 0n) * sum) / one);
  return (base: bigint, confidence: number, hour: number) => {
    const [, decimals = ''] = confidence.toFixed(0) === String(confidence) ? [] : String(confidence).split('.');
    const tens = 10n ** BigInt(decimals.length);
    const sure = confidence === 1 ? tens : BigInt(decimals);
    const [value, whole] = [base * (tens + sure) * (fresh[hour] ?? 0n), 2n * tens * one];
    const [tenth, all] = [base * whole, 10n * value > base * whole ? 10n * value : base * whole];
    assert.ok(all >= tenth);
    return (2n * all + 10n * whole) / (20n * whole);
  };
})();

const bases = fc.bigInt({ min: 5n, max: 10n ** 18n });
const confidences = fc.oneof(
  fc.double({ min: 0.6, max: 1, noNaN: true }),
  fc.integer({ min: 600, max: 1_000 }).map((mills) => mills / 1_000),
);

describe('the price', () => {
  verifies(
    'R2.24',
    'is base times confidence factor times freshness, as the table has it and as fractions give it to the last digit',
    () => {
      const table = [
        ['1000000', 1, 0, 1_000_000n],
        ['1000000', 0.6, 0, 800_000n],
        ['1000000', 1, 69, 501_576n],
        ['1000000', 0.6, 69, 401_261n],
        ['500000', 0.82, 24, 357_916n],
        ['2000000', 0.91, 12, 1_694_018n],
        ['5000000', 0.75, 100, 1_609_473n],
        ['1000000', 1, 230, 100_259n],
        ['1000000', 1, 231, 100_000n],
        ['1000000', 0.6, 207, 100_949n],
        ['1000000', 0.6, 208, 100_000n],
      ] as const;
      for (const [base, confidence, hours, micro] of table)
        assert.equal(price(base, confidence, hours), micro, `${base} ${confidence} ${hours}`);
      // Half up, also where 0.7 as a floating number lies below 0.7.
      assert.deepEqual(
        [price('10', 0.7, 0), price('10', 0.8, 0), price('5', 0.6, 0), price('5', 1, 999)],
        [9n, 9n, 4n, 1n],
      );
      fc.assert(
        fc.property(bases, confidences, fc.integer({ min: 0, max: 300 }), (base, confidence, hours) => {
          assert.equal(price(base, confidence, hours), exactPrice(base, confidence, hours));
        }),
        { numRuns: runs(16_000) },
      );
    },
  );

  verifies('R2.25', 'has a factor that is linear in confidence: 0.8 at 0.6, 0.9 at 0.8, 1 at 1', () => {
    const factors = [0.6, 0.7, 0.8, 0.9, 1].map((confidence) => price('1000000000000', confidence, 0));
    assert.deepEqual(
      factors,
      [800n, 850n, 900n, 950n, 1_000n].map((mills) => mills * 10n ** 9n),
    );
    assert.equal(price(10n ** 18n, 0.612_345_678_901_234_5, 0), 806_172_839_450_617_250n);
  });

  verifies('R2.26', 'is whole at listing and in the hour after, and half of it after 69 hours', () => {
    assert.deepEqual(
      [price('1000000', 1, 0), price('1000000', 1, 0.999), price('1000000', 1, -5)],
      [1_000_000n, 1_000_000n, 1_000_000n],
    );
    assert.equal(price('1000000', 1, 69), 501_576n);
    assert.deepEqual([price('1000000', 1, 69.999), price('1000000', 1, 70)], [501_576n, 496_585n]);
    // The digits of exp(-0.69).
    assert.equal(price(10n ** 18n, 1, 69), 501_576_069_066_055_534n);
  });

  verifies('R2.27', 'never falls under a tenth of the base', () => {
    for (const hours of [231, 1_000, 1e9]) assert.equal(price('1000000', 1, hours), 100_000n);
    assert.ok(price('1000000', 1, 230) > 100_000n);
    assert.deepEqual([price('14', 1, 999), price('15', 1, 999)], [1n, 2n]);
    fc.assert(
      fc.property(bases, confidences, fc.double({ min: -10, max: 1e6, noNaN: true }), (base, confidence, hours) => {
        assert.ok(10n * price(base, confidence, hours) >= base - 5n);
      }),
      { numRuns: runs(16_000) },
    );
  });

  verifies('R2.28', 'never rises with age, and never exceeds the base', () => {
    const hours = fc.double({ min: -10, max: 400, noNaN: true });
    fc.assert(
      fc.property(bases, confidences, hours, hours, (base, confidence, one, other) => {
        const [early, late] = [Math.min(one, other), Math.max(one, other)];
        assert.ok(price(base, confidence, early) >= price(base, confidence, late));
        assert.ok(price(base, confidence, early) <= base);
      }),
      { numRuns: runs(16_000) },
    );
    for (const base of ['5', '99', '1000000'])
      for (let hour = 1; hour < 300; hour += 1) assert.ok(price(base, 0.83, hour) <= price(base, 0.83, hour - 1));
  });
});

const partsOf = (amount: bigint, resale: boolean) => Object.values(split(amount, resale));

describe('the shares', () => {
  verifies(
    ['R2.29', 'R2.30', 'R2.31', 'R2.32'],
    'are 88, 5, 5 and 2 of a resale, and 93, 5, 0 and 2 of a first sale',
    () => {
      const resale = split(1_000_000n, true);
      assert.deepEqual(resale, { seller: 880_000n, styx: 50_000n, creator: 50_000n, gas: 20_000n });
      assert.deepEqual(split(1_000_000n, false), { seller: 930_000n, styx: 50_000n, creator: 0n, gas: 20_000n });
      assert.deepEqual(partsOf(400_001n, true), [352_001n, 20_000n, 20_000n, 8_000n]);
      assert.deepEqual(partsOf(99n, true), [90n, 4n, 4n, 1n]);
      assert.deepEqual(partsOf(1n, true), [1n, 0n, 0n, 0n]);
      assert.deepEqual(partsOf(0n, true), [0n, 0n, 0n, 0n]);
    },
  );

  verifies(
    'R2.33',
    'sum to the price whatever it is, none below nothing and none but the seller’s above its hundredths',
    () => {
      const holds = (amount: bigint, resale: boolean) => {
        const { seller, styx, creator, gas } = split(amount, resale);
        assert.equal(seller + styx + creator + gas, amount);
        assert.ok(
          creator === (resale ? styx : 0n) && gas >= 0n && 100n * styx <= 5n * amount && 100n * gas <= 2n * amount,
        );
        assert.ok(100n * seller >= (resale ? 88n : 93n) * amount);
      };
      for (let amount = 0n; amount < 2_000n; amount += 1n) for (const resale of [true, false]) holds(amount, resale);
      fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.boolean(), holds), { numRuns: runs(80_000) });
    },
  );

  verifies(
    ['R2.2', 'R2.34'],
    'and the price, the id and the signature come out the same each time, without a clock, chance or a model',
    async (t) => {
      const none = () => assert.fail('neither time nor chance takes part');
      const before = [
        await signListing(draft, KEY),
        price('777777', 0.77, 7),
        split(777n, true),
        bloomOf(['disk'], 'k'),
      ];
      t.mock.method(Math, 'random', none);
      t.mock.method(Date, 'now', none);
      assert.deepEqual(
        [await signListing(draft, KEY), price('777777', 0.77, 7), split(777n, true), bloomOf(['disk'], 'k')],
        before,
      );
      assert.deepEqual(unreachable['fleet/market'], ['core/model', 'core/agent']);
    },
  );
});

describe('the filter of words', () => {
  test('misses none of the words that went in, whatever their case and form, and holds few others', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 12 }), { maxLength: 300 }), fc.string(), (words, key) => {
        const filter = bloomOf(words, key);
        assert.equal(Buffer.from(filter, 'base64').length, 4_096);
        assert.ok(words.every((word) => mayHold(filter, key, word)));
      }),
      { numRuns: runs(240) },
    );
    const filter = bloomOf(
      Array.from({ length: 2_000 }, (_, at) => `word${at}`),
      'key',
    );
    const others = Array.from({ length: 20_000 }, (_, at) => `other${at}`);
    assert.ok(others.filter((word) => mayHold(filter, 'key', word)).length < 40);
    assert.ok(mayHold(filter, 'key', 'WORD7') && mayHold(filter, 'key', 'ｗｏｒｄ7'));
    assert.ok(!mayHold(filter, 'another key', 'word7'));
    assert.equal(
      filter,
      bloomOf(
        Array.from({ length: 2_000 }, (_, at) => `word${1_999 - at}`),
        'key',
      ),
    );
    for (const none of ['', 'AAAA', `${filter}AAAA`, filter.slice(4), 'ä'])
      assert.equal(mayHold(none, 'key', 'word7'), false);
    assert.equal(mayHold(bloomOf([], 'key'), 'key', 'word7'), false);
  });

  test('is of a listing’s name, category and preview: runs of three letters and digits or more, each once', () => {
    const words = wordsOf({
      name: 'disk-full2',
      category: 'ops/Disks',
      preview: 'Ｒotate É́té the of disk2go: हिन्दी! disk',
    });
    assert.deepEqual(words, ['disk', 'full2', 'ops', 'disks', 'rotate', 'é́té', 'the', 'disk2go', 'हिन्दी']);
    assert.deepEqual(wordsOf({ name: 'a', category: '', preview: '' }), []);
    const filter = bloomOf(wordsOf(draft), 'key');
    for (const word of wordsOf({ name: 'ROTATE the Logs', category: '', preview: '' }))
      assert.ok(mayHold(filter, 'key', word));
  });
});
