// Owns the word classes of English: what the forms call `<show>` or `<find>`. Data only.
// Invariant: a class is alternatives in the notation of forms; white space means nothing.

export const classes: Readonly<Record<string, string>> = {
  show: `
    show [me| us]| display| print [out]| view| see| pull up| bring up| give [me| us]| get [me| us]|
    let me see| let me look at| let me have a look at| look at| take a look at| have a look at|
    have a peek at| peek at| output| check out| dump| fetch [me]
  `,
  read: 'read [me|out|through|from]|cat|open [up]|type out|load|<show>',
  list: 'list [out|up]|ls|dir|enumerate|<show>',
  run: `
    run| execute| exec| kick off| launch| invoke| fire off| fire up| start [up]| try running| do a run of|
    rerun| re-run| spin up
  `,
  find: `
    find [me| out]| search for| search| look for| locate| grep [for]| hunt for| hunt down| scan for|
    track down| dig up| seek| look up| rg| look through| check for| pinpoint
  `,
  in: 'in|inside|inside of|within|under|from|of|at|across|throughout|through|on|into',
  files: 'files|file names|filenames|stuff|things|items|entries|documents|docs',
  folders: 'folders|directories|subfolders|subdirectories|dirs',
  all: 'all|every|any|all of|each|everything|whole|entire|full|complete',
  who: 'we|i|you|they|he|she|us|me',
  past: 'previous|last|past|earlier|old|older|prior|recent|latest|former',
  chats: `
    conversation| conversations| chat| chats| session| sessions| discussion| discussions| history| thread|
    threads| talk| talks| log of our talks| transcript| transcripts| exchange| exchanges| messages
  `,
  about: `
    about| on| regarding| concerning| around| of| for| with| re| related to| to do with| over| mentioning|
    where| with respect to| involving| when it comes to| as for
  `,
  say: `
    say| said| tell| told| mention| mentioned| talk| talked| discuss| discussed| write| wrote| note| noted|
    ask| asked| bring up| brought up| speak| spoke| state| stated| claim| claimed| suggest| suggested|
    propose| proposed| recommend| recommended| report| reported| promise| promised| go over| went over| cover|
    covered| chat| chatted| think| thought
  `,
  decide: `
    decide| decided| choose| chose| pick| picked| agree| agreed| settle| settled| conclude| concluded| plan|
    planned| go with| went with| end up| ended up| land on| landed on| resolve| resolved| work out|
    worked out| figure out| figured out| come up with| came up with| determine| determined| arrange| arranged|
    use| used| call| called| name| named| set| fix| fixed| solve| solved| do| did| work| worked| learn|
    learned| find out| found out| try| tried| change| changed| finish| finished| leave| left| start| started|
    make| made| build| built| get| got| commit to
  `,
  memory: `
    memory| your memory| my memory| your memories| memories| your notes| long-term memory| the memory|
    your brain| your head| mind| your mind| my profile| the profile| your records| your knowledge
  `,
  that: 'that|it|this|those|these|them',
  save: `
    save| write| store| put| dump| export| export| keep| record| log| persist| stick| copy| drop| write out|
    write down| redirect| output| capture| preserve| stash
  `,
  output: `
    (that| it| this| those| these| them)| [the| that| this| your| its] [last| previous| latest| above|
    most recent| whole| entire| full| test| command] (output| result| results| answer| reply| response|
    listing| text| list| lines| findings| contents| content| log| logs| stuff| information) [of that| above|
    from that| from the last command| of the last command| from above| you just gave me| you just showed me|
    from before| there| of the last run| from the last run| of that command| from that command]|
    what you (just| ) (printed| showed| said| found| showed me| showed us| gave me| got| read| listed)|
    (the last| the previous| the latest) (one| thing)| [all of| all] (that| this| it)| what (you) (found|
    got)| everything above| the above| what just came out| what came out| what that printed
  `,
  extract: `
    list [out| me| us]| show [me| us]| extract| pull [out]| get [me| us]| give [me| us]| find [me| us]|
    collect| gather| print| display| quote [me| us]| read [me| us]| dig out| pick out| grab| fetch| pull up|
    cite| tell me| what are| highlight| grep
  `,
  headings: `
    headings| heading| headers| sections| section titles| section headings| chapters| chapter titles| titles|
    chapter headings| table of contents| toc| outline| structure| subheadings| main headings
  `,
  outline: `
    (outline| structure| toc| table of contents| skeleton| outline view) (of| for| in)| [show me| give me|
    show| print| get| display] [an| the] (outline| structure| toc| table of contents| skeleton) (of| for| in)|
    outline
  `,
  dates: 'dates|date|deadlines|due dates|days|timestamps|times|years|calendar dates|dates and times',
  figures: `
    figures| figure| numbers| number| amounts| sums| prices| percentages| percents| costs| totals| values|
    quantities| statistics| stats| money amounts| dollar amounts| numerical values| numeric values| metrics|
    measurements
  `,
  facts: 'facts|fact|key facts|definitions|statements|hard facts|main facts|key points|data points',
  addresses: `
    links| link| urls| url| emails| email addresses| e-mail addresses| addresses| email| web addresses|
    hyperlinks| e-mails
  `,
};
