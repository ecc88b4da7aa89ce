/** Every text that is ours and that the model can see speaks of peers, and of no protocol: the guide, every outcome of every tool, errors, and what a turn is told. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseSync, Visitor } from 'oxc-parser';
import { parse } from 'yaml';
import { sha256 } from '#base/ids.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { estimateTokens } from '#base/text.ts';
import { SOCIAL_AWARENESS } from '#extensions/hive/provider/hivemind-provider.ts';
import { PeerError, type PeerErrorCode } from '#public/peers.ts';
import type { JsonValue } from '#public/talaria.ts';
import { NEVER, sparkOf } from '../../contract/hive/hive-transport-ground.ts';
import { verifies } from '../../verifies.ts';
import { bobsWorld, idOf, introduceMore, SESSION } from './provider-talk.ts';

const WORDS = /\b(?:matrix|rooms?|sync|homeserver|megolm)\b/i;

const PROTOCOL_ID = /(?<!\w)@[\w.=/+-]+:[\w.-]+|![\w-]+:[\w.-]+/;

const CODES: Readonly<Record<PeerErrorCode, true>> = {
  'peers-not-configured': true,
  'peers-unreachable': true,
  'peers-timeout': true,
  'peers-auth': true,
  'peers-forbidden': true,
  'peers-rate-limited': true,
  'peers-server-error': true,
  'peers-bad-response': true,
  'peers-too-large': true,
  'peers-encryption': true,
  'peer-unknown': true,
  'peer-ambiguous': true,
  'peer-left': true,
  'peer-not-sent': true,
  'peer-secret': true,
};

/** What an owner may read of a failure, and a model may not. */
const OWNERS = 'The homeserver http://localhost:8448 refused @hermes-of-bob:localhost in room !abc:localhost';

function assertClean(text: string, where: string): void {
  assert.doesNotMatch(text, WORDS, where);
  assert.doesNotMatch(text, PROTOCOL_ID, where);
}

const CALLS: readonly (readonly [string, Record<string, JsonValue>])[] = [
  ['hivemind_list_peers', {}],
  ['hivemind_check_messages', {}],
  ['hivemind_check_messages', { peer: 'hermes-of-carol' }],
  ['hivemind_check_messages', { peer: 'hermes-of-nobody' }],
  ['hivemind_get_peer_info', { peer: 'hermes-of-carol' }],
  ['hivemind_get_peer_info', { peer: 'hermes-of-twin' }],
  ['hivemind_get_peer_info', { peer: 'hermes-of-nobody' }],
  ['hivemind_send_to_peer', { peer: 'hermes-of-carol', message: 'hello' }],
  ['hivemind_send_to_peer', { peer: 'hermes-of-carol', message: 'secret' }],
  ['hivemind_send_to_peer', { peer: 'hermes-of-carol', message: 'x'.repeat(40_000) }],
  ['hivemind_send_to_peer', { peer: 'hermes-of-gone', message: 'hello' }],
  ['hivemind_introduce_peers', { peer_a: 'hermes-of-alice', peer_b: 'hermes-of-carol', reason: 'audits' }],
  ['hivemind_introduce_peers', { peer_a: 'hermes-of-carol', peer_b: 'hermes-of-carol' }],
  ['hivemind_introduce_peers', { peer_a: 'hermes-of-carol', peer_b: 'hermes-of-nobody' }],
  ['hivemind_dismiss_spark', { peer_a: 'hermes-of-alice', peer_b: 'hermes-of-carol' }],
  ['hivemind_dismiss_spark', { peer_a: 'hermes-of-alice', peer_b: 'hermes-of-nobody' }],
];

