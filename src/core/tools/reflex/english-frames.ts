// Owns the English frames of the rules that run, list, read, find, save, extract and count: what is read out of a line
// that fits no form. A frame's parts stand anywhere; the notation is that of `ReflexInput.fit`, after a tilde.
// Invariant: a frame needs an object that is one by its spelling or its noun, never just any word.

const SEE = '(<see>)';
const WHAT = '(what|which|anything|something|everything|all|whatever)';
const FILE_WORDS =
  '[on screen|on the screen|up|out loud|aloud] [file|document|doc|contents|content|text|whole|entire|inside|says|say|written|look|peek|glance]';
const DIR = '({path:dir}|(folder|directory|dir) [called|named] {path:folder}|{path:title} [folder|directory|dir])';
const GLOB = '({pattern:glob}|{pattern:file})';
const ENDING = '(ending|ends|end|extension|extensions|suffix|type|kind|format) [with|in|of|is|are|on]';
const FOUND_IN =
  '[<within> {path:place}|<within> [all|the] {glob:glob} [files|file]|<within> [all] [the] (files|file) [of type|with extension|ending in|ending] {glob:glob}]';
const SEEK =
  '(<find>|where|which files|what files|which file|what file|in what files|in which files|any|who|look through|look in|search in|search through|searching for|looking for|mislaid|lost|missing|tell me where|know where|grep|is there|are there|every|all|whereabouts|see|know)';
const SPOT =
  '(word|words|text|string|phrase|term|mention of|mentions of|refs to|references to|reference to|occurrences of|usages of|uses of|usage of|wrote about|written about|talk about|talks about|mention|mentions|contain|contains|containing|mentioning|calls|uses|imports|instances of|traces of|hits for|matches for|saying|says|about)';
const FROM_TO =
  '([from|between|at] [the] [line|lines|row|rows|l|ln] {from:number} (to|through|until|till|and|thru|up to|-|–|unto) [line|l|ln] {to:number}|[from|at] [the] [line|lines|row|rows|l|ln] {range:range})';

