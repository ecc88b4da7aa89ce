// Owns how a MemoryProvider hangs on the agent's hooks (notes core 2.10): one Hooks object for each, so that one that fails fails alone.
// Knows no provider. Invariants: what it recalls, and what it saves from a compression, goes into the user message, never into the
// prefix; trivial lines ask nobody.
import type { Hooks, SessionInfo } from '#core/agent/hooks.ts';
import type { Message, TextPart } from '#core/model/message.ts';
import type { MemoryAudience } from '#mind/memory/memory-provider.ts';
import { wroteWith } from '../counters/done-calls.ts';
import { splitTurns } from '../counters/split-turns.ts';
import type { ProviderDesk } from './provider-desk.ts';
import { isTrivialPrompt } from './trivial-prompt.ts';
import { writtenNotices } from './written-notices.ts';

/** How long a turn waits for what may help, ms. */
const PREFETCH_MS = 3_000;

export interface ProviderHookParts {
  readonly desk: ProviderDesk;
  /** Whose turns these are; reads the session's source. */
  readonly audienceOf: (session: SessionInfo) => MemoryAudience;
  /** All messages of a session, for its end. */
  readonly messagesOf: (sessionId: string) => Promise<readonly Message[]>;
}

export function providerHooks({ desk, audienceOf, messagesOf }: ProviderHookParts): Hooks {
  /** By session: what a provider wants to survive a compression, until the next line of the owner carries it. */
  const saved = new Map<string, TextPart>();
  const takeSaved = (sessionId: string): readonly TextPart[] => {
    const part = saved.get(sessionId);
    saved.delete(sessionId);
    return part === undefined ? [] : [part];
  };
  return {
    name: `memory-${desk.provider.name}`,
    sessionStart: (session, signal) => desk.start({ ...session, audience: audienceOf(session) }, signal),
    beforeTurn: async ({ sessionId, text }, signal) => {
      const kept = takeSaved(sessionId);
      if (isTrivialPrompt(text)) return kept;
      const found = await desk.call((provider, limit) => provider.prefetch(text, limit), {
        absent: [],
        signal,
        limitMs: PREFETCH_MS,
      });
      return [...kept, ...found.map(asRecalled)];
    },
    afterTool: async ({ sessionId }, call, result) => {
      if (!wroteWith('memory', { call, result, at: 0 })) return;
      for (const notice of writtenNotices(sessionId, call.arguments))
        await desk.call((provider) => provider.memoryWritten?.(notice), { absent: undefined });
    },
    afterTurn: async (turn, { messages }) => {
      const own = splitTurns(messages).at(-1) ?? [];
      await desk.call((provider) => provider.turnEnded?.(turn, own), { absent: undefined });
    },
    beforeCompress: async ({ sessionId }, messages, signal) => {
      const text = await desk.call((provider, limit) => provider.beforeCompress?.(messages, limit), {
        absent: '',
        signal,
      });
      const says = `From before the compression, by ${desk.provider.name}:`;
      if (text.trim() !== '')
        saved.set(sessionId, { type: 'text', text: `${says}\n${text.trim()}`, origin: 'foreign', label: 'context' });
    },
    sessionEnd: async ({ sessionId }) => {
      saved.delete(sessionId);
      const messages = await messagesOf(sessionId);
      await desk.call((provider) => provider.sessionEnded?.(messages), { absent: undefined });
    },
  };
}

/** Nobody typed it in this turn, whatever the provider says. */
function asRecalled(part: TextPart): TextPart {
  return { ...part, label: 'context', origin: part.origin === 'owner' ? 'foreign' : part.origin };
}
