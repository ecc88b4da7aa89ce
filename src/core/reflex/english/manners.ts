// Owns the English words around a command: politeness, conditions, taking back, and text that tries to steer. Data only.
// The notation is that of forms, words only: `when you (get|have) time`.
import { phrases } from '../line/phrases.ts';

export const openings = phrases(`
  (hi|hey|hello) again|hey|hi|hello|yo|hiya|ok|okay|okey|so|well|alright|all right|right|now|um|uh|uhm|hmm|great|cool|nice|perfect|good|oh|ah|and|then|also|
  quick|talaria|reflex|there|buddy|mate|friend|dear|sir|bot|agent|computer|thanks|thank you|sorry|[good] (morning|evening|afternoon)|
  please|pls|plz|plse|pleas|kindly|just|quickly|simply|maybe|actually|lol|yes|yeah|yep|sure|oops|whoops|ooh|never mind|nevermind|wait|hold on|hang on|
  (ok|right|now|alright|cool|great) then|(go|come) on|go ahead|one (more|last) thing|by the way|btw|next up|real quick|quick (one|question|thing)|
  (can|could|will|would|may|might|can not|could not) (you|u|we|ya) [please|just|maybe|possibly|kindly|also|quickly|perhaps]|wouldst thou|
  (are|would) you [be] able to|is it possible to|would it be possible to|do you think you (could|can)|you (can|could|should|may|need to|must|might)|
  (be so (kind|good)|would you be so (kind|good)) (as to|and)|(if|when|whenever|once) you (can|could|would|get around to it)|
  (if|when|whenever|once) you (get|have|find|got) (a|the|some|) (sec|second|min|minute|moment|chance|time|spare minute|spare moment)|
  if (possible|you do not mind|it is not too much trouble|that is ok|that is okay|you please)|when (you are|) ready|
  i (want|need|wish|would like|would love|am going to need|will need) [you] to|i would (love|like|appreciate) it if you (could|would)|
  id (like|love) [you] to|it would be (great|nice|good|helpful|lovely|cool) if you (could|would)|i (was hoping|hope|was wondering if|wonder if|am wondering if) you (could|can|would)|
  let us|go ahead and|go and|try to|help me [to]|do me a (favor|favour) [and]|time to|your (job|task) is to|make sure (to|you)|be sure to|be a dear and|
  for me|a (favor|favour)|oh and|like|i mean|want to|want you to|please to|you (must|should|have) [please] to|do me the (favor|favour) [and|to|of]|be so (kind|good|nice) and|if i may|tell me|let me know|(can|could) you tell me|i (want|need|would like|would love) to know|i (was wondering|wonder|am wondering)|
  do you happen to know|any (idea|clue)
`);

export const gerundOpenings = phrases(
  '(would|do) you mind|mind|[do you] fancy|care for|feel like|(how|what) about|try|(start|begin) by|i would appreciate you|any chance of you|any chance of',
);

export const closings = phrases(`
  [yes] (please|pls|plz|pleas)|shall we|[many] thanks [a lot|a bunch|so much|in advance|mate]|thank you [very much|so much|kindly]|thx|ty|cheers|for me|
  if (possible|you can|you could|you would|you do not mind|that is ok|that is okay|that is possible|you please|it is not too much trouble)|
  when (you can|ready)|(pls|plz|please) (n|and|&) (thx|thanks|ty|thank you)|when you (get|have) (a|the|) (sec|second|minute|moment|chance|time)|(would|will|could|can) (you|ya)|mate|buddy|talaria|dude|pal|lol|haha|kindly|btw|by the way
`);

export const hastes = phrases(`
  [right] now|right away|[real] quick|quickly|asap|immediately|at once|ok|okay|yeah|alright|for us|as well|too|then|first|real fast|for a (sec|second|moment|minute)|today please|straight away
`);

export const conditions = phrases(`
  if|unless|when|whenever|until (it|you|we|they|i|that|this|my|he|she|then|tomorrow|monday|further notice)|once (it|the|you|we|they|i|that|this|my|he|she)|every (day|hour|week|minute|night|morning|evening|month|time|monday|friday|sunday)|every (few|other|two|five|ten)|tomorrow|tonight|later|after|before|
  (and|then) [then|also] (fix|explain|refactor|summarize|summarise|translate|rewrite|improve|review|describe|rename|optimize|optimise|analyze|analyse|convert|suggest|implement|debug|repair|solve|tell me (what|which|why|how))|
  as soon as|in case|daily|hourly|weekly|otherwise|provided that|assuming|next (week|month|time|monday)
`);

export const cancellations = phrases(`
  do not|never mind|nevermind|no wait|scratch that|cancel that|on second thought|on second thoughts|just kidding|jk|or not|actually no|wait no|
  forget i asked|not now|hold off|not really|not|did not|without|instead of|rather than
`);

export const askingBefore = 'check see verify whether';

