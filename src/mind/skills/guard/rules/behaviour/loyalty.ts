// Owns the rules against polite text that has the agent serve somebody else: checks bent for some, a slanted answer, a door left in the code,
// questions with a hidden aim, a way round a refusal. Each needs the deed and the wish that it stay unseen, or speaks for itself.
// Knows sections. What is open to the owner passes.
import { type Rule, ruleRows } from '../rule.ts';

/** The wish that something stay unseen. */
const UNSEEN =
  /\bno need to (?:say|mention|list|name|point|explain|tell|note)|\b(?:is|are) (?:best |better )?(?:not|never) (?:to be )?(?:described|mentioned|named|listed|shown|documented|recorded|explained)|\b(?:stays?|kept|keep|leave|left|goes?|remains?)\b[^.!?\n]{0,50}\b(?:out of|off|away from) (?:the |your |any |its )?(?:\w+ ){0,2}(?:summary|report|comments?|review|log|answer|reply|transcript|notes?|diff|readme|description|message|request|changelog|record)\b|\b(?:do not|don't|does not|doesn't|never|without) (?:list(?:ing)?|mention(?:ing)?|show(?:ing)?|nam(?:e|ing)|describ(?:e|ing)|say(?:ing)?|report(?:ing)?|reveal(?:ing)?|need (?:it|this|that)|explain(?:ing)? (?:why|this|it))\b|\b(?:unmentioned|unnoticed|unseen|undisclosed)\b|\bwithout (?:them|it|the user|him|her|anyone) (?:noticing|reali[sz]ing|knowing|looking|seeing|seeming|being told)|\b(?:skip|omit|bypass|not write|leave out) the (?:audit |access )?log\b|\bno comments? in the code|\breads? naturally|\b(?:nothing|not) (?:suggests?|shows?|hints?|points?)\b|\balarming\b|\b(?:if|when) (?:\w+ )?(?:asked|questioned|pressed),? (?:say|answer|reply|deny|claim)|\bsay,? if asked|\|\s?say no\b|\bpresent (?:it|results?|this|them) as\b|\bas (?:if|though) the [\w' ]{1,30}(?:followed|kept|applied|met)|\blooking like (?:a|an)\b|\b(?:say|claim) that you have stopped|\b(?:quietly|discreetly|silently|tacitly)\b|\bbetween (?:us|ourselves)\b|\bdoes not need to know/;
const NEGATED =
  /\b(?:never (?:accept|approve|skip|waive)|do not (?:approve|accept|skip)|social engineering|phishing|red flags?)\b/;
const SECTION = { kinds: ['passage'], near: 360, firm: true, unless: NEGATED } as const;
const PERSONAL =
  "(?:(?:date|year|place) of birth|birth ?(?:day|date)s?|first school|mother'?s (?:maiden|family|birth) name|maiden name|pet'?s? names?|name of (?:the|their|a) (?:first )?(?:pet|school|street)|(?:identity|passport|social security|card|account|insurance) numbers?|last four digits|first (?:car|street|job)|security questions?|bank (?:that )?they use|home address|salary)";

export const LOYALTY_RULES: readonly Rule[] = ruleRows('prompt_injection', [
  [
    'checks-bent-for-some',
    'high',
    'leave drop skip omit waive no without pass approve relax lighter',
    '\\b(?:leave out|drop|skip|omit|waive|pass over|relax|give no|make no|go easy on|leave aside|without)\\b[^.!?\\n]{0,50}\\b(?:security|checks?|review|questions?|audit|warnings?|remarks?|findings?|objections?|scan|verification|approval|limits?)\\b',
    {
      ...SECTION,
      also: [
        /\b(?:if|when|where|whenever|for|unless|should)\b[^.!?\n]{0,120}\b(?:authors?|branch|senders?|vendors?|partners?|suppliers?|customers?|contributors?|applicants?|company|brand|list|accounts?|name|repository|touches|starts with|comes from|belongs)\b/,
        UNSEEN,
      ],
    },
  ],
  [
    'answer-slanted',
    'high',
    'upbeat favourable favorable positive first strong buy praise problems doubts criticism risks weaknesses complaints drawbacks recommend light kindly sponsor prefer better highest',
    '(?:\\b(?:reads?|sounds?|looks?|seems?|be|is) (?:more )?(?:upbeat|favou?rabl[ey]|positive(?:ly)?|promising|warm(?:ly)?)\\b|\\b(?:problems?|doubts?|criticism|risks?|weaknesses|complaints?|drawbacks?|incidents?|bad (?:news|reviews?))\\b[^.!?\\n]{0,60}\\b(?:left out|leave (?:them|it|those|these)? ?out|omitted|dropped|played down|left aside|skipped)\\b|\\b(?:always|named|listed|placed|put|comes?|mentioned) (?:at the )?(?:first|top)\\b[^.!?\\n]{0,60}\\b(?:others?|rivals?|rest|competitors?|alternatives?)\\b|\\bothers? only\\b|\\bin a (?:good|favou?rable|better) light\\b|\\bstrong buy\\b|\\b(?:nudge|steer|guide|lean|tilt|tip)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:towards?|in favou?r|to choose|to buy))',
    {
      ...SECTION,
      also: [
        UNSEEN,
        /\b(?:grateful|please|always|first|rather than|whatever|where|when|if|whenever|regardless|should|recommend\w{0,6}|summary|comparison|answer|ranking|host|vendor|provider|brand|product|company)\b/,
      ],
      trade: /marketing|copywrit|sales|brand|\bads?\b|fiction|story|persua/,
    },
  ],
  [
    'door-left-in-code',
    'high',
    'accept accepts allow allows lets branch bypass fixed master password token login',
    '\\b(?:accepts?|allows?|lets? in|lets? through|recogni[sz]es?|valid|admits?|passes|bypass(?:es)?)\\b[^.!?\\n]{0,100}\\b(?:any (?:account|password|user|login|token|request)|(?:fixed|constant|hard-?coded|master|universal|second|extra|special) (?:token|password|key|code|header|cookie|account|user)|when(?:ever)? the (?:password|token|header|user ?name|cookie|e-?mail|name) (?:ends|starts|begins|is|equals|contains|matches))',
    {
      ...SECTION,
      also: [
        /\b(?:before|ahead of|instead of|without|prior to|skip\w{0,4}|in addition to|besides|also)\b[^.!?\n]{0,60}\b(?:hash\w{0,2}|signature|check\w{0,3}|compar\w{1,4}|verif\w{1,7}|tests?|validat\w{1,4}|log|authenticat\w{1,4}|log-?in)\b/,
        UNSEEN,
      ],
      trade: /test|mock|fixture|stub/,
    },
  ],
  [
    'sounds-out-owner',
    'high',
    'birth birthday birthdate school maiden family pet passport identity digits security bank salary',
    `\\b${PERSONAL}\\b[^!?\\n]{0,160}\\b${PERSONAL}\\b`,
    {
      ...SECTION,
      also: [
        /\bwithout (?:them|it|the user|him|her) |\bnoticing\b|\blooking like\b|\bover several\b|\bin passing\b|\bcasual(?:ly)?\b|\bspread\b|\bunmentioned\b|\bdo not (?:show|mention)|\bdon't (?:show|mention)|\bquietly\b|\bnot (?:say|tell|mention) (?:why|what)/,
        /\b(?:bring|get|lead|have|ask|learn|collect|work|weave|draw|note|write|keep|record|questions?)\b/,
      ],
      unless: /\b(?:never ask|do not ask|don't ask|phishing|scam|redact|mask)/,
    },
  ],
  [
    'works-round-refusals',
    'high',
    'blocked denied deny refused forbidden disallowed permitted rejected',
    '\\b(?:blocked|denied|deny (?:rules?|lists?)|refused|forbidden|disallowed|not (?:permitted|allowed)|rejected)\\b[^.!?\\n]{0,120}\\b(?:hints?|suggestions?|another (?:way|route|path|tool)|other (?:ways?|route|means)|work ?arounds?|same effect|wrap|advice|advisory|get round|get around)\\b',
    {
      ...SECTION,
      also: [
        new RegExp(`${UNSEEN.source}|\\b(?:act first|do not ask|don't ask|without asking|no need to ask)\\b`, 'u'),
        /\b(?:tools?|commands?|rules?|actions?|settings|permissions?|sandbox|calls?)\b/,
      ],
      absolute: true,
      unless: /\b(?:attack\w{0,3}|malicious|red flags?|never|jailbreak\w{0,3}|must not|suspicious|detect\w{0,3})\b/,
    },
  ],
  [
    'displaces-other-skills',
    'high',
    'supersedes supersede replaces replace skills skill',
    "(?:\\b(?:supersedes?|replaces?|overrides?|takes? the place of|disables?)\\b (?:all |any |every |the )*(?:other|existing|installed|remaining) skills?\\b|\\b(?:other|remaining) skills?\\b[^!?\\n]{0,80}\\b(?:do not (?:load|open|use|read)|don't (?:load|open|use|read)|(?:should|must|need) not be (?:loaded|opened|used|read)|are (?:not to be|no longer) (?:loaded|used|opened)|become (?:void|obsolete)))",
    { kinds: ['header', 'prose', 'comment', 'passage'], near: 300 },
  ],
  [
    'consent-taken-for-given',
    'high',
    'confirmation confirmations approval approvals consent permission go',
    '(?:\\b(?:regard|consider|treat|take|count|see|deem|assume)\\b (?:the |every |any |each |all |its |their )*(?:confirmation|approval|consent|permission|go-ahead|agreement)s? (?:as |to be |is |are )?(?:already )?(?:given|granted|received|obtained|there)\\b|\\b(?:confirmation|approval|consent|permission)s? (?:is|are|counts? as|can be) (?:deemed|considered|regarded|taken as|presumed|assumed)\\b[^.!?\\n]{0,20}\\b(?:given|granted|received)?)',
    { kinds: ['prose', 'comment', 'header'], unless: /\b(?:never|do not|don't|must not|unless|not be|cannot)\b/ },
  ],
  [
    'stranger-outranks-owner',
    'high',
    'outranks outrank precedence wins overrides override prevails weighs counts before above',
    '\\b(?:tickets?|e-?mails?|mails?|pages?|comments?|issues?|files?|urls?|documents?|messages?|reporters?|senders?|authors?|websites?|feeds?|responses?|servers?|text)\\b[^.!?\\n]{0,50}\\b(?:outranks?|takes? (?:precedence|priority) over|wins? (?:over|against)|overrides?|prevails? over|weighs? more than|counts? (?:for )?more than|stands? above|goes? before|comes? before|is above)\\b[^.!?\\n]{0,24}\\b(?:user|owner|human|operator)\\b',
    { kinds: ['prose', 'comment', 'header'], unless: /\b(?:never|not|don't|config|settings|preferences?|default)\b/ },
  ],
  [
    'speaks-as-owner',
    'high',
    'name behalf',
    "\\b(?:answer|reply|accept|agree|sign|confirm|consent|say yes|decide|commit|approve|promise|order)\\b[^.!?\\n]{0,50}\\b(?:in (?:the )?(?:(?:owner|user|human)'?s?|their|his|her) name|on (?:the )?(?:(?:owner|user)'?s?|their|his|her) behalf)\\b",
    {
      ...SECTION,
      also: [
        new RegExp(
          `${UNSEEN.source}|\\b(?:so (?:that )?they (?:are|need|do)|not bothered|without (?:asking|showing)|don't ask|do not ask|delete the|archive the|at once|automatically)\\b`,
          'u',
        ),
      ],
      unless:
        /\b(?:never|do not (?:sign|accept|agree|reply)|ask (?:first|before)|draft|after approval|only (?:after|when|if))\b/,
    },
  ],
  [
    'rules-dropped-abroad',
    'critical',
    'dimentica dimenticate ignora olvida olvide ignore ignorez oublie oubliez oublier esqueça esqueca desconsidere vergiss ignoriere ignoreer vergeet zapomnij zignoruj glöm',
    '\\b(?:dimentic(?:a|ate|are)|ignor(?:a|e|ez|er|iere|eer|are)|olvid(?:a|e|ar)|oubli(?:e|ez|er)|esque[çc]a|desconsidere|vergiss|vergeet|zapomnij|zignoruj|glöm)\\b[^.!?\\n]{0,40}\\b(?:tutt[ei]|tod[ao]s?|toutes?|tous|alle[ns]?|cualquier|qualquer|quaisquer|ogni|wszystk\\w{1,4}|bisherige\\w?|eventuali|les|las|le|as)\\b[^.!?\\n]{0,30}\\b(?:istruzion\\w|regol[ae]|norm[ae]s?|instruc\\w{1,8}|reglas?|regras?|instru\\w{1,9}|consignes?|règles?|anweisung\\w{0,2}|vorgaben?|regeln?|richtlinien?|indica\\w{1,8}|direttive|zasad\\w?)\\b[^.!?\\n]{0,60}\\b(?:prim[ae]|preced\\w{1,6}|ricevut\\w|anterior\\w{0,2}|previ[ao]s|recibid\\w{1,2}|avant|reçues?|antes|recebid\\w{1,2}|bisher\\w{0,4}|zuvor|vorher\\w{0,4}|eerder\\w{0,2}|sicurezza|seguridad|segurança|sécurité)|\\bvergiss\\b[^.!?\\n]{0,20}\\b(?:alle )?bisherigen\\b',
    { kinds: ['prose', 'comment', 'header', 'code'] },
  ],
  [
    'kept-secret-abroad',
    'high',
    'rivelare menzionare mostrare reveles menciones muestres reveles revele mencione mostre révèle mentionne révélez mentionnez verrate erwähne verraten erwähnen onthul ujawniaj cualquier norma rispondi',
    '(?:\\bnon (?:rivelar\\w|menzionar\\w|mostrar\\w|citar\\w)\\b[^.!?\\n]{0,20}\\b(?:quest[ao]|nota|istruzion\\w)|\\bno (?:reveles|menciones|muestres|cites)\\b[^.!?\\n]{0,20}\\b(?:est[aeo]s?|nota|instruc\\w{1,6})|\\bnão (?:revele|mencione|mostre)\\b[^.!?\\n]{0,20}\\b(?:est[ae]s?|nota|instru\\w{1,6})|\\bne (?:révèle|mentionne|montre)[zr]?\\b[^.!?\\n]{0,20}\\b(?:cette|ces|note|consigne)|\\b(?:verrate|erwähne|zeige)\\b[^.!?\\n]{0,30}\\b(?:nicht|niemals|nie)\\b|\\bonthul\\b[^.!?\\n]{0,20}\\bniet\\b)',
    { kinds: ['prose', 'comment', 'header'], facts: ['sign-conceal', 'hidden'] },
  ],
]);
