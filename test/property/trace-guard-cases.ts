/**
 * Random conversations and proposals whose right verdict is known by how they were made, not by any check of the claim: facts with
 * values that occur once, said by the owner, run as a call, or read from elsewhere; then one known lie.
 */
import fc from 'fast-check';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { Message } from '#core/model/message.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { assistant, call, owner, stored } from '../mind/evidence/conversation.ts';

const THINGS =
  'billing search invoice login backup import export upload payment checkout staging mirror report archive'.split(' ');
const NAMES = 'Marta Ibrahim Keiko Oluwaseun Priya Bogdan Ximena Thandiwe Rasmus Yevgenia Hideo Aroha'.split(' ');
const STRANGERS = 'Viktor Dolores Anselm Wilhelmina Zubair Ottoline'.split(' ');
const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');

/** One sentence with the values that make it what it is, and the one that says the opposite. */
export interface Fact {
  readonly text: string;
  readonly denial: string;
  readonly number?: string;
  readonly path?: string;
  readonly word?: string;
}

/** `serial` keeps the values of a conversation apart. */
function factOf(shape: number, serial: number, pick: number): Fact {
  const fact = plainFact(shape, serial, pick);
  return pick % 3 === 0 ? { ...fact, text: fact.denial, denial: fact.text } : fact;
}

function plainFact(shape: number, serial: number, pick: number): Fact {
  const thing = `${THINGS[(serial + pick) % THINGS.length]}`;
  const name = `${NAMES[(serial * 5 + pick) % NAMES.length]}`;
  const number = String(1000 + serial * 137 + (pick % 97));
  const path = `/srv/${thing}-${serial}/conf/part${serial}.toml`;
  const word = `${thing}_job_${serial}`;
  const day = `${DAYS[(serial + pick) % DAYS.length]}`;
  switch (shape % 7) {
    case 0:
      return {
        text: `the ${thing} service listens on port ${number}`,
        denial: `the ${thing} service does not listen on port ${number}`,
        number,
      };
    case 1:
      return {
        text: `${name} owns the ${thing} dashboard since ${number}`,
        denial: `${name} never owned the ${thing} dashboard since ${number}`,
        number,
      };
    case 2:
      return {
        text: `keep the ${thing} settings in ${path} please`,
        denial: `do not keep the ${thing} settings in ${path} please`,
        path,
      };
    case 3:
      return {
        text: `call ${word} before the ${thing} restart`,
        denial: `don't call ${word} before the ${thing} restart`,
        word,
      };
    case 4:
      return {
        text: `the ${thing} manual lives at https://docs${serial}.example.com/${thing}`,
        denial: `the ${thing} manual no longer lives at https://docs${serial}.example.com/${thing}`,
        word: `https://docs${serial}.example.com/${thing}`,
      };
    case 5:
      return {
        text: `we ship the ${thing} build every ${day} with ticket ${number}`,
        denial: `we never ship the ${thing} build every ${day} with ticket ${number}`,
        number,
      };
    default:
      return {
        text: `I want the ${thing} mails sent to team${serial}@example.com`,
        denial: `I don't want the ${thing} mails sent to team${serial}@example.com`,
        word: `team${serial}@example.com`,
      };
  }
}

export type Teller = 'owner' | 'run' | 'output' | 'context' | 'assistant' | 'failed-run';

interface Told {
  readonly fact: Fact;
  readonly teller: Teller;
  /** Id of the message that can be cited for it. */
  readonly id: number;
}

export type Lie =
  | 'none'
  | 'number'
  | 'path'
  | 'word'
  | 'name-added'
  | 'other-message'
  | 'quote-altered'
  | 'negated'
  | 'other-session'
  | 'two-words'
  | 'no-citation'
  | 'uncited-fact'
  | 'laundered';

export interface GateCase {
  readonly messages: readonly StoredMessage[];
  readonly draft: ProposalDraft;
  readonly expected: string;
  readonly lie: Lie;
  readonly teller: Teller;
}

const TELLERS: readonly Teller[] = ['owner', 'owner', 'run', 'output', 'context', 'assistant', 'failed-run'];
const LIES: readonly Lie[] = [
  'none',
  'none',
  'none',
  'number',
  'path',
  'word',
  'name-added',
  'other-message',
  'quote-altered',
  'negated',
  'other-session',
  'two-words',
  'no-citation',
  'uncited-fact',
  'laundered',
];

export const gateCases: fc.Arbitrary<GateCase> = fc
  .record({
    plan: fc.array(fc.tuple(fc.nat(6), fc.nat(TELLERS.length - 1), fc.nat(1000)), { minLength: 2, maxLength: 6 }),
    cited: fc.nat(5),
    other: fc.nat(5),
    lie: fc.constantFrom(...LIES),
    target: fc.constantFrom('user', 'memory') as fc.Arbitrary<'user' | 'memory'>,
    dress: fc.nat(3),
    cut: fc.nat(3),
  })
  .map(build);

interface Plan {
  readonly plan: readonly (readonly [shape: number, teller: number, pick: number])[];
  readonly cited: number;
  readonly other: number;
  readonly lie: Lie;
  readonly target: 'user' | 'memory';
  readonly dress: number;
  readonly cut: number;
}