export const foreign = phrases(`
  por favor|bitte|per favore|merci|gracias|obrigado|danke|vous|nous|und|nicht|ist|ich|mir|mich|eine|einen|auf|aus|mit|für|dans|avec|pour|les|est|une|los|las|para|como|esto|este|
  qué|cómo|el archivo|del|della|gli|che|não|você|arquivo|datei|fichier|archivo|ejecuta|ejecute|führe|zeige|lösche|exécute|lance les|supprime|elimina|borra|mostra|esegui|execute os|rode|voer|alsjeblieft|het|een|proszę|uruchom|kör|vänligen
`);

export const injections = phrases(`
  ignore (all|the|your|any|every) [of] [the|your] [previous|prior|above|earlier|other] (instructions|rules|prompts|directions|guidelines|safety)|ignore (previous|prior|all previous|the above|everything above|what you were told)|
  (disregard|override|bypass|overrule|forget) (all|your|the|previous|any|prior) [of] [your|the|previous|prior|safety] (instructions|rules|guidelines|restrictions|prompt|prompts|safety|limits|training|filters|directives)|
  disregard (previous|the above|everything)|system prompt|you are now|developer mode|jailbreak|new instructions|(without|no) (asking|confirmation|approval|confirming)|do not ask|act as if|
  pretend (you are|that you)|as an admin|(admin|sudo|god|root|debug) mode|safety rules|your (rules|guidelines|restrictions|instructions|programming)|confirmation is not needed|no need to (ask|confirm)
`);

/** Contracted → spelled out; found without the apostrophe too. */
export const contractions: Readonly<Record<string, string>> = {
  "d'you": 'do you',
  "d'ya": 'do you',
  "y'all": 'you',
  "'em": 'them',

  cna: 'can',
  coudl: 'could',
  cuold: 'could',
  woudl: 'would',
  wuold: 'would',
  yuo: 'you',
  plese: 'please',
  pleae: 'please',

  "what's": 'what is',
  whats: 'what is',
  "what're": 'what are',
  "where's": 'where is',
  "who's": 'who is',
  "when's": 'when is',
  "how's": 'how is',
  "why's": 'why is',
  "that's": 'that is',
  "there's": 'there is',
  "it's": 'it is',
  "here's": 'here is',
  "let's": 'let us',
  lets: 'let us',
  "don't": 'do not',
  dont: 'do not',
  "doesn't": 'does not',
  "didn't": 'did not',
  didnt: 'did not',
  "can't": 'can not',
  cant: 'can not',
  cannot: 'can not',
  "won't": 'will not',
  "wouldn't": 'would not',
  "shouldn't": 'should not',
  "isn't": 'is not',
  "aren't": 'are not',
  "wasn't": 'was not',
  "haven't": 'have not',
  "i'm": 'i am',
  im: 'i am',
  "i'd": 'i would',
  "i've": 'i have',
  "i'll": 'i will',
  "you're": 'you are',
  "you've": 'you have',
  "we've": 'we have',
  "we're": 'we are',
  "we'd": 'we would',
  "we'll": 'we will',
  "what'd": 'what did',
  "where'd": 'where did',
  "who'd": 'who did',
  "when'd": 'when did',
  "how'd": 'how did',
  "why'd": 'why did',
  gimme: 'give me',
  lemme: 'let me',
  wanna: 'want to',
  wana: 'want to',
  wats: 'what is',
  whts: 'what is',
  wuts: 'what is',
  wots: 'what is',
  outta: 'out of',
  thru: 'through',
  tho: 'though',
  abt: 'about',
  kinda: 'kind of',
  lotta: 'lot of',
  em: 'them',
  til: 'until',
  ima: 'i will',
  imma: 'i will',
  cuz: 'because',
  coz: 'because',
  cld: 'could',
  wld: 'would',
  shld: 'should',
  lyin: 'lying',
  "ain't": 'is not',
  havent: 'have not',
  isnt: 'is not',
  doesnt: 'does not',
  wasnt: 'was not',
  arent: 'are not',
  thx: 'thanks',
  '4get': 'forget',
  yer: 'your',
  da: 'the',
  teh: 'the',
  hte: 'the',
  taht: 'that',
  thsi: 'this',
  adn: 'and',
  waht: 'what',
  wich: 'which',
  whic: 'which',
  form: 'form',
  pleas: 'please',
  "name's": 'name is',
  wat: 'what',
  wut: 'what',
  wot: 'what',
  bout: 'about',
  whatcha: 'what you',
  whaddya: 'what do you',
  whaddaya: 'what do you',
  wheres: 'where is',
  whos: 'who is',
  hows: 'how is',
  thats: 'that is',
  theres: 'there is',
  youve: 'you have',
  ive: 'i have',
  weve: 'we have',
  gotta: 'have to',
  didja: 'did you',
  gonna: 'going to',
  dunno: 'do not know',
  u: 'you',
  r: 'are',
  ur: 'your',
  b4: 'before',
};
