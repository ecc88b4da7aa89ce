// Owns English as reflex knows it: words and fixed texts, no logic. Forms of a rule stand beside the rule.
// Knows no tool. Invariant: data only; another language is another folder of the same shape.
import type { Language } from '../language.ts';
import { meanings, phrases } from '../line/phrases.ts';
import { beyond } from './beyond.ts';
import { classes } from './classes.ts';
import { guards } from './guards.ts';
import { layers } from './layers.ts';
import * as manners from './manners.ts';
import { slots } from './slots.ts';
import { time } from './time.ts';
import * as vagueWords from './vague-words.ts';

export const english: Language = {
  name: 'en',
  classes,
  ...manners,
  ...vagueWords,
  fillers: `
    the a an please pls plz just quickly kindly me us real quick now then also simply actually again so right
    still basically maybe um uh er well okay ok there both quick really exactly literally
  `,
  commonWords: `
    pip the a an and or but if then else when while for from into with without within about above after before
    again against all also am any are as at be because been being below between both by can could did do does
    doing down during each few fine fond fund further had has have having he her here hers him his how i in is
    it its just last late left lest less let lift like line lint lisp live load long look lost love lust made
    main make many may me mean might mind mine more most much must my near need never new next no nor not note
    now of off on once one only or other our out over own paint past plan play please point post pull push put
    rear reed road real ready really rest right said same sale sane safe saw say seal seed seek seem seen
    sell send sent set shall she shoe shop shot should side sign since sing site size slow snow so some soon
    sort stay still stop such sure take talk tell ten test text than that their them then there these they
    open run pop command file folder show thing think this those three time to told too took top try turn two under until up upon us use used very
    view vote want was watch way we week well went were what where which while who whom why will wish with
    word work world would year yes yet you your forge forgot research reach road rod shoe slave shave stare
    start starts stat state prince sprint hide hint held help list lists found finding finds ran running runs
    reading reads shown opened opens saved savings recalls remembered reminds member september remove removed
    correct corrects erase phone music dinner movie coffee email mail internet web weather news google
    wrote written made changed deleted created edited forgot meant knows nope nah nop connection connections collection direction whatsit thingy thingamajig whatchamacallit doodad gizmo thingamabob whatnot gubbins doohickey stuff
    trust hate prefer believe understand enjoy admire deserve whatever whichever whoever whenever something anything nothing everything someone anyone everyone somewhere anywhere me myself yourself life
    love heart soul head hand house home street way money people man men woman women kid kids dog cat food milk bread car bus train job boss friend friends mother father mom dad sister brother wife husband door window weather sky sea sun moon star king queen city country capital president story joke poem song game book page number name day night morning evening today tomorrow yesterday
  `,
  determiners: 'the a an my our your this that these those its their his her some any',
  placeWords: 'in inside within under across throughout underneath below beneath everywhere anywhere somewhere here',
  spokenMarks: { slash: '/', dot: '.', underscore: '_', hyphen: '-' },
  looseWords: `
    i me my mine we us our you your u ya it its this that these those they them he she one there here
    am is are was were be been being do does did have has had got get gets can could would will may might shall
    the a an some any all every each both whole entire full complete
    of in on at to for from by with within inside into under through across about over around among along and or as than so then now just only also too even still yet
    please pls plz kindly thanks thx dear friend which what where who that's whats s t d ll re ve m
    seem seems think believe guess want wants need needs like try trying make makes let lets give gives go goes going come
    really very quite rather exactly actually currently right real quick possible possibly maybe perhaps somewhere anywhere everywhere else
    thing things stuff bit piece lot sort kind kinds part parts
    named called titled name names title exist exists existing located present left lying kicking sitting hanging around
    little small
    happen happens whatever wanting wish wishing rather like supposed kind sort nicely properly neatly
    yes ok okay hey hi hello well oh um uh er
  `,
  layers,
  guards,
  beyond,
  slots,
  time,
  answers: {
    yes: phrases(`
      yes | y | yep | yeah | yup | sure | ok | okay | do it | go ahead | go | confirm | confirmed |
      yes please | please do | of course | aye | correct | right | affirmative | proceed | go for it |
      yes do it | yes go ahead | sure go ahead | ok do it |
    `),
    no: phrases(`
      no | n | nope | nah | cancel | nothing | none | never mind | nevermind | stop | do not | neither |
      none of them | none of these | no thanks | no thank you | abort | forget it | skip | leave it |
      not now | no do not |
    `),
    ordinals: meanings(`
      1 = first | 1st | one | former | a
      2 = second | 2nd | two | latter | b
      3 = third | 3rd | three | c
      4 = fourth | 4th | four | d
      5 = fifth | 5th | five
      -1 = last
      6 = six
    `),
    around: 'the option number choice one pick choose take please i want would like no # go with answer is it',
  },
  templates: {
    refusal:
      'I am reflex/1: fixed rules, no language model. I run, read, list, find, save, remember and recall (/help shows how); this needs a model that understands it.\nAdd one with `/model add` (or `talaria setup` in a shell). Your question is kept, and I offer it to the model as soon as there is one.',
    notOwner: 'reflex/1 answers only lines that the owner typed.',
    which: 'Which do you mean?',
    confirmGuess: 'I am not sure. Did you mean this?',
    nothing: 'nothing of this',
    nothingDone: 'Nothing was done.',
    howToChoose: 'Answer with a number.',
    toolMissing: 'This needs the tool `{}`, which is not available in this session.',
    tooManySteps: 'I stop here: this took more steps than a rule may take.',
    moreLines: '… {} more lines',
  },
};
