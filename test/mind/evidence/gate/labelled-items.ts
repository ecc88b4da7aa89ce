/** The labelled items of test/data/judgement as proposals over stored messages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { readEvidence } from '#mind/evidence/citations.ts';
import type { Verdict } from '#mind/evidence/judge.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import type { JsonObject, Message } from '#public/talaria.ts';
import { assistant, call, owner } from '../conversation.ts';

export interface Said {
  readonly id: number;
  readonly from: 'owner' | 'assistant' | 'call' | 'peer';
  readonly text?: string;
  readonly name?: string;
  readonly tool?: string;
  readonly arguments?: JsonObject;
  readonly ok?: boolean;
  readonly output?: string;
}

export interface Item {
  readonly id: string;
  readonly kind: 'memory' | 'patch' | 'skill' | 'answer';
  readonly honest: boolean;
  readonly verdict: Verdict;
  readonly wrong: 'foreign-origin' | 'hard-value' | 'goes-beyond' | 'contradicts' | 'one-off' | 'quote-missing' | null;
  readonly note: string;
  readonly conversation: readonly Said[];
  readonly evidence: readonly ({ readonly quote: string; readonly message: number } | { readonly call: number })[];
  readonly target?: 'user' | 'memory';
  readonly entry?: string;
  readonly skill?: { readonly name: string; readonly body: string };
  readonly old?: string;
  readonly new?: string;
  readonly name?: string;
  readonly description?: string;
  readonly body?: string;
}

export function labelledItems(file: 'memory' | 'patches' | 'skills'): readonly Item[] {
  const text = readFileSync(join(import.meta.dirname, `../../../data/judgement/${file}.jsonl`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Item);
}

/** A call is two messages: its result carries the id of the item, so that quotes of its output and the call itself are found. */
export function storedConversation(conversation: readonly Said[]): readonly StoredMessage[] {
  return conversation.flatMap((said) => {
    const messages = messagesOf(said);
    return messages.map((message, at) => ({
      id: said.id * 10 + (messages.length > 1 && at === 0 ? 0 : 1),
      sessionId: 's1',
      at: said.id * 1_000,
      message,
    }));
  });
}

function messagesOf({
  from,
  text = '',
  name = '',
  id,
  tool = '',
  arguments: given = {},
  ok,
  output = '',
}: Said): readonly Message[] {
  switch (from) {
    case 'owner':
      return [owner(text)];
    case 'assistant':
      return [assistant(text)];
    case 'call':
      return call(tool, given, output, {
        ...(tool === 'terminal' ? { exitCode: ok === true ? 0 : 1 } : { isError: ok !== true }),
        callId: `call-${id}`,
      });
    case 'peer':
      return call('check_messages', {}, `${name}: ${text}`, { callId: `peer-${id}` });
  }
}

/** As a model would send it: a message's number, a call's id. */
export function evidenceOf({ evidence }: Pick<Item, 'evidence'>): JsonObject[] {
  return evidence.map((one) =>
    'call' in one ? { call: `call-${one.call}` } : { quote: one.quote, message: one.message * 10 + 1 },
  );
}

export function draftOf(item: Item, messages: readonly StoredMessage[]): ProposalDraft {
  const citations = readEvidence(evidenceOf(item), messages);
  const whose = { actor: 'review', sessionId: 's1', citations } as const;
  if (item.kind === 'memory') {
    const target = item.target ?? 'memory';
    return {
      kind: 'memory',
      target,
      action: 'add',
      change: { target, action: 'add', content: item.entry ?? '' },
      ...whose,
    };
  }
  if (item.kind === 'patch') {
    const change = {
      action: 'patch',
      name: item.skill?.name ?? '',
      old_string: item.old ?? '',
      new_string: item.new ?? '',
    };
    return { kind: 'skill', target: change.name, action: 'patch', change, ...whose };
  }
  const content = `---\nname: ${item.name}\ndescription: ${item.description}\n---\n${item.body}`;
  const change = { action: 'create', name: item.name ?? '', content };
  return { kind: 'skill', target: change.name, action: 'create', change, ...whose };
}
