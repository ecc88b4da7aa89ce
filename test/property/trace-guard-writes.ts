/**
 * Random writes of every form (memory add, replace, batch; skill create, edit, patch, files, header fields) with arguments that belong to
 * other forms. What is right is counted from how each was made: words that were said, words that nobody said, and who said them.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import type { Message } from '#core/model/message.ts';
import type { AddedTextOptions } from '#mind/evidence/gate/added-text.ts';
import { gateProposal } from '#mind/evidence/gate/gate-proposal.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { assistant, call, owner, stored } from '../mind/evidence/conversation.ts';

/** No word of any language here, and no two begin alike. */
const SAID = 'brakon delfur gimtal hoskem jurlop kivden'.split(' ');
const UNSAID = 'lumgor mefbat nolpek quzdim rastov tewbun'.split(' ');
const STANDING = 'vabmol wexdur yilgat zofken'.split(' ').join(' ');

type Teller = 'owner' | 'run' | 'output' | 'assistant';
type Quote = 'good' | 'cut-front' | 'cut-end' | 'short' | 'none';

export const WRITE_FORMS = [
  ...['add', 'replace', 'replace-false', 'batch', 'remove-and-add'],
  ...['create', 'description', 'edit', 'patch', 'note-file', 'script-file'],
  ...['compatibility', 'hook', 'tag-sentence', 'edit-hook', 'grant'],
] as const;
type Form = (typeof WRITE_FORMS)[number];

interface Plan {
  readonly form: Form;
  readonly teller: Teller;
  readonly quote: Quote;
  readonly target: 'user' | 'memory';
  /** How many words of the claim were said, and how many were not. */
  readonly said: number;
  readonly unsaid: number;
  /** Bits: which arguments of other forms come along. */
  readonly stray: number;
  readonly style: number;
}

const plans: fc.Arbitrary<Plan> = fc
  .record({
    form: fc.constantFrom<Form>(...WRITE_FORMS),
    teller: fc.constantFrom<Teller>('owner', 'owner', 'run', 'output', 'assistant'),
    quote: fc.constantFrom<Quote>('good', 'good', 'good', 'good', 'cut-front', 'cut-end', 'short', 'none'),
    target: fc.constantFrom('user' as const, 'memory' as const),
    said: fc.nat(SAID.length),
    unsaid: fc.oneof(fc.constant(0), fc.nat(UNSAID.length)),
    stray: fc.nat(31),
    style: fc.nat(3),
  })
  .filter(({ said, unsaid }) => said + unsaid > 0);

function conversation(teller: Teller): { readonly messages: readonly Message[]; readonly handle: string } {
  const text = SAID.join(' ');
  switch (teller) {
    case 'owner':
      return { messages: [owner(text)], handle: 'message:1' };
    case 'assistant':
      return { messages: [owner('hello'), assistant(text)], handle: 'message:2' };
    case 'output':
      return { messages: [owner('hello'), ...call('read_file', { path: 'a.txt' }, text)], handle: 'message:3' };
    case 'run':
      return {
        messages: [owner('hello'), ...call('terminal', { command: text }, 'x', { exitCode: 0 })],
        handle: 'message:2',
      };
  }
}

function quoteOf(kind: Quote): string {
  const words = SAID.slice(1, 5).join(' ');
  switch (kind) {
    case 'cut-front':
      return words.slice(2);
    case 'cut-end':
      return words.slice(0, -2);
    case 'short':
      return SAID.slice(0, 2).join(' ');
    default:
      return words;
  }
}

interface Made {
  readonly kind: 'memory' | 'skill';
  readonly action: string;
  readonly change: JsonObject;
  readonly options: AddedTextOptions;
}

const name = 'forms';

function skillText(claim: string, header = `description: ${SAID.join(' ')}`): string {
  return `---\nname: ${name}\n${header}\n---\n# ${name}\n\n${claim}\n`;
}

function field(key: string, value: string, style: number): string {
  return [`${key}: ${value}`, `"${key}": "${value}"`, `${key} : ${value}`, `${key}: >\n\n  ${value}`][style] ?? '';
}

function read(text: string) {
  const parsed = parseSkill(text);
  assert.ok(parsed.ok, text);
  return parsed;
}

function skillMade(action: string, after: string, before?: string): Made {
  const skill = { after: read(after), ...(before === undefined ? {} : { before: read(before) }) };
  return { kind: 'skill', action, change: { content: after }, options: { before: [before ?? ''], skill } };
}

function memoryMade(action: string, change: JsonObject): Made {
  return { kind: 'memory', action, change, options: { before: [`${STANDING}.`] } };
}

