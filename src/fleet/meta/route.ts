// Owns how a model decides what a message is for: the prompt, one turn, and a question in place of whatever does not validate. Knows no typed form and
// does nothing itself. Invariants: in the prompt nothing stands that a golem worded; it is at most 16,384 tokens, the oldest messages leave it
// first, what is pinned and what is strategy never does; nobody reads the message before the model.
import { estimateTokens } from '#base/text.ts';
import type { AnswerLine, Preference, SeenGolem, SteerTold } from '#fleet/styx/clade.ts';
import { type Decision, readAction, VIEWS } from './actions.ts';
import { DATA_RULE, fenced, type MetaGround } from './meta-ground.ts';
import type { Message } from './meta-rows.ts';
import type { Offered } from './meta-skills.ts';
import { askBack, type Sight, settled } from './plain-words.ts';

const MOST_TOKENS = 16_384;

export interface RouteContext extends Sight {
  /** The newest last; what golems said is not in it. */
  readonly messages: readonly Pick<Message, 'from' | 'said'>[];
  readonly steers: readonly SteerTold[];
  readonly preferences: readonly Preference[];
  /** Sections of STRATEGY.md that the owner wrote. */
  readonly strategy: readonly string[];
  readonly skills: readonly Offered[];
}

const RULES = [
  'You are Meta, the one conversation of an owner over all golems (agents that work by themselves).',
  'You decide what the message of the owner is for.',
  'Answer with exactly one JSON object and nothing else: no prose, no fence. It is one of:',
  '{"type":"DirectResponse","response":TEXT,"skills_used":[],"rows":VIEW,"hours":N?}',
  ' for what the own rows of the clade answer; they are shown beside your words. VIEW is one of',
  ` ${VIEWS.join(', ')}`,
  '{"type":"RouteSteer","target_golem":NAME,"steer_content":TEXT,"urgency":URGENCY,"about":KEY?,"kind":KIND}',
  ' to tell one golem something. URGENCY is normal or now; KIND is steer, pause, resume or dream;',
  ' KEY is one short word, that of an earlier steer if this one takes its place',
  '{"type":"RouteFollowUp","target_golem":NAME,"question":TEXT,"tick":N?,"skill":NAME?}',
  ' to ask one golem, e.g. why it did something',
  '{"type":"BroadcastSteer","steer_content":TEXT,"urgency":URGENCY,"filter":{"domain":D?,"archetype":A?,"names":[NAME]?}?}',
  ' to tell several; without a filter all',
  '{"type":"ExecuteMetaSkill","skill_name":SKILL,"params":{}}',
  ' to create, retire, equip, compare, promote, sell and so on',
  '{"type":"QueryGrimoires","targets":[NAME],"query":TEXT}',
  ' to ask what golems hold to be so; [] is all',
  'Without a name the golem in focus is meant, else the one that the talk is about.',
  'If you cannot tell which golem is meant, write "?" for it: the owner is asked then. Never guess.',
].join('\n');

/** One line a golem, typed fields only. */
function stateLine(golem: SeenGolem): AnswerLine {
  const { called: place, where, archetype, domain, status, isGone, phase, tick, skills, today_usd: today } = golem;
  const right = golem.accuracy === null ? '-' : golem.accuracy.toFixed(2);
  const far = where === 'here' ? '' : ' elsewhere';
  const stands = `${isGone ? 'not heard of' : status}${far} ${phase}`;
  const text = `${archetype}, ${domain}, ${stands} t${tick} right ${right} skills ${skills} $${today.toFixed(2)}`;
  return { place, text };
}

function steerLine({ called, text = '', about, standing }: SteerTold & { readonly about?: string | null }): string {
  return `${called}${about ? ` [${about}]` : ''}${standing === 'directive' ? '' : ` (${standing})`}: ${text}`;
}

/** The system prompt; `text`: the message that is to be routed, which counts. */
function routingPrompt(context: RouteContext, text: string): string {
  const { clade, focus, steers, preferences, strategy, skills } = context;
  const pinned = steers.filter((steer) => steer.pinned);
  const recent = steers.filter((steer) => !steer.pinned && steer.standing !== 'superseded').slice(0, 12);
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}\n${lines.join('\n')}`];
  const fixed = [
    RULES,
    focus === undefined ? 'In focus: no golem; the owner sees all.' : `In focus: ${focus}`,
    ...list(`Golems (name: archetype, domain, status). ${DATA_RULE}`, [fenced(clade.map(stateLine))]),
    ...list(
      'Meta-skills:',
      skills.map(({ name, description }) => `${name}: ${description}`),
    ),
    ...list('Pinned by the owner, always in force:', pinned.map(steerLine)),
    ...list('Strategy of the owner:', strategy),
    ...list(
      'What the owner seems to want (confidence):',
      preferences.map(({ key, value, confidence }) => `${key} = ${value} (${confidence.toFixed(2)})`),
    ),
  ];
  let left = MOST_TOKENS - estimateTokens(fixed.join('\n\n')) - estimateTokens(text) - 64;
  const fitting = (lines: readonly string[]) => {
    const kept: string[] = [];
    for (const line of lines.toReversed()) {
      left -= estimateTokens(line) + 1;
      if (left < 0) break;
      kept.unshift(line);
    }
    return kept;
  };
  const talk = fitting(context.messages.map(({ from, said }) => `${from}: ${said}`));
  const told = fitting(recent.toReversed().map(steerLine));
  return [...fixed, ...list('Steers, the newest last:', told), ...list('The talk so far:', talk)].join('\n\n');
}

/** What the model makes of a message; a question where its answer is no action, or names what is not there. */
export async function decideByModel(
  meta: Pick<MetaGround, 'say'>,
  line: string,
  context: RouteContext,
  signal: AbortSignal,
): Promise<Decision> {
  const said = await meta.say({ system: routingPrompt(context, line), text: line, tier: 'T1' }, signal);
  if (!said.ok)
    return {
      type: 'failed',
      reason: said.reason,
      text: `${said.detail}. Typed commands work without a model: talaria clade tell NAME …`,
    };
  const read = readAction(said.value.text);
  const asks = (why: string): Decision => ({ type: 'ask', question: askBack(line, context, why) });
  if (!read.ok) return asks(`${said.value.model} gave no clear answer. What shall I do with this?`);
  const action = read.value;
  if (action.type === 'ExecuteMetaSkill' && !context.skills.some(({ name }) => name === action.skill_name)) {
    const names = context.skills.map(({ name }) => name).join(', ');
    return asks(`There is no meta-skill ${JSON.stringify(action.skill_name)}; there are ${names}.`);
  }
  return settled(action, context, said.value.model);
}
