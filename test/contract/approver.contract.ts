/** What every Approver keeps: it resolves once, never allows by itself, and rejects only when the signal says so. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApprovalAnswer, ApprovalRequest, Approver } from '#public/talaria.ts';

export interface ApproverHarness {
  readonly approver: Approver;
  /** Makes the owner answer the next request like this; absent where nobody can answer. */
  readonly answer?: (decision: ApprovalAnswer['decision']) => void;
  /** Makes the owner silent for the next request; absent where an answer never takes time. */
  readonly silence?: () => void;
  readonly close?: () => Promise<void>;
}

export const SAMPLE_REQUEST: ApprovalRequest = {
  callId: 'call_1',
  tool: 'terminal',
  preview: 'rm -rf build',
  reason: 'it deletes files recursively',
  key: 'rm -r build',
};

export function approverContract(name: string, make: () => ApproverHarness | Promise<ApproverHarness>): void {
  const using = async (use: (harness: ApproverHarness) => Promise<void>) => {
    const harness = await make();
    try {
      await use(harness);
    } finally {
      await harness.close?.();
    }
  };
  const signal = () => new AbortController().signal;

  describe(`approver contract: ${name}`, () => {
    it('gives the answer of the owner, each time anew', () =>
      using(async ({ approver, answer }) => {
        for (const decision of ['once', 'deny', 'session', 'always'] as const) {
          answer?.(decision);
          const given = await approver.approve(SAMPLE_REQUEST, signal());
          assert.equal(given.decision, answer ? decision : 'deny');
        }
      }));

    it('says why, when nobody can answer', () =>
      using(async ({ approver, answer }) => {
        if (answer) return;
        const given = await approver.approve(SAMPLE_REQUEST, signal());
        assert.equal(given.decision, 'deny');
        assert.ok((given.reason ?? '').length > 10);
      }));

    it('ends with the reason of the signal when it aborts before the answer', () =>
      using(async ({ approver, silence }) => {
        if (!silence) return;
        silence();
        const control = new AbortController();
        const asked = approver.approve(SAMPLE_REQUEST, control.signal);
        const reason = new Error('stopped by the test');
        setTimeout(() => control.abort(reason), 20);
        await assert.rejects(asked, reason);
      }));

    it('does not change the request', () =>
      using(async ({ approver, answer }) => {
        answer?.('once');
        await approver.approve(Object.freeze({ ...SAMPLE_REQUEST }), signal());
      }));
  });
}
