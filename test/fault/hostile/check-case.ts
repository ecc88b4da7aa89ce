/** Plays one case against somebody who asks, and checks what holds for all: it ends in words that name endpoint and bound, and no key strays. */
import assert from 'node:assert/strict';
import { type Asked, type Ended, KEY } from './ask-endpoint.ts';
import type { HostileCase } from './endpoint-cases.ts';
import { startHostileServer } from './hostile-server.ts';

export async function checkCase<E extends Ended>(one: HostileCase, ask: (asked: Asked) => Promise<E>): Promise<E> {
  const server = await startHostileServer(one.answer);
  try {
    const ended = await ask({ to: one.to, origin: server.origin, ...(one.meets ? { meets: one.meets } : {}) });
    assert.deepEqual(server.stray, [], 'nothing goes to another host');
    assert.ok(server.heard.length > 0 && server.heard.length <= 5, `asked ${server.heard.length} times`);
    if (one.to !== 'page') assert.ok(server.heard.every((request) => request.includes(KEY)));
    assert.ok(!ended.text.includes(KEY));
    assert.match(ended.text, one.says);
    if (one.mayAnswer) return ended;
    assert.ok(ended.failed, ended.text);
    assert.match(ended.text, /acme|the endpoint|127\.0\.0\.1/);
    return ended;
  } finally {
    server.close();
  }
}