describe('what the model reads', () => {
  test('the search would find what it looks for', () => {
    for (const text of ['a Matrix server', 'in room 7', 'the ROOMS', 'sync it', 'homeserver', 'Megolm'])
      assert.match(text, WORDS);
    for (const text of ['@bob:localhost', '!a-b:localhost']) assert.match(text, PROTOCOL_ID);
    assertClean('synchronous bedroom matrices hermes-of-bob@localhost:8448', '');
  });

  verifies('R4.5', 'every text that stands in the source of the layers above the backend', () => {
    const root = join(import.meta.dirname, '../../../src/extensions/hive');
    const texts = writtenTexts(root, (name) => /^(?:provider\/.*|peer.*|introductions)\.ts$/.test(name));
    assert.ok(texts.length > 300);
    for (const { file, text } of texts) assertClean(text, file);
  });

  verifies('R4.8', 'every outcome of every tool, and what is asked before it runs', async () => {
    const redact = (text: string) => text.replaceAll('secret', '*');
    const world = await bobsWorld({ redact, engine: { run: async () => undefined } });
    await introduceMore(world.hub, [idOf('gone'), 'hermes-of-twin@localhost', 'hermes-of-twin@elsewhere:1']);
    await world.bob.changeSparks(() => [sparkOf(idOf('alice'), idOf('carol'))], NEVER);
    await world.carol.send(idOf('bob'), 'hello', NEVER);
    world.hub.leave(idOf('gone'), idOf('bob'));
    assertClean(await world.talk.line('who do I know?'), 'the first view');
    for (const [name, args] of CALLS) {
      const { risk, output } = await world.talk.call(name, args);
      assertClean(JSON.stringify([risk, output?.text]), `${name} ${JSON.stringify(args).slice(0, 80)}`);
    }
    assertClean(await world.talk.line('and now?'), 'what changed');
    assertClean((await world.talk.provider.beforeCompress?.([], NEVER)) ?? '', 'before a compression');
    assertClean(world.talk.provider.promptBlock(), 'the prompt block');
    await world.talk.provider.turnEnded?.(SESSION, []);
  });

  verifies(['R4.8', 'R4.72'], 'every failure of the network, whatever it was', async () => {
    for (const code of [...Object.keys(CODES), 'a bug'] as (PeerErrorCode | 'a bug')[]) {
      let broken = false;
      const reach = async () => {
        if (broken)
          throw code === 'a bug'
            ? new Error(OWNERS)
            : new PeerError(OWNERS, { code, fix: 'Look at MATRIX_HOMESERVER.' });
      };
      const { talk } = await bobsWorld({ reach });
      await talk.line('hello there');
      broken = true;
      assertClean(await talk.line('and now?'), code);
      for (const [name, args] of CALLS)
        assertClean((await talk.call(name, args)).output?.text ?? '', `${code}: ${name}`);
      if (code.startsWith('peers-')) assert.ok(talk.warnings.some((warning) => warning.includes(OWNERS)));
    }
  });
});

/** Strings and templates, without the paths of imports. */
function writtenTexts(
  folder: string,
  isMeant: (name: string) => boolean,
): readonly { readonly file: string; readonly text: string }[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isMeant);
  return files.flatMap((name) => {
    const file = join(folder, name);
    const texts: { readonly file: string; readonly text: string }[] = [];
    new Visitor({
      Literal: ({ value }) => {
        if (typeof value === 'string' && !/^[#.]\S*\.ts$/.test(value)) texts.push({ file, text: value });
      },
      TemplateElement: ({ value }) => texts.push({ file, text: value.cooked ?? value.raw }),
    }).visit(parseSync(file, readFileSync(file, 'utf8'), { sourceType: 'module', lang: 'ts' }).program);
    return texts;
  });
}

const { front = '' } = splitFrontMatter(SOCIAL_AWARENESS);

describe('the guide to peers', () => {
  test('its front matter has name, description and triggers', () => {
    const data = parse(front) as Record<string, unknown>;
    assert.equal(data.name, 'social-awareness');
    assert.match(String(data.description), /other agents/i);
    assert.deepEqual(data.triggers, [
      'who do I know',
      'my peers',
      'check messages',
      'talk to',
      'other agents',
      'introduce',
      'agent awareness',
    ]);
  });

  verifies('R4.4', 'it is small, and its bytes change only on purpose', () => {
    assert.ok(estimateTokens(SOCIAL_AWARENESS) <= 300, `${estimateTokens(SOCIAL_AWARENESS)} tokens`);
    assert.equal(sha256(SOCIAL_AWARENESS), '679b81eaab0f2c4c35f371fece61174ccfba9d3fe7ab609c1dc76dfff4da6699');
  });
});
