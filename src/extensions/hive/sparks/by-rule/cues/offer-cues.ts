// Owns how people say what they would give (issue: "I can / we offer / expert in …"). English. Data only.
import { type Cue, cue } from './cue.ts';

const ADVERB = '(?:(?:also|easily|certainly|definitely|always|probably|gladly|happily|personally|maybe) )?';
const MODAL = `(?:(?:(?:can|could)(?: not| no longer)?|will gladly|will happily|would gladly|would love to|(?:(?:am|is|are|would be|will be) )?(?:happy|glad|delighted|willing|available|ready|pleased|able|keen) to) ${ADVERB})`;
const WHOM =
  '(?: (?:you|people|others|anyone|anybody|everyone|teams|folks|them|out|companies|startups|projects|beginners|someone|any of you|all of you))*';
/** Verbs of services; each stays part of the object. */
const SERVICES =
  '(?:analy[sz]e|audit|automate|bake|benchmark|coach|compose|configure|consult|cook|debug|deliver|deploy|design|develop|draft|draw|edit|explain|film|fix|formali[sz]e|fundraise|host|illustrate|implement|install|integrate|investigate|lend|maintain|mentor|migrate|model|monitor|optimi[sz]e|organi[sz]e|paint|pentest|photograph|port|print|produce|proofread|prototype|prove|record|refactor|repair|research|review|scan|sew|ship|simulate|sponsor|teach|test|train|translate|transcribe|transport|tune|tutor|verify|weld|build|write|sell|supply|provide|offer|share|set up|advise|create|run|manage)';

export const offerCues: readonly Cue[] = [
  cue(
    'offer',
    'verb',
    `${MODAL}(?:help|assist|support)${WHOM} (?:(?:with|on|in|to|by|regarding)\\b|(?=${SERVICES}\\b))`,
    true,
  ),
  cue('offer', 'verb', `${MODAL}(?:offer|provide|supply)\\b`, true),
  cue('offer', 'verb', `${MODAL}(?=${SERVICES}\\b)`, true),
  cue('offer', 'verb', '(?:offers?|provides?|supplies|supply|sells?|teaches|teach)\\b'),
  cue('offer', 'verb', 'helps?(?: \\w+){1,3} (?:with|to)\\b'),
  cue('offer', 'verb', '(?:consults?|advises?|mentors?|coaches|tutors?)(?: \\w+){0,2} (?:on|in|about|with)\\b'),
  cue('offer', 'verb', '(?=(?:audits?|reviews?|translates?|repairs?|proofreads?|debugs?|tutors?)\\b)'),
  cue('offer', 'state', '(?:offering|providing|selling|teaching)\\b'),
  cue(
    'offer',
    'request',
    '(?:let me know|ping me|ask me|shout|reach out|contact me|call me|message me|write me|write to me|tell me|dm me|drop me a line|am here)(?: any ?time)? if (?:you|anyone|anybody|somebody|someone)(?: ever| also| still)? (?:needs?|wants?|requires?)(?: (?:any|some|a bit of))?(?: (?:more )?(?:help|advice|support|assistance|a hand|tips|suggestions|recommendations|ideas)\\b)?(?: (?:with|on|in|about|for)\\b)?',
  ),
  cue(
    'offer',
    'request',
    'if you (?:ever )?need (?:any |some )?(?:help (?:with|on) )?(?<object>[^,.;!?]{3,120}), (?:just |please )?(?:let me know|ping me|ask me|I can|I am|call me|message me|reach out|talk to me|count on me)',
  ),
  cue(
    'offer',
    'request',
    '(?:ask me|ping me|talk to me|come to me|message me|dm me)(?: anything| questions| any ?time)? (?:about|regarding)',
  ),
  cue('offer', 'label', '(?:offers?|offering|provides?|can help(?: with)?|can offer|skills?|services)\\s?:'),
];