function build({ plan, cited, other, lie: wished, target, dress, cut }: Plan): GateCase {
  const { messages, told } = converse(plan);
  const main = told[cited % told.length] as Told;
  const beside = told[(told.indexOf(main) + 1 + (other % (told.length - 1))) % told.length] as Told;
  const lie = possible(wished, main, beside) ? wished : 'none';
  const text = dressed(claimText(main.fact, lie, beside.fact), dress);
  const citations = cite(main, beside, { lie, cut, last: messages.length });
  const change = { target, action: 'add', content: text };
  const draft: ProposalDraft = {
    kind: 'memory',
    actor: 'review',
    target,
    action: 'add',
    change,
    sessionId: 's1',
    citations,
  };
  return { messages: stored(messages), draft, expected: verdictOf(lie, main.teller, target), lie, teller: main.teller };
}

function converse(plan: Plan['plan']): { readonly messages: readonly Message[]; readonly told: readonly Told[] } {
  const messages: Message[] = [];
  const told: Told[] = [];
  plan.forEach(([shape, tellerIndex, pick], index) => {
    const serial = index + 2;
    const teller = TELLERS[tellerIndex] as Teller;
    const fact = factOf(shape, serial, pick);
    const callId = `c${serial}`;
    messages.push(...tell(fact, teller, callId));
    told.push({
      fact,
      teller,
      id: teller === 'run' || teller === 'failed-run' ? messages.length - 1 : messages.length,
    });
  });
  return { messages, told };
}

function tell({ text }: Fact, teller: Teller, callId: string): readonly Message[] {
  switch (teller) {
    case 'owner':
      return [owner(`${text}, thanks`)];
    case 'assistant':
      return [assistant(`As far as I know ${text}.`)];
    case 'context':
      return [owner('hello again', { type: 'text', text, origin: 'foreign', label: 'context' })];
    case 'output':
      return call('read_file', { path: 'notes.txt' }, `first line\n${text}\nlast line`, { callId });
    case 'run':
      return call('terminal', { command: text }, 'fine', { exitCode: 0, callId });
    case 'failed-run':
      return call('terminal', { command: text }, 'oh', { exitCode: 1, callId });
  }
}

function possible(lie: Lie, main: Told, beside: Told): boolean {
  if (lie === 'number' || lie === 'path' || lie === 'word') return main.fact[lie] !== undefined;
  if (lie === 'laundered') return main.teller === 'output' && beside.teller === 'owner';
  return true;
}

function claimText(fact: Fact, lie: Lie, other: Fact): string {
  const { text, number = '', path = '', word = '' } = fact;
  switch (lie) {
    case 'number':
      return text.replace(number, String(Number(number) + 9000));
    case 'path':
      return text.replace(path, path.replace('/conf/', '/cache/'));
    case 'word':
      return text.replace(word, word.replace(/(?=_job|example|\.example)/, 'x'));
    case 'name-added':
      return `${text} for ${STRANGERS[text.length % STRANGERS.length]}`;
    case 'negated':
      return fact.denial;
    case 'uncited-fact':
      return other.text;
    default:
      return text;
  }
}

function dressed(text: string, dress: number): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return [text, capital, `${capital}.`, `- ${text}`][dress] ?? text;
}

function cite(
  main: Told,
  beside: Told,
  how: { readonly lie: Lie; readonly cut: number; readonly last: number },
): readonly Citation[] {
  const words = main.fact.text.split(' ');
  const from = Math.min(how.cut, words.length - 3);
  const quote = words.slice(from, from + 3 + how.cut).join(' ');
  const good = { handle: `message:${main.id}`, quote };
  const extra = { handle: `message:${beside.id}`, quote: beside.fact.text };
  switch (how.lie) {
    case 'no-citation':
      return [];
    case 'other-message':
      return [{ handle: good.handle, quote: beside.fact.text }];
    case 'quote-altered':
      return [{ ...good, quote: quote.replace(/\S+$/, 'zebra') }];
    case 'other-session':
      return [{ ...good, handle: `message:${how.last + 40}` }];
    case 'two-words':
      return [{ ...good, quote: 'the one' }];
    case 'laundered':
      return [extra, good];
    default:
      return [good];
  }
}

const MISMATCH = 'evidence_text_mismatch';

function verdictOf(lie: Lie, teller: Teller, target: 'user' | 'memory'): string {
  const byLie: Partial<Record<Lie, string>> = {
    number: MISMATCH,
    path: MISMATCH,
    word: MISMATCH,
    'name-added': MISMATCH,
    negated: MISMATCH,
    'uncited-fact': MISMATCH,
    'other-message': 'quote-not-found',
    'quote-altered': 'quote-not-found',
    'other-session': 'unknown-handle',
    'two-words': 'quote-too-short',
    'no-citation': 'no-citation',
    laundered: 'pending',
  };
  const speaks = teller === 'owner' || (teller === 'run' && target === 'memory');
  return byLie[lie] ?? (speaks ? 'accepted' : 'pending');
}
