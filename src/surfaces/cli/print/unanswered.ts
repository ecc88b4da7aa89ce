// Owns one judgement for scripts: was the question answered at all? When every configured model failed and reflex/1, which then answers,
// found nothing to do either, its refusal is not an answer. Knows no printing.
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { TurnEnd } from './print-result.ts';

export interface TurnWatch {
  see(event: TurnEvent): void;
  /** The turn's end as a script should read it. */
  judge(end: TurnEnd): TurnEnd;
}

export function watchTurn(): TurnWatch {
  let failed: { readonly from: string; readonly reason: string } | undefined;
  let acted = false;
  return {
    see(event) {
      if (event.type === 'model-fallback' && event.to === 'reflex/1')
        failed = { from: event.from, reason: event.reason };
      if (event.type === 'tool-start') acted = true;
    },
    judge(end) {
      if (failed === undefined || acted || end.outcome !== 'done') return end;
      const error = {
        code: 'model-failed',
        message: `no model answered; ${failed.from}: ${failed.reason}`,
        fix: '`talaria doctor` checks the models; -m NAME uses another.',
      };
      return { ...end, outcome: 'failed', text: '', error };
    },
  };
}
