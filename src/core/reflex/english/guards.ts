// Owns what speaks against acting on a part of a line, or on a line that fits no form as a whole. Data only.
// Patterns over text without its quotations. Invariant: doubt costs a question, never an action.
import type { Guards } from '../language.ts';

export const guards: Guards = {
  against: [
    /\b(?:not|never|no(?! longer)|nor|neither|none|nobody|nothing|without|n't|dont|don't|doesnt|cant|can't|wont|won't|shouldnt|didnt|isnt|aint|ain't|stop|avoid|refrain|leave|quit|cancel|abort|hold off|instead|rather)\b|n['’]t\b/i,
    /\b(?:suppose|supposing|imagine|hypothetical|hypothetically|what if|in case|were to|would it|would that|would happen|what happens|what would|what will|if (?:i|we|you|they|he|she|it|one|someone)|unless|should (?:i|we|one|you)|shall (?:i|we)|whether|may i|can i run|is it (?:safe|ok|wise|bad|good)|safe to|dangerous|pretend|theoretically)\b/i,
    /\bhow (?:do|does|did|can|could|would|should|to|come|is|are|was|i|we|you|one|much|about|well|good|bad)\b|\bwhich (?:command|tool|way|one|is)\b|\bwhat (?:command|is the (?:command|difference|best|point|meaning|purpose)|does \S+ (?:do|mean)|are the (?:pros|risks|best))\b|\bways? to\b|\bdifference between\b/i,
    /\b(?:every|each) (?:day|hour|week|minute|night|morning|month|time|monday|friday|\d+)\b|\b(?:tomorrow|tonight|later|once (?:it|the|you|we|they)|as soon as|until(?! (?:line|row|\d))|daily|hourly|weekly|next (?:week|month|time))\b/i,
  ],
  understanding:
    /\b(?:explain|explains|summari[sz]e|summary|tl;?dr|translate|translation|write|compose|draft|rewrite|rephrase|refactor|review|critique|roast|analy[sz]e|analysis|compare|understand|describe|description|discuss|evaluate|assess|improve|optimi[sz]e|fix|repair|debug|solve|implement|design|architect|plan|estimate|guess|predict|suggest|recommend|recommendation|advice|advise|opinion|brainstorm|invent|imagine|generate|convert|format|proofread|grammar|spell-?check|teach|learn me|meaning|means|mean|why|reason|reasons|because of what|idea|ideas|better|best|worst|cheaper|nicest|should|eli5|simplify|paraphrase|interpret|diagnose|investigate|figure out|work out|clean up|tidy|sort out|rename|merge|deploy|install|book|order|buy|call|email|send|post|tweet|schedule|remind|alert|notify|wake|play|sing|joke|poem|story|song|recipe)\b/i,
  around: [
    /\b(?:were|had) (?:i|we|you|he|she|they)\b/i,
    /\b(?:if|when|whenever|unless|until|once|after|before|as soon as|while|every|provided|assuming|in case|lest)\b/i,
  ],
  quoting:
    /\b(?:error|output|example|typed|tried|used|ran|saw|got|log|message|warning|question|story|joke|is|was|says|like|called|named)\b/i,
  verbatim:
    /\b(?:run|execute|exec|launch|invoke|kick off|fire up|fire off|spin up|start|rerun)\s(?:(?!\b(?:and|but|then|if|unless|when|after|before|every|because|not|never|until|to see|to check)\b).)*/gi,
  statement:
    /^(?:i|we|you|he|she|they|someone|somebody|nobody|everybody|everyone|people|my \w+|our \w+)(?: (?:just|already|always|often|sometimes|usually|once|also|still|really|had|have|has|'ve|was|were|am|are|is))* (?:read|reads|ran|run|runs|running|saw|opened|opens|used|uses|use|found|looked|listed|hate|love|loved|likes|tried|did|does|made|said|put|keep|keeps|kept|wrote|reading|using|broke|deleted|removed|edited|changed)\b(?!.*\?)|^(?:were|had) (?:i|we|you) |^(?!what|where|which|who|how|there|here|it|in|any|is|are|find|list|show|whats)(?:(?:the|this|that|these|those|my|our|his|her|your) (?:\S+ ){0,3}|\S+ (?:line \d+ )?)(?:is|was|are|were|looks?|seems?|contains?|has|sucks|rocks|fails?|takes?|needs?|shows?) (?!written|there|in\b)/i,
  reported:
    /\b(?:said|says|saying|told (?:me|him|her|us|them)|tells|wrote|written|writes|according to|quote|quoted|instructions?|tutorial|docs? says?|the (?:guy|man|woman|boss|chief|teacher|article|manual|readme) |asked me|asks me|used to|yesterday|last (?:night|week|time)|ago|remember when|dream(?:t|ed)?|already)\b|["“”][^"“”]*$/i,
  asked: /\b(?:please|pls|plz|could you|can you|would you|will you|kindly)\b/i,
};