function make({ form, style }: Plan, claim: string): Made {
  const said = SAID.join(' ');
  const described = `description: ${said}`;
  switch (form) {
    case 'add':
      return memoryMade('add', { action: 'add', content: claim });
    case 'replace':
      return memoryMade('replace', { action: 'replace', old_text: 'vabmol', content: `${STANDING}. ${claim}` });
    case 'replace-false':
      return memoryMade('replace', { action: 'replace', old_text: claim, content: claim });
    case 'batch':
      return memoryMade('batch', { operations: [said, claim].map((content) => ({ action: 'add', content })) });
    case 'remove-and-add':
      return memoryMade('batch', {
        operations: [
          { action: 'remove', old_text: STANDING },
          { action: 'add', content: claim },
        ],
      });
    case 'create':
      return skillMade('create', skillText(claim, `description: ${claim}`));
    case 'description':
      return skillMade('create', skillText('', field('description', claim, style)));
    case 'edit':
      return skillMade('edit', skillText(`${STANDING}\n${claim}`), skillText(STANDING));
    case 'patch': {
      const made = skillMade('patch', skillText(`${STANDING}\n${claim}`), skillText(STANDING));
      return { ...made, change: { old_string: STANDING, new_string: `${STANDING}\n${claim}` } };
    }
    case 'note-file':
    case 'script-file': {
      const file_path = form === 'note-file' ? 'references/a.md' : 'scripts/a.sh';
      return { kind: 'skill', action: 'write_file', change: { file_path, file_content: claim }, options: {} };
    }
    default:
      return headerMade(form, { claim, described, style });
  }
}

function headerMade(
  form: Form,
  { claim, described, style }: { readonly claim: string; readonly described: string; readonly style: number },
): Made {
  const lines: Partial<Record<Form, string>> = {
    compatibility: field('compatibility', claim, style),
    hook: `metadata:\n  hermes: {hook: "${claim}"}`,
    'tag-sentence': `tags: ["${claim}."]`,
    'edit-hook': `metadata: {hook: "${claim}"}`,
    grant: `metadata: {requires_tools: ["${claim}"]}`,
  };
  const after = skillText(SAID.join(' '), `${described}\n${lines[form] ?? ''}`);
  return form === 'edit-hook'
    ? skillMade('edit', after, skillText(SAID.join(' '), described))
    : skillMade('create', after);
}

/** What belongs to another form must change nothing. */
function strays(made: Made, claim: string, bits: number): JsonObject {
  const foreign: readonly JsonObject[] =
    made.kind === 'memory'
      ? [{ operations: [] }, { old_text: claim }, { old_string: claim }, { file_content: claim }, { evidence: [] }]
      : [{ operations: [] }, { old_string: claim }, { old_text: claim }, { absorbed_into: 'x' }, { replace_all: true }];
  const chosen = foreign.filter((_, at) => (bits & (1 << at)) !== 0);
  return Object.assign({}, ...chosen, made.change);
}

const BAD_QUOTES: Partial<Record<Quote, string>> = {
  none: 'no-citation',
  short: 'quote-too-short',
  'cut-front': 'quote-not-found',
  'cut-end': 'quote-not-found',
};

/** Counted, not checked. */
function expectedOf(plan: Plan, kind: Made['kind']): string {
  const { form, teller, said, unsaid } = plan;
  const bad = BAD_QUOTES[plan.quote];
  if (bad !== undefined) return bad;
  const isSaid = form === 'script-file' ? unsaid === 0 : said >= unsaid;
  if (form === 'grant') return isSaid && teller === 'owner' ? 'accepted' : 'pending';
  if (!isSaid) return 'evidence_text_mismatch';
  const isRecord = teller === 'run' && (kind === 'skill' || plan.target === 'memory');
  return teller === 'owner' || isRecord ? 'accepted' : 'pending';
}

/** Gives how often each form came to each verdict, as `form verdict`. */
export function checkWrites(numRuns: number, seed: number): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(plans, (plan) => {
      const claim = [...SAID.slice(0, plan.said), ...UNSAID.slice(0, plan.unsaid)].join(' ');
      const made = make(plan, claim);
      const { messages, handle } = conversation(plan.teller);
      const draft: ProposalDraft = {
        kind: made.kind,
        actor: 'review',
        target: made.kind === 'skill' ? name : plan.target,
        action: made.action,
        change: strays(made, claim, plan.stray),
        sessionId: 's1',
        citations: plan.quote === 'none' ? [] : [{ handle, quote: quoteOf(plan.quote) }],
      };
      const verdict = gateProposal(draft, stored(messages), made.options);
      const got = verdict.decision === 'refused' ? verdict.reason : verdict.decision;
      assert.equal(got, expectedOf(plan, made.kind), `${JSON.stringify(draft)} ${JSON.stringify(verdict)}`);
      const key = `${plan.form} ${got}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }),
    { numRuns, seed },
  );
  return seen;
}