export const frames = {
  run: [
    '~ (<run>) {command:code} [command|following|terminal|shell|this|line|console]',
    '~ (make|do|try|type|enter|use|issue|shell|terminal|console|bash|cmd|nuke|wipe|clean|clear|delete|remove|get rid of|kill|reset|drop|purge|check|install|build|test|start|restart|stop|deploy|push|commit) {command:code} [with|using|via|by|off|away|up] [it|cache|command|everything|old|tests|build|db|database|folder|branch|container|containers|server]',
  ],
  runStrict: [
    '~ {command:code} (executed|launched|started|ran) [be|command|the]',
    '~ {command:code} (go|try|spin|whirl|shot|ran|run|says|say|prints|print|output|outputs|returns|shows|reports) [give|tell|what|know|look|check|see|let]',
    '(type|punch|key|enter) in {command:rest}',
    '(<run>|make run|do run) [for me|for us|me] [the|this|that|following] [shell|terminal] [command|program|script|thing|following|line|cmd] [called|for me|:|is] {command:rest}',
    '(hit me with|throw me|fire me|let us have|let us do|let us try|shell|terminal|console|bash|cmd|command|type|punch in|enter|whack in|go with|how about|smash out) [a|an|the] {command:rest}',
    '(hit|fire|kick|shoot|whip) (off|up|out) [a|an|the] {command:rest}',
  ],
  list: [
    `~ (<listing>|<see>|${WHAT}) ${DIR} [<files>|<folders>|contents|content|list|listing|view|tree|overview|kept|stored] [inside|list of|everything]`,
    `~ ${WHAT} ${DIR} (lurking|hiding|lurks|lies|lying|sitting|living|find|holds|hold|contains|contain|see|exist|exists|live|inside) [<see>|<listing>] [<files>|<folders>]`,
    `~ (<files>|contents|content|listing) ${DIR} [list|list of]`,
  ],
  read: [
    `~ ${SEE} {path:file} ${FILE_WORDS} [read|view|see]`,
    `~ ${SEE} {path:file} (in|inside|from|within|under) {folder:dir} ${FILE_WORDS}`,
    `~ {path:file} (shown|displayed|opened|printed|presented) [on|to] [be] ${FILE_WORDS}`,
    `~ {path:file} (contents|content|says|say|written) [what|everything] ${FILE_WORDS}`,
    `~ {path:file} ${FROM_TO} [<see>] ${FILE_WORDS}`,
    `~ {path:file} ((first|top|beginning|initial|opening|start|head) {head:number}) [line|lines|rows|few] [<see>] ${FILE_WORDS}`,
    `~ {path:file} ((last|final|bottom|closing|ending|end|tail) {tail:number}) [line|lines|rows|few] [<see>] ${FILE_WORDS}`,
    `~ {path:file} (line|row|l|ln) {line:number} [<see>] ${FILE_WORDS} [number]`,
    `~ {path:file} (from line|starting at line|starting from line|after line|from row|line {from:number} onwards|line {from:number} on) {from:number} [<see>] ${FILE_WORDS} [onwards|on|to the end]`,
  ],
  findText: [
    '(which|what) (file|files) (has|have|contains|contain|holds|includes) [the|a] [<textword>] {pattern:quoted} [in (it|them)] [<where>]',
    `~ ${SEEK} (${SPOT}) ({pattern:quoted}|{pattern:ident}|{pattern:text}) ${FOUND_IN} [file|files|place|places|line|lines|folder] [<used>|writed|written]`,
    `~ ${SEEK} {pattern:quoted} ${FOUND_IN} [<used>|<uses>] [file|files|place|places|line|lines|folder]`,
    `~ ${SEEK} {pattern:ident} ${FOUND_IN} [<used>|<uses>|<mention>|<occurrences>|coming|from] [<codeword>|flag|setting|option|env|variable] [file|files|place|places|line|lines|code]`,
    `~ (does|do|is|are) {pattern:quoted} (<used>|<uses>|mentioned|present|contained|anywhere|somewhere) ${FOUND_IN} [text|word|string|phrase|mentioned|anywhere|file|files]`,
    `~ (does|do|is|are|did|anyone|anybody|anything|got|any|where) {pattern:ident} (<used>|<uses>|<mention>|left) ${FOUND_IN} [anybody|anyone|anything|somebody|still|anywhere|at all|left]`,
    `~ (<textword>) {pattern:quoted} ${FOUND_IN} [somewhere|anywhere|which|what|has|file|files|have|contains|contain|find|search]`,
    `~ (files|places|lines|occurrences|mentions|references|uses|usages|refs) {pattern:ident} ${FOUND_IN} [<used>|<uses>|<mention>] [<see>]`,
  ],
  findFiles: [
    `~ (<find>|where|any|seen|can not find|which files|what files|list|got|have|exist|exists|is there|are there|it exists|mislaid|lost|misplaced|gone|missing|disappeared|vanished|mislayed|looking for|hunting for|know where|tell me where|<see> all) ${GLOB} [<within> {path:place}] [file|files|document|documents|images|pictures|photos|scripts|sheets|called|named|config|put|keep|help|lives|live|sits|sit|hides|stored|kept]`,
    `~ (all|every) {pattern:glob} (files|file) [<within> {path:place}] [<see>|<find>]`,
    `~ (<see>|dig out|dig up|need|want) (all|every|any|each) {pattern:glob} [<within> {path:place}] [files|file|of]`,
    `~ (<find>|where|any|which|what|list|got|have|looking|<see>) (files|file|documents|docs|everything|all) ${ENDING} {pattern:glob} [<within> {path:place}]`,
    `~ (which|what|any|all|list|find) {pattern:glob} (are|exist|live|there|have) [<within> {path:place}] [files|file]`,
  ],
  save: [
    '(<save>|yeet|toss|dunk|bung|shove|whack|slap|plonk|stuff|sling|fling|lob|pour|push) (it|that|this|them|those|everything|all of it|the lot|<output>) [down|away|out] (in|into|to|as|under|at|over to|inside) [a|the] [new] [file|document|text file] [called|named] {path:file}',
    '<save> (what you just showed me|what you showed me|what you just said|what that said|what came out|that|it|this|<output>) (to|in|into|as) [a] [new] (file|document) [and] (call it|name it|called|named) {path:file}',
    '~ <save> (<output>|that|it|this|result|results|output|everything|list) {path:file} [file|document|as|in a file called|called|named|down]',
  ],
  extract: [
    '~ <headings> {path:file} [<extract>|<see>] [there|document|file] =what:headings',
    '~ <dates> {path:file} [<extract>|<see>] [mentioned|given|appear|listed|file] =what:dates',
    '~ (<figures>|sum of money|sums of money|amount of money|amounts of money|monetary amounts) {path:file} [<extract>|<see>] [mentioned|given|appear|listed|file] =what:figures',
    '~ <addresses> {path:file} [<extract>|<see>] [mentioned|given|appear|listed|file] =what:links',
    '~ (how many|count|number of) <headings> {path:file} =what:headings =count:yes',
    '~ (how many|count|number of) <dates> {path:file} =what:dates =count:yes',
    '~ (how many|count|number of) (lines|rows) {path:file} (containing|contain|with|mention|mentioning|matching|have|has|say|including|include) ({pattern:quoted}|{pattern:ident}|{pattern:text}) [<textword>] =what:lines =count:yes',
    '~ (lines|line|rows|passages|sentences) {path:file} (containing|contain|with|mention|mentioning|matching|have|has|say|says|about|including|include) ({pattern:quoted}|{pattern:ident}|{pattern:text}) [<extract>|<see>] [<textword>] =what:lines',
  ],
  count: [
    '~ (how many|count|number of|how much) (lines|line|rows) {path:file} [count|total|file|long] =what:lines',
    '~ (how long|how big in lines|line count|length) {path:file} [file] =what:lines',
    '~ (how many|count|number of) {glob:glob} [files|file] [<within> {path:place}] =what:files',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;
