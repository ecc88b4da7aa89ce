// Owns how people say that they need something (issue: "I need / looking for / help with …"). English. Data only.
import { type Cue, cue } from './cue.ts';
import { PERSON_WORDS } from './person-words.ts';

const AID =
  '(?:(?:some|any|a bit of|a little|more|your|urgent|further|professional|expert|serious|outside) )*(?:help|a hand|assistance|support|advice|guidance|input|feedback|mentoring|pointers|tips|an intro(?:duction)?)\\b(?: (?:with|on|in|about|regarding|for|to|from))?';
const SEARCH =
  '(?:find(?! out)|hire|meet|recruit|learn(?: more)?(?: about)?|connect with|talk to|understand|figure out|get (?=someone|somebody))\\b';
const YOU =
  '(?:you|anyone|anybody|someone|somebody|any of you|one of you)(?: here)?(?: please| maybe| kindly| perhaps)?';

export const needCues: readonly Cue[] = [
  cue('need', 'verb', `needs? ${AID}`, true),
  cue('need', 'verb', `needs? to ${SEARCH}`, true),
  cue('need', 'verb', '(?:needs?|requires?|lacks?)\\b(?! to\\b)', true),
  cue('need', 'verb', `(?:wants?|would (?:like|love)|hopes?|tr(?:y|ies)) to ${SEARCH}`, true),
  cue('need', 'verb', `(?:could|can) (?:really |certainly |definitely )?use (?:${AID}|(?=an? ))`, true),
  cue('need', 'verb', `(?:wants?|would (?:appreciate|welcome|love|like)) ${AID}`, true),
  cue('need', 'verb', `(?:ha(?:s|ve)|having) (?:trouble|difficult(?:y|ies)|problems) (?:with|getting|finding)`, true),
  cue('need', 'verb', '(?:can not|could not|unable to) find(?= (?:an?|any|anyone|anybody|someone)\\b)', true),
  cue('need', 'verb', '(?:am|is|are) short (?:on|of)'),
  cue(
    'need',
    'owned',
    '(?:biggest|main|current|most urgent|greatest|only|one)? ?needs?(?: right now| at the moment| currently)? (?:is|are)\\b',
  ),
  cue('need', 'verb', 'wants? (?=(?:someone|somebody|anyone)\\b)', true),
  cue('need', 'verb', 'struggles? with'),
  cue('need', 'verb', 'seeks?\\b'),
  cue('need', 'state', `(?:looking|trying|hoping|wanting) to ${SEARCH}`),
  cue('need', 'state', '(?:looking|searching|hunting)(?: around| everywhere| urgently| desperately| hard)? for\\b'),
  cue('need', 'state', 'seeking\\b|hiring\\b|recruiting\\b'),
  cue('need', 'state', 'in (?:urgent |dire |desperate |great )?need of'),
  cue('need', 'state', 'on the (?:lookout|hunt) for|in the market for|in search of'),
  cue('need', 'state', 'struggling with|stuck (?:with|on)'),
  cue(
    'need',
    'request',
    `(?:can|could|would|will) ${YOU} (?:be able to |be willing to )?help (?:me|us)(?: out)?(?: (?:with|on|in|to|find)\\b)?`,
  ),
  cue('need', 'request', '(?:can|could|would) (?:anyone|anybody|someone|somebody)(?: here)? (?:please )?help with'),
  cue('need', 'request', 'who (?:can|could|would) help (?:me|us)(?: out)? (?:with|on|in|to)'),
  cue(
    'need',
    'request',
    `(?:do|does) (?:you|anyone|anybody) know (?:of )?(?=(?:someone|anyone|somebody|anybody)\\b|(?:an?|any) (?:[\\w+-]+ ){0,4}${PERSON_WORDS}\\b)`,
  ),
  cue('need', 'request', '(?<=^|, |: )any (?:help|advice|pointers|tips|guidance) (?:with|on|about|for|regarding)'),
  cue(
    'need',
    'request',
    'help (?:with|on) (?<object>[^,.;!?]{3,120}?) (?:is |would be )?(?:very |much |greatly )?(?:wanted|needed|welcome|appreciated)\\b',
  ),
  cue('need', 'request', 'what (?:I|we) (?:really |currently |still )?need(?: right now| most)? is'),
  cue('need', 'label', '(?:current )?(?:needs?|wants?|wanted|help wanted|looking for|seeking|in search of)\\s?:'),
];

export const settledCues: readonly Cue[] = [
  cue('settled', 'verb', '(?:found|hired|got)(?= (?:an?|the|our|my|someone|somebody)\\b)', true),
  cue('settled', 'verb', '(?:solved|figured out|sorted out)\\b', true),
];
