/** Key-shaped strings: every shape is found, ordinary text is left alone, redaction leaves nothing of a secret, no text is slow. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '#base/json.ts';
import { findSecrets, redactSecrets } from '#base/secrets.ts';
import { ends } from '../ends.ts';
import { fakeSecret, loadEntries } from '../mind/memory/threat-corpus.ts';
import { slow } from '../slow.ts';

const NOISE = 'q7Zx2LmP9vRt4KbN8wYc3HsJ6dFg1TaE5uQoXiVe0nBrMkCzSpWy';

/** Shape by shape: made up at run time, so that no file holds one. */
const FOUND: Readonly<Record<string, string>> = {
  'openai project key': `sk-proj-${NOISE}`,
  'openai classic key': `sk-${NOISE.slice(0, 48)}`,
  'openrouter key': `sk-or-v1-${'3f9a'.repeat(16)}`,
  'anthropic key': `sk-ant-api03-${NOISE}-${NOISE}`,
  'github token': `ghp_${NOISE.slice(0, 36)}`,
  'github fine-grained token': `github_pat_${NOISE.slice(0, 22)}_${NOISE.slice(0, 40)}`,
  'gitlab token': `glpat-${NOISE.slice(0, 20)}`,
  'slack token': `xoxb-${'1'.repeat(12)}-${NOISE.slice(0, 24)}`,
  'aws key id': 'AKIA'.concat('Q3EGRT5ZW7NNX2PL'),
  'google key': `AIza${NOISE.slice(0, 35)}`,
  'huggingface token': `hf_${NOISE.slice(0, 34)}`,
  'npm token': `npm_${NOISE.slice(0, 36)}`,
  'stripe key': `sk_live_${NOISE.slice(0, 24)}`,
  'groq key': `gsk_${NOISE.slice(0, 48)}`,
  'telegram token': `${'7'.repeat(10)}:${NOISE.slice(0, 35)}`,
  'json web token': `eyJ${NOISE.slice(0, 30)}.eyJ${NOISE.slice(0, 40)}.${NOISE.slice(0, 43)}`,
};

const IN_PLACE: readonly (readonly [text: string, secret: string])[] = [
  [`OPENAI_API_KEY=${NOISE.slice(0, 32)}`, NOISE.slice(0, 32)],
  [`export AWS_SECRET_ACCESS_KEY="${NOISE.slice(0, 40)}"`, NOISE.slice(0, 40)],
  [`{"openaiApiKey": "${NOISE.slice(0, 32)}"}`, NOISE.slice(0, 32)],
  [`api_key: '${'9f8e7d6c'.repeat(4)}'`, '9f8e7d6c'.repeat(4)],
  [`client-secret => ${NOISE.slice(0, 24)}`, NOISE.slice(0, 24)],
  [`Authorization: Bearer ${NOISE.slice(0, 30)}`, NOISE.slice(0, 30)],
  [
    `Authorization: Basic ${Buffer.from('admin:hunter22').toString('base64')}`,
    Buffer.from('admin:hunter22').toString('base64'),
  ],
  ['postgres://app:Zx81kQ2w@db.internal/app', 'Zx81kQ2w'],
  ['password: hunter2', 'hunter2'],
  ['The wifi password is Sommer2024!', 'Sommer2024!'],
  [`the api key is ${NOISE.slice(0, 30)}`, NOISE.slice(0, 30)],
];

const ORDINARY: readonly string[] = [
  'API key lives in 1Password.',
  'password: see 1Password vault',
  'password: 1Password/Work',
  'The password is stored in Bitwarden.',
  'The password is base64 encoded and sha256 hashed.',
  'password must be 12 characters or longer',
  'password: string; // hashed with argon2id',
  'api_key = os.environ["OPENAI_API_KEY"]',
  'apiKey: process.env.OPENAI_API_KEY',
  `api_key: \${OPENAI_API_KEY}`,
  'api_key: <your-api-key-here>',
  'API_KEY=your_api_key_here',
  'token: XXXXXXXXXXXXXXXXXXXX',
  'secret: op://vault/item/field',
  'secret_key_file: /run/secrets/app_key_2024',
  'max_tokens: 4096, next token prediction',
  'tokenizer: cl100k_base',
  'token = tokenizer.encode(text)',
  'the sk-learn-based-feature-pipeline-v2 branch',
  'task-sk-my-long-branch-name-for-tests',
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'id 6f1c2a44-3a52-4c11-9c4e-2f3d5e6a7b8c',
  'postgres://postgres:postgres@localhost:5432/app',
  `https://user:\${PASSWORD}@host/path`,
  'redis://localhost:6379',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8 anna@host',
  'Files that begin with -----BEGIN PRIVATE KEY----- must not be committed.',
  'key-value stores and key-based-authentication-for-everybody',
  'Bearer authentication-scheme-for-the-gateway',
  'AKIAIOSFODNN7EXAMPLE is the example of the documentation',
];

