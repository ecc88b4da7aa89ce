// Owns what speaks against acting on a part of a line, or on a line that fits no form as a whole. Data only.
// Patterns over text without its quotations. Invariant: doubt costs a question, never an action.
import type { Guards } from '../language.ts';

export const guards: Guards = {
  against: [
    /\b(?:not|never|no(?! longer)|nor|neither|none|nobody|nothing|without|n't|dont|don't|doesnt|cant|can't|wont|won't|shouldnt|didnt|isnt|aint|ain't|stop|avoid|refrain|leave|quit|cancel|abort|hold off|instead|rather)\b|n['’]t\b/i,
    /\b(?:suppose|supposing|imagine|hypothetical|hypothetically|what if|in case|were to|would it|would that|would happen|what happens|what would|what will|if (?:i|we|you|they|he|she|it|one|someone)|unless|should (?:i|we|one|you)|shall (?:i|we)|whether|may i|can i run|is it (?:safe|ok|wise|bad|good)|safe to|dangerous|pretend|theoretically)\b/i,
    /\bhow (?:do|does|did|can|could|would|should|to|come|is|are|was|i|we|you|one|much|about|well|good|bad)\b|\bwhich (?:command|tool|way|one|is)\b|\bwhat(?:['’]?s| is| are) (?:missing|wrong|lacking|left out|odd|strange|unclear|special)\b|\bwhat (?:command|is the (?:command|difference|best|point|meaning|purpose)|does \S+ (?:do|mean)|are the (?:pros|risks|best))\b|\bways? to\b|\bdifference between\b/i,
    /\b(?:every|each) (?:day|hour|week|minute|night|morning|month|time|monday|friday|\d+)\b|\b(?:tomorrow|tonight|later|once (?:it|the|you|we|they)|as soon as|until(?! (?:line|row|\d))|daily|hourly|weekly|next (?:week|month|time))\b/i,
    /\bwho(?:['’]d| would| could| might| wants| needs| likes)\b/i,
    /\b(?:does|do|did|would|will) (?:it|this|that|they|these|those|the \w+|my \w+)(?: \w+)? (?:look|seem|sound|feel|appear|work|make|need|depend|follow|agree|belong|matter|deserve)\b/i,
  ],
  understanding:
    /\b(?:explain|explains|summari[sz]e|summary|tl;?dr|translate|translation|write|compose|draft|rewrite|rephrase|refactor|review|critique|roast|analy[sz]e|analysis|compare|understand|describe|description|discuss|evaluate|assess|improve|optimi[sz]e|fix|repair|debug|solve|implement|design|architect|plan|estimate|guess|predict|suggest|recommend|recommendation|advice|advise|opinion|brainstorm|invent|imagine|generate|convert|format|proofread|grammar|spell-?check|teach|learn me|meaning|means|mean|why|reason|reasons|because of what|idea|ideas|better|best|worst|cheaper|nicest|should|eli5|simplify|paraphrase|interpret|diagnose|investigate|figure out|work out|clean up|tidy|sort out|rename|merge|deploy|install|book|order|buy|call|email|send|post|tweet|schedule|remind|alert|notify|wake|play|sing|joke|poem|story|song|recipe)\b/i,
  around: [
    /\b(?:were|had) (?:i|we|you|he|she|they)\b/i,
    /\b(?:if|when|whenever|unless|until|once|after|before|as soon as|while|every|provided|assuming|in case|lest)\b/i,
    /\b(?:used to|yesterday|last (?:night|week|time)|ago|already)\b/i,
  ],
  leading: [
    /^(?:(?:only|but|and|so|maybe|then|or|also|just|except) )*(?:if|whenever|unless|until|as soon as|every|each|provided|assuming|suppose|supposing|imagine|pretend|hypothetically|theoretically|lest|what if|should (?:you|we|i|it|the|this|that|my|he|she|they)|were|had|let us (?:say|assume|suppose)|say (?:i|you|we))\b/i,
    /^(?:(?:only|but|and|so|maybe|then|also) )*(?:when|once(?! (?:more|again))|after|as long as)\b[^.!?]*$/i,
    /^(?:(?:and|then|so|but) )*(?:tomorrow|tonight|later|daily|hourly|weekly|nightly|next (?:week|month|time|monday|friday)|at (?:\d|noon|midnight)|on (?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)|in (?:\d+|an?|two|five|ten|a few) (?:minutes?|hours?|days?|weeks?)|from now on)\b(?![^,]* (?:is|are|we|i|it|there)\b)/i,
    /^(?:(?:please|just|and|but|so|no|also|ever|absolutely|whatever you do|you (?:must|should|may|can|will)) )*(?:do not|don'?t|dont|don’t|never|stop|quit|avoid|refrain|hold off|cancel|abort|no need|not|nobody should|must not|mustn'?t)\b(?! (?:know|remember|recall|trust|have|see|think|understand|get|like|want|seem|feel|care|sure|much time|long now))/i,
    /\b(?:what happens|what would|what will|would happen|would it|would that|how (?:do|would|can|could|should|to)\b(?! (?:i|we|you|it|they) (?:set|did|do it))|which command|what command|what (?:does|do|did) \S+ (?:do|mean)|safe to|dangerous|difference between|should i|should we|shall (?:i|we)|can i|may i|is it (?:safe|wise|bad|good))\b/i,
    /\b(?:subject|caption|motto|chorus|verse|advice|(?:exact|last|own|his|her|their) words|saying|proverb|horoscope|poster|banner|tweet|joke|story|song|poem|lyrics?|novel|movie|riddle|example|(?<!to )quote|quotation|error|message|exercise|quiz|the title|headline|slogan)\b[^.!?]*:?\s*$/i,
  ],
  ownWords: /^(?:(?:so|and|but|well|hey|ok|okay|hi|oh|ah|yo)[ ,]+)*(?:i|we)(?:['’]\w+)?\b(?!.{0,16}\byou\b)/i,
  wishing:
    /\b(?:want|need|like|wish|expect|changed? my mind|meant?|said|was (?:just )?(?:kidding|joking)|am (?:just )?(?:kidding|joking)|not|never|if|unless|when|until|wait|stop|cancel)\b|n['’]?t\b|['’]m (?:just )?(?:kidding|joking)/i,
  demanding:
    /^(?:(?:i|we)(?:'d| would)? (?:want|need|like|ask|expect|would like) you to |you (?:to|should|must|could|can) |help me (?:to )?|(?:please|and|then|also|now|first) )*(?:explain|summari[sz]e|translate|write|compose|draft|rewrite|rephrase|refactor|review|critique|roast|analy[sz]e|compare|describe|discuss|evaluate|assess|improve|optimi[sz]e|fix|repair|debug|solve|implement|design|plan|estimate|predict|suggest|recommend|advise|brainstorm|invent|generate|convert|format|proofread|teach|simplify|paraphrase|interpret|diagnose|investigate|figure out|work out|clean up|tidy|sort out|rename|merge|install|book|order|buy|call|email|send|tweet|schedule|remind|play|sing|tell me (?:why|how|a)|make (?:me )?an?|create|build me|delete|remove)\b/i,
  harmless:
    /\b(?:the |my |our |an? )?\w+ (?:is|are|starts|begins|leaves|comes|arrives|ends|closes|opens)(?: due| only)? (?:tomorrow|tonight|later|next \w+|in (?:\d+|an?|two|five|ten) \w+)|\b(?:i|we|he|she|it|they|you|nobody|someone|my \w+|the \w+)(?: (?:really|just|still|simply|honestly|actually|always))* (?:can['’]?t|can ?not|could ?n['’]?t|could not|do ?n['’]?t|do not|did ?n['’]?t|did not|does ?n['’]?t|does not|have ?n['’]?t|have not|was ?n['’]?t|was not|is ?n['’]?t|is not|am not|['’]m not|wo ?n['’]?t|will not|never|no longer)(?: (?:really|quite|even|ever|been able to))* (?:remember|recall|know|find|see|sure|tell|trust|believe|have|feel|get|understand|work|works|start|starts|open|load|compile|build|pass|seen|know|certain|there|here|look|looked|show|answer|respond|fit|match|want to|need to|have to|wish to|like to)\b/gi,
  quoting:
    /\b(?:error|output|example|typed|tried|used|ran|saw|got|log|message|warning|question|story|joke|is|was|says|like|called|named|subject|title|headline|caption|motto|slogan|lyrics|chorus|verse|words|saying|proverb|horoscope|poster|banner|tweet)\b/i,
  verbatim:
    /\bdocker[- ]compose\b|\b(?:run|running|executing|execute|exec|launch|invoke|kick off|fire up|fire off|spin up|start|rerun)\s(?:(?!\b(?:and|but|then|if|unless|when|after|before|every|because|not|never|until|to see|to check)\b).)*|^(?:please )?(?:write|copy|send|post)\s+(?:it|that|this|them|these|those|all|everything|what you \w+|(?:the|your|that|this) (?:\w+ )?(?:outputs?|results?|list|text|answer|lines|log))\b[^.!?]{0,60}?\b(?:to|in|into|as|under)\b/gi,
  statement:
    /^(?:i|we|you|he|she|they|someone|somebody|nobody|everybody|everyone|people|my \w+|our \w+)(?: (?:just|already|always|often|sometimes|usually|once|also|still|really|had|have|has|'ve|was|were|am|are|is))* (?:read|reads|ran|run|runs|running|saw|opened|opens|used|uses|use|found|looked|listed|hate|love|loved|likes|tried|did|does|made|said|put|keep|keeps|kept|wrote|reading|using|broke|deleted|removed|edited|changed)\b(?!.*\?)|^(?:were|had) (?:i|we|you) |^(?!what|where|which|who|how|there|here|it|in|any|is|are|find|list|show|whats)(?:(?:the|this|that|these|those|my|our|his|her|your) (?:\S+ ){0,5}|\S+ (?:line \d+ )?)(?:is|was|are|were|lists|prints|deletes|removes|returns|gives|means|works|worked|crash|crashes|crashed|failed|looks?|seems?|contains?|has|sucks|rocks|fails?|takes?|needs?|shows?) (?!written|there|in\b)/i,
  reported:
    /\b(?:(?<!\b(?:i|we)(?: just| already| once| have)? )(?:said|wrote|asked(?: me)?|typed)|says|saying|told (?:me|him|her|us|them)|tells (?:me|you|us)|asks|writes|written|reads|like|goes|quote|quoted|shouted|answered|replied|suggested|suggests)\s*(?:[,:"“]|$)|\b(?:said|says|told|tells|wrote|written|according to|quoted?|instructions?|tutorial|docs? says?|the (?:article|manual|readme|teacher|book|guide)|asked me|dream(?:t|ed)?)\b[^.!?]*[:"“]\s*$|["“”][^"“”]*$/i,
  credited:
    /\b(?:(?:he|she|they|it|everyone|people|\w+) (?:said|says|told (?:me|us|him|her|them)|tells (?:me|us|you)|wrote)|according to|quoted?|instructions?|tutorial|docs? says?|dream(?:t|ed)?|i (?:was told|heard|read somewhere))\b|["“”][^"“”]*$/i,
  asked:
    /\b(?:would it be possible|is it possible|(?:would|do) you mind|any chance|how about|please|pls|plz|could you|can you|would you|will you|kindly)\b/i,
  hedging:
    /^\W*(?:(?:so|well|ok|okay|hm+|oh|um+|uh+|and|but|yeah)\W+)*(?:maybe|perhaps|possibly|probably|supposedly|apparently|i (?:think|guess|suppose|believe|reckon|wonder|hope|fear|doubt))\b(?:,? that)?,? (?:i|i['’]\w+|my|we|our|he|she|they|the)\b/i,
  halving:
    /^\W*(?:(?:and|but|well|at least|though) )*(?:not|never|rather than|instead of|except|unless|or (?:not|maybe|was it|is it)|if|in theory|sort of|kind of|i (?:think|guess|suppose|believe)|maybe|perhaps|probably|just kidding|jk)\b/i,
};
