// Owns how people say what they know well (expert in, specializes in, works on). English. Data only.
import { type Cue, cue } from './cue.ts';
import { GROUP_WORDS, PERSON_WORDS } from './person-words.ts';

const MOSTLY = '(?: (?:mostly|mainly|primarily|chiefly|exclusively|only|full-time|professionally|heavily))?';
const TRADE = `(?:[\\w+#./&-]+ ){0,6}(?:${PERSON_WORDS}|(?<=(?:audit\\w*|consult\\w*|security|research|design|law|software|\\w+ing) )${GROUP_WORDS})\\b(?!(?<=experts?|specialists?) (?:in|on|at)\\b)(?=\\s*(?:[^\\w\\s]|$)|\\s(?:in|with|at|for|from|who|based|working|and|but|or|on|of|by|since|living|here|that|now|currently|speciali|focus))`;
/** A single capitalised word is a person or a place more often than a field. */
const NO_NAME =
  '\\b(?! (?:an?|the|my|our|his|her|their|your|this|that|these|those|people|others|passion|you|him|them|us|me|it)\\b)(?! (?-i:[A-Z][a-z]+)(?:[\\s,]+(?:and|or|on|in|at|to|for|with)\\b|[^\\w\\s-]|$))';
const LEARNING =
  '(?:experience|expertise|background|knowledge|skills?|track record|ph\\.?d|doctorate|degree|masters?|diploma|training)';

export const expertiseCues: readonly Cue[] = [
  cue('expertise', 'verb', `speciali[sz]es?${MOSTLY} (?:in|on)`, true),
  cue('expertise', 'verb', `focus(?:es)?${MOSTLY} on`, true),
  cue('expertise', 'verb', `works?${MOSTLY} (?:on|(?:with|in)${NO_NAME})`, true),
  cue(
    'expertise',
    'verb',
    'knows? (?:a lot|much|plenty|everything|a great deal|a good deal|all|quite a bit|quite a lot|a thing or two) (?:about|of)',
    true,
  ),
  cue('expertise', 'verb', 'excels? (?:at|in)'),
  cue('expertise', 'verb', `(?:has|have|brings?)(?: [\\w+.-]+){0,5}? ${LEARNING} (?:in|with|of|on|as|about)`, true),
  cue('expertise', 'verb', '(?:builds?|develops?|maintains?|designs?|researches|research|studies|study)\\b(?= [\\w"])'),
  cue(
    'expertise',
    'verb',
    `(?:am|is|are|works? as) (?:also |currently |now )?(?:an?|the|our)(?: very| rather| highly)? (?<object>${TRADE})`,
  ),
  cue(
    'expertise',
    'owned',
    '(?:main |core |real )?(?:expertise|special(?:i)?ty|background|field|focus|strength|area of expertise) (?:is|lies|are)(?: in| on)?',
  ),
  cue('expertise', 'state', 'speciali[sz](?:ing|ed) (?:in|on)'),
  cue('expertise', 'state', '(?:experts?|specialists?|authority) (?:in|on|at|for)'),
  cue(
    'expertise',
    'state',
    '(?:experienced|skilled|proficient|competent|adept|fluent|well[ -]versed|trained|knowledgeable|(?:good|great|strong|best)(?= (?:at|in)\\b)) (?:in|with|at|about)\\b',
  ),
  cue('expertise', 'state', `working${MOSTLY} (?:on|(?:with|in)${NO_NAME})`),
  cue('expertise', 'state', 'focus(?:s?ed|s?ing) on'),
  cue(
    'expertise',
    'label',
    '(?:areas? of )?(?:expertise|special\\w{2,6}|knows|background|fields?|expert in|specializes in|specialises in)\\s?:',
  ),
];