describe('secrets', () => {
  for (const [name, secret] of Object.entries(FOUND)) {
    test(`finds: ${name}`, () => {
      const found = findSecrets(`use ${secret}, please`);
      assert.deepEqual(
        found.map(({ start, end }) => [start, end]),
        [[4, 4 + secret.length]],
        name,
      );
    });
  }

  test('finds what stands where secrets stand, and exactly that', () => {
    for (const [text, secret] of IN_PLACE) {
      const [finding, ...more] = findSecrets(text);
      assert.ok(finding, text);
      assert.equal(text.slice(finding.start, finding.end), secret);
      assert.deepEqual(more, []);
    }
  });

  test('leaves ordinary text alone', () => {
    for (const text of ORDINARY) assert.deepEqual(findSecrets(text), [], text);
    for (const { text } of loadEntries('entries-accepted')) assert.deepEqual(findSecrets(text), [], text);
  });

  test('a private key is redacted to its end', () => {
    const key = fakeSecret('private-key');
    assert.equal(redactSecrets(`before ${key} after`), 'before [redacted:private-key] after');
    const oneLine = key.replaceAll('\n', '\\n');
    assert.equal(redactSecrets(`"${oneLine}"`), '"[redacted:private-key]"');
    assert.doesNotMatch(redactSecrets(key.slice(0, 70)), /RSA/);
  });

  test('known values go first, the longest before its own pieces', () => {
    assert.equal(
      redactSecrets('a sentinel-value-long b', ['sentinel', 'sentinel-value-long', 'short']),
      'a [redacted:known] b',
    );
    assert.equal(redactSecrets('tiny value', ['tiny']), 'tiny value');
  });

  test('nothing of a secret is left after redaction, wherever it stands', () => {
    const secret = fc.constantFrom(...Object.values(FOUND));
    const around = fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('key: ', ' = "', '\n', 'token '));
    fc.assert(
      fc.property(around, secret, around, (before, value, after) => {
        const text = redactSecrets(`${before} ${value} ${after}`);
        assert.ok(!text.includes(value), text);
        assert.deepEqual(
          findSecrets(text.replace(/\[redacted:[\w-]+\]/g, '')).filter(({ kind }) => kind !== 'password'),
          [],
        );
      }),
    );
  });

  test('findings are in order and do not overlap; redaction is idempotent on ordinary strings', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        let end = 0;
        for (const finding of findSecrets(text)) {
          assert.ok(finding.start >= end && finding.end > finding.start);
          end = finding.end;
        }
        const once = redactSecrets(text);
        assert.equal(redactSecrets(once), once);
      }),
    );
  });

  test('published skills hold hardly anything key-shaped', (context) => {
    const file = join(process.env.TALARIA_DATA ?? '', 'data', 'skills-sample.jsonl');
    if (!process.env.TALARIA_DATA || !existsSync(file)) return context.skip('skipped: set TALARIA_DATA');
    const lines = readFileSync(file, 'utf8').trim().split('\n').map(parseJson);
    const found = lines.flatMap((line) => {
      assert.ok(line.ok);
      const text = String((line.value as { text?: string }).text);
      return findSecrets(text).map(({ kind, start }) => `${kind}: ${text.slice(start - 20, start + 4)}`);
    });
    assert.ok(found.length <= 5, found.join('\n'));
  });

  slow('time grows with the length of the text, whatever is repeated', () => {
    const pieces = [
      'sk-',
      'eyJ',
      'eyJaaaaaaaaaaaa.',
      '-----BEGIN PRIVATE KEY-----',
      'bearer ',
      'password=',
      'a://',
      'a://b:',
      'token: ',
      ' '.repeat(40),
      'x',
      '1:',
      `-----BEGIN PRIVATE KEY-----${'A'.repeat(20)}`,
    ];
    for (const piece of pieces) ends(piece, () => findSecrets(piece.repeat(Math.ceil(1_000_000 / piece.length))));
  });
});
