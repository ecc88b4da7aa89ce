// Owns one judgement for scripts: was the question answered at all? The refusal of reflex/1 is no answer, nor is what it says
// without acting when every configured model failed before it. Knows no printing.
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Message } from '#core/model/message.ts';
import type { PrintError, TurnEnd } from './print-result.ts';

export interface TurnWatch {
  see(event: TurnEvent): void;
  /** The turn's end as a script should read it. */
  judge(end: TurnEnd): Promise<TurnEnd>;
}

export function watchTurn(): TurnWatch {
  let failed: { readonly from: string; readonly reason: string } | undefined;
  let acted = false;
  let last: Message | undefined;
  return {
    see(event) {
      if (event.type === 'model-fallback' && event.to === 'reflex/1')
        failed = { from: event.from, reason: event.reason };
      if (event.type === 'tool-start') acted = true;
      if (event.type === 'message') last = event.message;
    },
    async judge(end) {
      if (acted || end.outcome !== 'done') return end;
      if (failed) return unanswered(end, modelFailed(failed));
      return last && end.tier === 'T0' && (await refused(last)) ? unanswered(end, NO_MODEL) : end;
    },
  };
}

/** The rules are in memory already when it was them that answered. */
async function refused(message: Message): Promise<boolean> {
  const { isRefusal } = await import('#core/reflex/is-refusal.ts');
  return isRefusal(message);
}

type Unanswered = PrintError & { readonly fix: string };

function unanswered(end: TurnEnd, { code, message, fix }: Unanswered): TurnEnd {
  return { ...end, outcome: 'failed', text: '', error: { code, message, fix } };
}

function modelFailed({ from, reason }: { readonly from: string; readonly reason: string }): Unanswered {
  return {
    code: 'model-failed',
    message: `no model answered; ${from}: ${reason}`,
    fix: '`talaria doctor` checks the models; -m NAME uses another.',
  };
}

const NO_MODEL: Unanswered = {
  code: 'no-model',
  message: 'this needs a language model: reflex/1 was asked, and it has no rule for this',
  fix: '`talaria setup` adds a model, -m NAME uses another; `talaria -p help` shows what works without.',
};
