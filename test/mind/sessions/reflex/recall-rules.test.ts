// Recall: quotes with session, date and message, filtered by the days that the owner named.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isoTime, localMidnight } from '#base/clock.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { rules } from '../../../core/reflex/all-rules.ts';
import { type Called, ReflexConversation } from '../../../core/reflex/conversation.ts';
import { verifies } from '../../../verifies.ts';

const NOW = localMidnight(2026, 11, 18) + 10 * 3_600_000;
const YESTERDAY = NOW - 24 * 3_600_000;
const LONG_AGO = NOW - 40 * 24 * 3_600_000;

function hit(id: string, at: number, text: string) {
  return {
    session_id: id,
    when: isoTime(at),
    match_message_id: 7,
    matched_role: 'user',
    snippet: `>>>${text}<<<`,
    messages: [{ id: 7, role: 'user', when: isoTime(at), text }],
  };
}

const ANSWERS: Readonly<Record<string, object>> = {
  discover: {
    success: true,
    results: [
      hit('20261009_100000_aaaaaa', LONG_AGO, 'use sqlite'),
      hit('20261117_100000_bbbbbb', YESTERDAY, 'use postgres'),
    ],
  },
  browse: {
    success: true,
    results: [
      { session_id: '20261117_100000_bbbbbb', when: isoTime(YESTERDAY), first: 'use postgres' },
      { session_id: '20261009_100000_aaaaaa', when: isoTime(LONG_AGO), first: 'old' },
    ],
  },
  read: {
    success: true,
    results: [
      {
        session_id: '20261117_100000_bbbbbb',
        when: isoTime(YESTERDAY),
        messages: [
          { id: 3, role: 'user', when: isoTime(YESTERDAY), text: 'use postgres' },
          { id: 4, role: 'assistant', when: isoTime(YESTERDAY), text: 'done' },
        ],
      },
    ],
  },
};

function answer({ arguments: given }: Called): string {
  return JSON.stringify(
    ANSWERS[given.session_id !== undefined ? 'read' : given.query === undefined ? 'browse' : 'discover'],
  );
}

function conversation(): ReflexConversation {
  return new ReflexConversation({
    answer,
    client: createReflexClient(rules, { clock: createManualClock({ now: NOW }) }),
  });
}

describe('recall', () => {
  verifies('core:reflex:recalls', 'by topic: quotes with session, date and message', async () => {
    const turn = await conversation().say('what did we decide about the database');
    assert.deepEqual(turn.calls, [{ name: 'session_search', arguments: { query: 'database' } }]);
    assert.match(turn.text, /20261117_100000_bbbbbb · 2026-11-17 10:00 · message 7 · user\n {2}use postgres/);
    assert.match(turn.text, /use sqlite/);
  });

  verifies('core:reflex:recalls', 'by time: only the days that were named', async () => {
    const turn = await conversation().say('what did we decide about the database yesterday?');
    assert.match(turn.text, /use postgres/);
    assert.doesNotMatch(turn.text, /use sqlite/);
    assert.match((await conversation().say('what did we say about the database on 2026-05-03')).text, /At other times/);
  });

  verifies('core:reflex:recalls', "by time alone: the owner's words of those days", async () => {
    const turn = await conversation().say('what did we do yesterday');
    assert.deepEqual(
      turn.calls.map((call) => call.arguments),
      [{ limit: 10 }, { session_id: '20261117_100000_bbbbbb' }],
    );
    assert.match(turn.text, /message 3 · user\n {2}use postgres/);
    assert.doesNotMatch(turn.text, /done/);
  });

  test('by person, with slips and word forms', async () => {
    const lines: readonly (readonly [string, RegExp])[] = [
      ['what did Maria say about the budget', /Maria budget/],
      ['waht did we deicde about caching', /caching/],
      ['serach our conversations for backups', /backups/],
      ['when did we last talk about docker', /docker/],
    ];
    for (const [line, query] of lines)
      assert.match(String((await conversation().say(line)).calls[0]?.arguments.query), query, line);
  });

  test('without a cue of a conversation nothing is searched', async () => {
    for (const line of [
      'What does the author want to say in interview_07.txt?',
      'what do experts say about coffee?',
      'why did they cancel the show?',
      'where did I park my car',
      'our last conversation was hard',
    ])
      assert.deepEqual((await conversation().say(line)).calls, [], line);
  });

  test('opens a session by its handle', async () => {
    const turn = await conversation().say('open the session 20261117_100000_bbbbbb');
    assert.deepEqual(turn.calls[0]?.arguments, { session_id: '20261117_100000_bbbbbb' });
  });
});
