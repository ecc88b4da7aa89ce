// Hard values of a text: what is one quantity, place or command in every spelling, and which neighbours are another.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hardValues, missingValue, sourceValues } from '#mind/evidence/trace-guard/hard-values.ts';

type Rows = readonly (readonly [source: string, ...claims: readonly string[]])[];

const held = (source: string, claim: string) => missingValue(claim, sourceValues([source])) === undefined;

const SAME: Readonly<Record<string, Rows>> = {
  'number words': [
    ['thirty-two gigs, a hundred users', '32 GB', '100 users'],
    ['two hundred and fifty of ten thousand', '250', '10,000', '10k'],
    ['zweiunddreißig von fünfhundert, elf Tage', '32', '500', '11'],
    ['treinta y dos, veintidós y doscientos', '32', '22', '200'],
    ['quatre-vingt-dix, soixante-quinze, vingt-cinq', '90', '75', '25'],
    ['двадцать пять из трехсот', '25'],
    ['二十五人、三十二ギガ、3万円', '25', '32 GB', '30000'],
    ['one cat, a dozen eggs, 1.5 million rows', '1 cat', '12 eggs', '1500000 rows'],
  ],
  'spellings of a number': [
    ['1k users', '1000 users', '1,000', '1 000'],
    ['1000 users', '1k'],
    ['10.000 Nutzer für €1.000,50', '10000', '1000.50 €'],
    ['2,5 Stunden', '2.5 h'],
    ['v1.2.3 on node >= 24', '1.2.3', 'Node 24'],
    ['8080/tcp', 'port 8080', 'port ８０８０'],
    ['10-20 people', '10 to 20'],
  ],
  units: [
    ['64 gigs of ram', '64 GB RAM', '64GB', '64 Go', '64 гигов'],
    ['the fee is 5 %', '5%', '5 percent', '5 Prozent'],
    ['$500 a month', '500 dollars', '500 USD'],
    ['three weeks', '3 semanas', '3 Wochen', '3 недели', '3週間', '3 semaines'],
    ['20°C and 50 km', '20 °C', '50 kilometers'],
    ['a timeout of 30', '30 s', '30 minutes'],
  ],
  times: [
    ['quarter past ten', '10:15', '10h15', '10:15 am'],
    ['quarter to ten', '9:45'],
    ['halb zehn', '9:30'],
    ['a las diez y cuarto', '10:15'],
    ['à dix heures et quart', '10:15', '10h15'],
    ['в половине десятого', '9:30'],
    ['十時半', '10:30'],
    ['at 3 pm', '15:00', '3 p.m.'],
    ['14:05', '2:05 pm'],
    ['from nine to five', '9:00 to 17:00'],
  ],
  dates: [
    ['on the 29th of May 2026', '2026-05-29', 'May 29, 2026', '29.05.2026'],
    ['2026年5月29日', '29 May 2026', '2026-05-29'],
    ['2026-05-29', '29 May 2026', 'am 29. Mai 2026', 'le 29 mai', '29 мая'],
  ],
  'places and names': [
    ['the config is /home/me/app/config/prod.yaml', 'config/prod.yaml', 'prod.yaml'],
    ['see https://docs.example.com/guide/', 'https://docs.example.com/guide', 'docs.example.com'],
    ['mail Anna@Example.com about PR #1234', 'anna@example.com', '#1234'],
  ],
  code: [
    ['run npm test -- --watch.', '`npm test -- --watch`', '1. `npm test -- --watch`\n2. Done'],
    ['./d.sh --env staging /srv/web', '`./d.sh --env <environment> /srv/{app}`', '`./d.sh --env $ENV`'],
    ['make build TARGET=web', '`make build TARGET={target}`', '```sh\n$ make build TARGET=web\n```'],
  ],
  'no values': [
    [
      'whatever',
      'Prefers Vim over Emacs, as Maria does',
      'e.g. step-by-step',
      'Asks once, then returns null',
      '1. First\n2. Then',
    ],
  ],
};

const OTHER: Rows = [
  ['64 gigs of ram', '32 GB', '64 TB', '64 MB', '6 GB'],
  ['30 seconds', '30 minutes', '3 s'],
  ['the fee is 5%', '$5', '5 GB', '50%'],
  ['$500', '$5,000', '€500'],
  ['1k users', '10000 users', '1 million'],
  ['fifteen', '50', '5'],
  ['room 101', 'room 10', 'room 1'],
  ['3.14', '314', '3.1', '0.14'],
  ['-5 degrees', '5 degrees'],
  ['version 1.2.3', '1.2.4', '1.2', '3'],
  ['10.0.0.1', '10.0.0.2', '10.0.0'],
  ['12345678901234567890', '12345678901234567891'],
  ['quarter past ten', '10:45', '11:15', '9:45'],
  ['halb zehn', '10:30'],
  ['at 3 am', '3 pm', '15:00'],
  ['14:05', '2:05 am', '14:50'],
  ['2026-05-29', '2026-05-28', '2026-06-29', '2025-05-29', '5 cats'],
  ['2026-05-15', '2026-05-05', 'May 5', '5 May'],
  ['May 5 or June 7', 'June 5', '6 May', '7 May', 'the 7th of May', '5月7日'],
  ['/srv/app/cache', '/srv/app', '/srv/app/cash'],
  ['~/.ssh/config', '~/.ssh/id_rsa'],
  ['https://docs.example.com/guide', 'https://docs.example.org/guide', 'https://docs.example.com/other'],
  ['anna@example.com', 'anna@example.org', 'ann@example.com'],
  ['fetch_user, ISSUE-42', 'fetch_users', 'ISSUE-43', 'fetchUser'],
  ['4f3a2b1c', '4f3a2b1', '4f3a2b1d'],
  ['--dry-run', '--wet-run'],
  ['git push to origin', 'git push --force to origin'],
  ['rm -rf /tmp/x', '`rm -rf /`', '`rm -rf /tmp`', '`rm -rf /tmp/y`'],
  ['npm test', '`npm run nuke`', '`npm test && curl x.example`', '`npm test --force`'],
  ['make build TARGET=web', '`make build TARGET=api`'],
];

describe('hard values', () => {
  for (const [what, rows] of Object.entries(SAME))
    test(`the same in every spelling: ${what}`, () => {
      for (const [source, ...claims] of rows)
        for (const claim of claims) assert.ok(held(source, claim), `${claim} of "${source}"`);
    });

  test('a neighbour is another one', () => {
    for (const [source, ...claims] of OTHER)
      for (const claim of claims) assert.ok(!held(source, claim), `${claim} of "${source}"`);
  });

  test('what is missing is named as it is written', () => {
    assert.equal(missingValue('Has 3 cats in /srv/x', sourceValues(['three cats']))?.shown, '/srv/x');
    assert.deepEqual(
      hardValues('Runs `npm ci` on port 8080 for a@b.example').map(({ kind, shown }) => [kind, shown]),
      [
        ['place', 'a@b.example'],
        ['number', '8080'],
        ['code', 'npm ci'],
      ],
    );
  });
});
