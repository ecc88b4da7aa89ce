// Owns the turns of phrase that make a request unclear: what points at an earlier talk, what has no end, what only taste can judge; and the
// verbs of several words that say no more than "handle". English and German. Data only; every pattern is linear.

/** Each counts as one handling verb. */
export const HANDLING_PHRASES: readonly RegExp[] = [
  /\b(?:sort|figure)\s+(?:\p{L}+\s+){0,4}out\b/gu,
  /\btake\s+(?:good\s+)?care\s+of\b/g,
  /\b(?:have|take)\s+(?:a|another)\s+(?:quick\s+|short\s+|good\s+)?look\s+(?:at|into|over|through)\b/g,
  /\blook\s+(?:in|into|at|over|around|through)\b/g,
  /\b(?:go|work|run)\s+(?:through|over|on)\b/g,
  /\bget\s+back\s+to\b/g,
  /\b(?:bring|get|put)\s+(?:\p{L}+\s+){1,4}(?:in|into)\s+(?:line|order|shape|proper\s+shape|place)\b/gu,
  /\b(?:follow|tidy|clean|spruce|jazz|beef|touch|brush|freshen|smarten|fix|wrap|polish)\s+up\b/g,
  /\b(?:get\s+rid|make\s+sure|come\s+up|get\s+going)\b/g,
  /\b(?:take|have|give)\s+(?:it\s+|this\s+)?(?:a|another)\s+(?:stab|crack|pass|go|shot|try)\b/g,
  /\bset\s+(?:\p{L}+\s+){0,3}up\b/gu,
];

/** Words that point at what was said or known elsewhere. */
export const POINTS_AWAY: readonly RegExp[] = [
  /\b(?:we|i|you)\s+(?:just\s+|already\s+)?(?:talked|spoke|discussed|mentioned|said|agreed|had|did|wanted|started|began|stopped|worked)\b/,
  /\b(?:like|as|than)\s+(?:last\s+(?:time|week|month|quarter|year)|before|always|usual|discussed|agreed|we\s+said|yesterday)\b/,
  /\b(?:like|as|the\s+way)\s+(?:you|we|i|they|he|she)\s+(?:usually|normally|always|did|do|had)\b/,
  /\bas\s+per\s+(?:our|the|your|my)\s+(?:call|talk|chat|meeting|conversation|discussion|agreement)\b/,
  /\b(?:same\s+(?:as|thing)|the\s+usual|the\s+others?\b(?:\s+(?:one|ones|thing|things|document|file|version))?|you\s+know|from\s+(?:before|earlier|last\s+time)|where\s+(?:we|you|i|he|she|they)\s+left)\b/,
  /\b(?:the|this|that)\s+(?:whole\s+|entire\s+)?(?:thing|stuff|mess)s?\b/,
  /\b(?:he|she|they)\s+(?:asked\s+for|wanted|need|needs|meant|(?:told|sent|gave)\s+(?:me|us))\b/,
  /^(?:please\s+|then\s+|and\s+|so\s+|ok\s+)*(?:go\s+ahead|go\s+on|proceed|continue|carry\s+on|keep\s+going|resume|pick\s+up|try\s+again)\b/,
  /\bthe\s+way\s+(?:\p{L}+\s+){1,3}(?:likes?|wants?|needs?|prefers?)\b/u,
  /\b(?:he|she|they)\s+(?:needs?|wants?|likes?)\b/,
  /\b(?:about|regarding|like)\s+(?:that|this)\s*(?:[.!?]|$)/,
  /^(?:and\s+|so\s+)?(?:what|how)\s+about\b/,
  /\bthe\s+(?:one|ones|part|version)\s+(?:before|after|above|below)\s+(?:that|this|it)\b/,
  /\bwie\s+(?:immer|üblich|besprochen|gesagt|letztes\s+mal|beim\s+letzten|vereinbart|gehabt|gestern)\b/,
  /\b(?:das|dem)\s+(?:übliche|gleiche|selbe|ding|zeug)\b/,
];

export const UNBOUNDED: readonly RegExp[] = [
  /\b(?:whatever|whichever|anything|somehow|etc|etcetera|irgendwas|irgendwie|usw)\b/,
  /\band\s+(?:so\s+on|so\s+forth|stuff|things|more|all\s+that|everything)\b/,
  /\bother\s+(?:stuff|things?)\b/,
  /\b(?:a\s+few|some|several)\s+(?:stuff|things?)\b/,
  /\bund\s+so\s+weiter\b/,
  /\b(?:as|where|wherever|if|when)\s+(?:needed|necessary|appropriate|possible|you\s+(?:like|want|see\s+fit|think))\b/,
  /\bas\s+(?:much|many|far)\s+as\s+(?:possible|you\s+can)\b/,
  /\b(?:or|and)\s+something\b/,
  /\bwhat(?:ever)?\s+(?:needs|has|is)\s+(?:to\s+be|fixing|doing|changing|work|necessary|missing|needed|required)\b/,
  /\b(?:do|give|write|need|want|make|create|prepare|produce|add)\s+(?:\p{L}+\s+){0,2}something\b/u,
  /\b(?:all|every)\s+(?:the\s+|possible\s+|of\s+the\s+)?(?:things?|stuff)\b/,
];

/** Bounded when it says of what. */
export const EVERYTHING =
  /\beverything\b(?!\s+(?:in|about|on|from|that|of|said|under|between|after|before)\s+(?!everything|anything|it\b|this\b|that\b|here\b|there\b|you\b)\w)/;

export const VAGUE_FORM: readonly RegExp[] = [
  /\b(?:better|nicer|prettier|cooler|smarter|cleaner|tidier|neater|punchier|snappier|catchier|livelier|friendlier|fancier|sharper|smoother|slicker)\b/,
  /\bmore\s+(?:professional|modern|beautiful|readable|interesting|useful|engaging|elegant|polished|attractive|exciting|consistent)\b/,
  /\b(?:some|any|a\s+(?:nice|good|proper|suitable))\s+(?:kind\s+of\s+)?(?:format|form|way|shape)\b/,
  /\bin\s+(?:the|a)\s+(?:right|proper|good|nice|best|usual)\s+(?:way|form|format)\b/,
  /\b(?:bad|boring|ugly|weird|unnecessary|wrong|good|interesting|exciting|cool|noteworthy|useful|helpful)\s+(?:parts?|bits?|ones?|stuff|things?|points?|places?)\b/,
  /\bmake\s+(?:it|this|that|them|these)\b(?!\s+(?:an?|into|\d)\b)(?![^.!?]*\d)/,
  /\bwhat\s+you\s+think\b/,
  /\bsome\s+(?:improvements?|changes?|edits?|adjustments?|tweaks?|corrections?)\b/,
  /\b(?:properly|the\s+best\s+you\s+can|(?:look|sound|feel|read)s?\s+(?:good|nice|great|right))\b/,
  /\b(?:schöner|besser|hübscher|ansprechender|professioneller)\b/,
];
