// Owns the word classes of English: what the forms call `<show>` or `<find>`. Data only.
// Invariant: a class is alternatives in the notation of forms; white space means nothing.

export const classes: Readonly<Record<string, string>> = {
  show: `
    show [me|us]|display|print [out|me]|view|see|pull up|bring up|give [me|us]|get [me|us]|output|check out|dump|fetch [me]|present|reveal|
    let me (see|view|read|look at)|let us (see|view|look at)|(take|have|let me have|let me take|can i have) a [quick] (look|peek|glance) at|look at|peek at|
    (can|could|may) i (see|view|get|have|read|look at)|i (want|need|would like|would love) (the|a)|put up
  `,
  see: `
    <show>|read [out]|open [up]|pop open|cat|type out|load|pull up|bring up|have a look|take a look|look|peek|peep|gander|glance|displaying|showing|opening|reading|viewing|list|need|contents|content|whats in|what is in|what does|check|
    want see|jump to|go to|skip to|take me to|eyes on|put on screen|throw up|flash|page through|scroll through|inspect|examine|study|hand me|pass me|crack open|throw open|flip open|bust open|crack|toss me|shoot me|slide me|spit out
  `,
  read: 'read [me|out|through|from|off]|cat|open [up]|type out|load|<show>',
  listing: 'list [out|up|me]|ls|dir|enumerate|inventory',
  list: '<listing>|<show>',
  run: `
    run|execute|exec|make run|kick off|launch|invoke|fire off|fire up|start [up]|do a run of|rerun|re-run|spin up|run me|carry out|trigger|run off
  `,
  find: `
    find [me|out]|search [for]|look for|look up|locate|grep [for]|hunt [down|for]|scan for|track down|dig up|seek|rg|check for|pinpoint|
    do a search for|run a search for|search out|spot|have a look for|ripgrep
  `,
  in: 'in|inside|inside of|within|under|from|of|at|across|throughout|through|on|into|below|beneath|over in|down in',
  within: 'in|inside|inside of|within|under|from|across|throughout|below|beneath|underneath|through|over in',
  where: `
    <within> {path:place}|<within> [all|all of|all the|any|any of|every] [the|my|our|these] {glob:glob} [files|ones|file|sources]|
    <within> [all|all of|all the|any|any of|every] [the|my|our|these] {glob:glob} [files|file|sources] <within> {path:place}|
    <within> {path:place} <within> [all|the|any|my|our] {glob:glob} [files]|
    (anywhere|somewhere|everywhere|anyplace) [else] [<within> {path:place}]|[around|over|lying around|round] here [somewhere|anywhere]|in here [somewhere|anywhere]|<within> {path:place} (somewhere|anywhere)|all over [the place]|in (it|them|any of them)
  `,
  files: 'files|file names|filenames|stuff|things|items|entries',
  folders: 'folders|directories|subfolders|subdirectories|dirs|subdirs',
  all: 'all|every|any|all of|all the|each|each of|everything|whole|entire|full|complete|every single|every last|each and every',
  who: 'we|i|you|they|he|she|us|me',
  past: '[the] [most] (previous|last|past|earlier|old|older|prior|recent|latest|former|other) [few|couple of|two|three|five|ten]',
  chat: 'convo|conversation|chat|session|discussion|talk|thread|transcript|exchange|meeting|call',
  chats: `
    convo|convos|conversation|conversations|chat|chats|session|sessions|discussion|discussions|[chat|session|conversation|our|my] history|thread|threads|talks|transcript|
    transcripts|exchange|exchanges|(chat|session|conversation) (log|logs)|old messages|past messages
  `,
  about: `
    about|on|regarding|concerning|around|of|for|with|re|related to|to do with|over|mentioning|where|with respect to|involving|when it comes to|as for|as to|to|in terms of
  `,
  say: `
    say|said|saying|tell [you|me]|told [you|me|us]|telling [you|me]|mention|mentioned|mentioning|talk|talked|talking|discuss|discussed|discussing|write|wrote|note|noted|ask [you|me]|asked [you|me]|bring up|brought up|
    speak|spoke|speaking|state|stated|claim|claimed|suggest|suggested|propose|proposed|recommend|recommended|report|reported|promise|promised|go over|went over|cover|
    covered|chat|chatted|chatting|think|thought|go through|went through|complain|complained|argue|argued|explain|explained
  `,
  decide: `
    decide|decided|deciding|choose|chose|chosen|pick|picked|agree|agreed|settle|settled|conclude|concluded|plan|planned|planning|go with|went with|gone with|end up|ended up|land on|landed on|
    resolve|resolved|work out|worked out|figure out|figured out|come up with|came up with|determine|determined|arrange|arranged|use|used|call|called|name|named|set|fix|fixed|
    solve|solved|do|did|done|doing|work|worked|working|learn|learned|find out|found out|try|tried|change|changed|finish|finished|leave|left|start|started|make|made|build|built|
    commit to|rule out|ruled out|reject|rejected|need|want|wanted
  `,
  memory: `
    memory|the (memory|memories)|(your|our|long-term|long term) (memory|memories|notes|brain|head|mind|profile|records|knowledge|notebook|memory file|memory files)|my (profile|memories|memory file)|memories|what you (know|remember|have stored)
  `,
  that: 'that|it|this|those|these|them',
  save: `
    save|write|store|put|dump|export|keep|record|log|persist|stick|copy|drop|write out|write down|redirect|output|capture|preserve|stash|
    send|pipe|spit|place|pop|throw|park|chuck|paste
  `,
  output: `
    [a copy of|the contents of|all of|all] (that|it|this|those|these|them)|
    [a copy of|all of|all] [the|that|this|your|its|these|those] [last|previous|latest|above|most recent|whole|entire|full|test|command|final] (output|outputs|result|results|answer|reply|response|
    listing|text|list|lines|findings|contents|content|log|logs|stuff|information|info|report|data) [of (that|the last command|the last run|that command|the command|it)|above|
    from (that|the last command|above|before|the last run|that command|the command|just now|it)|you just (gave|showed|told) me|there|just now]|
    [everything|all|all that] what you (just|) (printed|showed|said|found|showed me|showed us|gave me|got|read|listed)|
    (the last|the previous|the latest) (one|thing)|everything above|the above|what just came out|what came out|what that printed|what (that|it) (said|gave|returned|printed)
  `,
  extract: `
    list [out|me|us]|show [me|us]|extract|pull [out]|get [me|us]|give [me|us]|find [me|us]|collect|gather|print|display|quote [me|us]|read [me|us|out]|dig out|pick out|grab|fetch|pull up|
    cite|highlight|grep|i (want|need) [to see]|can i (see|have|get)|see|filter|filter out|only show [me]|copy out|note down
  `,
  headings: `
    headings|heading|headers|header lines|sections|section (titles|headings|names|headers)|chapters|chapter (titles|headings|names)|titles|table of contents|toc|outline|structure|subheadings|
    (main|top level|top-level) headings|headlines|heading lines
  `,
  outline: `
    [<show>|print|make] [an|the|a] (outline|structure|toc|table of contents|skeleton|outline view) (of|for|in|from)|outline
  `,
  dates: 'deadline|dates|date|deadlines|due dates|timestamps|calendar dates|dates and times|days and dates|date lines',
  figures: `
    figures|figure|numbers|number|amounts|sums|prices|percentages|percents|costs|totals|sum|amount|price|value|values|percentage|quantities|statistics|stats|[money|dollar] amounts|numerical values|numeric values|metrics|
    measurements|monetary amounts|sums of money
  `,
  facts: 'facts|fact|key facts|definitions|statements|hard facts|main facts|key points|data points',
  addresses: `
    links|link|urls|url|[email|e-mail|web|mail] addresses|emails|e-mails|hyperlinks
  `,
  containing: `
    (with|containing|mentioning|matching|about|on|having|including|holding|saying) [in them|in it] [the|a] [<textword>]|
    (that|which|where|with) [it] (contain|contains|mention|mentions|match|matches|have|has|got|say|says|include|includes|talk about|talks about|are about|speak of|hold|holds|start with|starts with) [the|a] [<textword>]
  `,
  textword:
    'word|words|string|strings|text|phrase|term|pattern|symbol|expression|keyword|literal|identifier|substring|sequence|characters',
  codeword:
    'function|class|variable|constant|method|type|interface|symbol|component|hook|endpoint|exception|macro|struct|enum',
  mention: `
    mention|mentions|contain|contains|use|uses|include|includes|import|imports|reference|references|call|calls|have|has|say|says|containing|mentioning|using|importing|referencing|calling|
    talk about|talks about|refer to|refers to|referring to|including|define|defines|defining|with [it]
  `,
  holds: `
    contain|contains|mention|mentions|have|has|got|have got|has got|match|matches|say|says|include|includes|hold|holds|show|shows|carry|with|containing|mentioning|matching|including|talk about|talks about|
    speak of|refer to|refers to|start with|starts with|read|list
  `,
  used: `
    used|defined|mentioned|called|declared|referenced|imported|set|implemented|exported|found|written|raised|thrown|handled|created|initialised|initialized|configured|registered|invoked|instantiated|assigned|read|tested|logged|documented|caught|emitted
  `,
  uses: `
    appears|occurs|comes up|shows up|crops up|lives|appear|occur|come up|show up|live|crop up|pops up|(gets|is|are|get|was|being) <used>
  `,
  occurrences:
    'occurrences|occurrence|mentions|mention|uses|usages|usage|instances|instance|references|reference|appearances|calls|matches|hits|use|traces',
};
