/** What of a turn was left without an answer, and which way to one is named. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { denyingApprover, type Reach } from '#core/agent/approver.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import { type ApprovalsOfRun, watchTurn } from '#surfaces/cli/print/unanswered.ts';

const END: Extract<TurnEvent, { type: 'turn-end' }> = {
  ...{ type: 'turn-end', outcome: 'done', text: 'Done.', steps: 1, usage: NO_USAGE, cost: null },
  ...{ model: 'openai/m', tier: 'T2', ms: 1 },
};

interface Refused {
  readonly reach?: Reach;
  /** Absent: it did not run. */
  readonly exitCode?: number;
}

async function judge(refused: readonly Refused[], approvals: ApprovalsOfRun = 'ask') {
  const watch = watchTurn(approvals);
  for (const [at, { reach, exitCode }] of refused.entries()) {
    const callId = `c${at}`;
    watch.see({ type: 'tool-start', callId, name: 'terminal', arguments: {}, summary: '' });
    const far = reach === undefined ? {} : { reach };
    watch.see({ type: 'approval', callId, preview: `cmd ${at}`, decision: 'deny', reason: 'nobody', ...far });
    const observed = { ms: 1, bytes: 1, ...(exitCode === undefined ? { refused: 'denied' } : { exitCode }) };
    const result = { type: 'tool-result', callId, name: 'terminal', text: '', isError: exitCode !== 0 } as const;
    watch.see({ type: 'tool-end', callId, name: 'terminal', result: { ...result, origin: 'foreign', observed } });
  }
  return watch.judge(END, async () => undefined);
}

describe('print mode: what nobody answered', () => {
  it('a host that stayed closed is no denial of a command that ended well without it', async () => {
    assert.equal((await judge([{ reach: 'network', exitCode: 0 }])).exitCode, 0);
    assert.equal((await judge([{ reach: 'network', exitCode: 1 }])).exitCode, 3);
    assert.equal((await judge([{ reach: 'network' }])).exitCode, 3);
    assert.equal((await judge([{ reach: 'beyond', exitCode: 0 }])).exitCode, 3);
    const mixed = await judge([{ reach: 'network', exitCode: 0 }, { reach: 'folder' }]);
    assert.deepEqual(mixed.error?.calls, [{ tool: 'terminal', call: 'cmd 1' }]);
  });

  it('names --yes only where it would have helped', async () => {
    const fix = async (refused: readonly Refused[], approvals?: ApprovalsOfRun) =>
      (await judge(refused, approvals)).error?.fix ?? '';
    assert.match(await fix([{ reach: 'folder' }, { reach: 'network' }]), /^--yes .* approves such calls/);
    for (const far of [{}, { reach: 'beyond' as const }]) {
      assert.match(await fix([far]), /^It needs a yes at a terminal/);
      assert.match(await fix([far], 'deny'), /ask` lets a yes at a terminal count/);
    }
    assert.match(
      await fix([{ reach: 'folder' }, {}]),
      /^--yes approves what stays .* the rest needs a yes at a terminal/,
    );
    assert.doesNotMatch(await fix([{ reach: 'network' }], 'auto'), /--yes/);
    assert.match(await fix([{ reach: 'folder' }], 'deny'), /ask` lets --yes count/);
  });

  it('so does the result of the call', async () => {
    const asked = { callId: 'c', tool: 'terminal', preview: 'x', reason: 'r', key: 'k' };
    const said = async (reach?: Reach) => {
      const far = reach === undefined ? {} : { reach };
      return (await denyingApprover.approve({ ...asked, ...far }, new AbortController().signal)).reason ?? '';
    };
    assert.match(await said('folder'), /start with --yes/);
    assert.match(await said('network'), /start with --yes/);
    for (const far of [await said('beyond'), await said()])
      assert.match(far, /^it needs a yes at a terminal(?!.*--yes)/);
  });
});
