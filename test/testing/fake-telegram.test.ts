/** The Bot API on loopback is as strict as the page says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFakeTelegram } from '#testing/fake-telegram.ts';

test('it refuses what the Bot API refuses', async (t) => {
  const fake = await startFakeTelegram({ context: t });
  const call = async (method: string, params: object = {}, token = fake.token) => {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(params) };
    const answer = await (await fetch(`${fake.apiRoot}/bot${token}/${method}`, request)).json();
    return answer as { error_code?: number; description?: string; result: { message_id: number } };
  };
  const code = async (method: string, params: object, token?: string) => (await call(method, params, token)).error_code;
  fake.say('hello');
  const html = (text: string) => code('sendMessage', { chat_id: 1, text, parse_mode: 'HTML' });
  for (const text of [
    '<b>',
    'a</b>',
    '<b>a</i>',
    '<p>a</p>',
    'a < b',
    '<b><i>a</b></i>',
    '<code><b>a</b></code>',
    '<a>a',
    ' ',
    'x'.repeat(4_097),
  ])
    assert.equal(await html(text), 400, text.slice(0, 30));
  for (const text of [
    '<pre><code class="language-ts">a</code></pre>',
    '&lt;&#955; & > <b>a<i>b</i></b>',
    `<b>${'x'.repeat(4_096)}</b>`,
  ])
    assert.equal(await html(text), undefined, text.slice(0, 30));
  const said = (more: object) => code('sendMessage', { chat_id: 1, text: 'x', ...more });
  assert.equal(await said({ text: 'a.b', parse_mode: 'MarkdownV2' }), 400);
  assert.equal(await said({ text: 'a\\.b', parse_mode: 'MarkdownV2' }), undefined);
  const data = (text: string) => ({ reply_markup: { inline_keyboard: [[{ text: 'a', callback_data: text }]] } });
  assert.equal(await said(data('é'.repeat(33))), 400);
  assert.equal(await said({ chat_id: 2 }), 400);
  assert.equal(await code('getMe', {}, '1:x'), 401);
  assert.equal(await code('sendTea', {}), 404);
  const { result } = await call('sendMessage', { chat_id: 1, text: 'same' });
  assert.equal(await code('editMessageText', { chat_id: 1, message_id: result.message_id, text: 'same' }), 400);
  assert.equal(await code('setWebhook', { url: 'http://a.b' }), 400);
  const older = code('getUpdates', { offset: (fake.pending.at(-1) ?? 0) + 1, timeout: 20 });
  while (fake.pending.length > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  const newer = code('getUpdates', { timeout: 20 });
  assert.equal(await older, 409);
  fake.say('wakes the newer');
  assert.equal(await newer, undefined);
  await call('setWebhook', { url: 'https://a.b' });
  assert.equal(await code('getUpdates', {}), 409);
  await call('deleteWebhook');
  await call('deleteWebhook', { drop_pending_updates: true });
  assert.equal(fake.dropped, 1);
});
