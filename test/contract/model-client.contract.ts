/**
 * The contract of ModelClient as tests. Every implementation and every fake runs it; what a client cannot be made to do
 * (the reflex calls no endpoint that hangs) is left out by its owner through `can`, not skipped.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '#public/talaria.ts';
import { verifies } from '../verifies.ts';

export interface ContractSubject {
  readonly client: ModelClient;
  /** Releases what the client needs: servers, files. */
  close?(): Promise<void> | void;
}

export interface ContractCase {
  /** Shown in the test names. */
  readonly name: string;
  /** A client that answers `request` with some plain text. */
  readonly replying: () => Promise<ContractSubject>;
  /** A request that makes it do so; default a greeting. */
  readonly request?: ModelRequest;
  /** A client that answers with at least two calls of the tool `echo`. */
  readonly calling?: () => Promise<ContractSubject>;
  /** A client that starts an answer and then says nothing more. */
  readonly hanging?: () => Promise<ContractSubject>;
}

export const ECHO_TOOL = {
  name: 'echo',
  description: 'Says the text again.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
} as const;

export const GREETING: ModelRequest = {
  system: 'You are a test.',
  messages: [userMessage('hello')],
  tools: [ECHO_TOOL],
  purpose: 'answer',
};

export async function collect(client: ModelClient, request: ModelRequest, signal?: AbortSignal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of client.stream(request, signal ?? new AbortController().signal)) events.push(event);
  return events;
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

export function modelClientContract(subject: ContractCase): void {
  const request = subject.request ?? GREETING;
  describe(`model client contract: ${subject.name}`, () => {
    verifies('core:model:contract-shared', 'ends with exactly one finish, as its last event', () =>
      using(subject.replying, async (client) => {
        const events = await collect(client, request);
        assert.deepEqual(
          events.flatMap((event, index) => (event.type === 'finish' ? [index] : [])),
          [events.length - 1],
        );
        assert.notEqual(textOf(events), '');
        checkFinish(events.at(-1));
      }),
    );

    test('starts no work before the first next, and never writes to the request', () =>
      using(subject.replying, async (client) => {
        const frozen = deepFrozen(request);
        const stream = client.stream(frozen, new AbortController().signal)[Symbol.asyncIterator]();
        const first = await stream.next();
        assert.equal(first.done, false);
        while (!(await stream.next()).done);
        assert.deepEqual(frozen, request);
      }));

    test('an aborted signal throws its reason without any event', () =>
      using(subject.replying, async (client) => {
        const reason = new Error('no thanks');
        await assert.rejects(collect(client, request, AbortSignal.abort(reason)), (error) => error === reason);
        // The script of a double still holds its answer: use it up.
        await collect(client, request);
      }));

    test('a consumer that stops early ends the stream', () =>
      using(subject.replying, async (client) => {
        for await (const event of client.stream(request, new AbortController().signal)) {
          assert.ok(event.type);
          break;
        }
      }));

    test('id, tier and traits say what it is', () =>
      using(subject.replying, async (client) => {
        assert.match(client.id, /^[^/]+\/.+/);
        assert.match(client.tier, /^T[012]$/);
        assert.ok(client.traits.contextWindow >= 512);
        await collect(client, request);
      }));

    if (subject.calling) callTests(subject.calling, request);
    if (subject.hanging) abortTests(subject.hanging, request);
  });
}

function callTests(calling: () => Promise<ContractSubject>, request: ModelRequest): void {
  test('calls carry unique ids, declared names and parsed arguments', () =>
    using(calling, async (client) => {
      const events = await collect(client, request);
      const calls = events.filter((event) => event.type === 'tool-call');
      assert.ok(calls.length >= 2);
      assert.equal(new Set(calls.map((call) => call.callId)).size, calls.length);
      for (const call of calls) {
        assert.equal(call.name, 'echo');
        assert.equal(typeof call.arguments, 'object');
      }
      const finish = events.at(-1);
      assert.ok(finish?.type === 'finish' && finish.reason === 'tool-calls');
    }));
}

function abortTests(hanging: () => Promise<ContractSubject>, request: ModelRequest): void {
  verifies('core:model:abort', 'an abort in mid-stream throws its reason', () =>
    using(hanging, async (client) => {
      const controller = new AbortController();
      const reason = new Error('stop now');
      const events: ModelEvent[] = [];
      const timer = setTimeout(() => controller.abort(reason), 150);
      await assert.rejects(
        async () => {
          for await (const event of client.stream(request, controller.signal)) events.push(event);
        },
        (error) => error === reason,
      );
      clearTimeout(timer);
      assert.ok(!events.some((event) => event.type === 'finish'));
    }),
  );
}

async function using(make: () => Promise<ContractSubject>, run: (client: ModelClient) => Promise<void>): Promise<void> {
  const subject = await make();
  try {
    await run(subject.client);
  } finally {
    await subject.close?.();
  }
}

function checkFinish(event: ModelEvent | undefined): void {
  assert.ok(event?.type === 'finish');
  for (const value of Object.values(event.usage)) assert.ok(Number.isInteger(value) && value >= 0);
  assert.ok(event.cost === null || event.cost >= 0);
  assert.match(event.model, /\//);
}

function deepFrozen<T>(value: T): T {
  const copy = structuredClone(value);
  const freeze = (inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null) return;
    for (const deeper of Object.values(inner)) freeze(deeper);
    Object.freeze(inner);
  };
  freeze(copy);
  return copy;
}
