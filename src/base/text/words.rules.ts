// Owns two tables of English words: those whose forms no suffix rule can find (`went` is `go`), and those that say nothing about what a text is
// about. Data; another language is another table. Invariant: lower case without apostrophes; a form has one lemma.

/** Each row: the lemma, then its forms. */
export const IRREGULAR_FORMS = `
  go went gone goes; buy bought; see saw seen; make made; take took taken; give gave given; find found;
  think thought; begin began begun; write wrote written; swim swam swum; win won; lose lost; meet met;
  teach taught; catch caught; bring brought; feel felt; leave left; keep kept; sleep slept; speak spoke spoken;
  break broke broken; choose chose chosen; drive drove driven; ride rode ridden; eat ate eaten;
  fall fell fallen; fly flew flown; grow grew grown; know knew known; draw drew drawn; throw threw thrown;
  sing sang sung; drink drank drunk; wear wore worn; hear heard; build built; spend spent; send sent;
  sell sold; pay paid; hold held; stand stood; understand understood; become became; come came; sit sat;
  tell told; say said; lead led; rise rose risen; shake shook shaken; steal stole stolen; wake woke woken;
  hide hid hidden; bite bit bitten; blow blew blown; fight fought; seek sought; run ran; lie lay lain;
  hang hung; shoot shot; stick stuck; strike struck; swear swore sworn; tear tore torn; bend bent; lend lent;
  mean meant; deal dealt; dream dreamt; learn learnt; burn burnt; forget forgot forgotten; forgive forgave;
  get got gotten; do did done; freeze froze frozen; sew sewn; show shown; light lit; feed fed; dig dug;
  spin spun; child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice;
  goose geese; wife wives; life lives; knife knives; leaf leaves; wolf wolves; shelf shelves; half halves;
`;

/** They are neither indexed nor asked for. */
export const STOP_WORDS = `
  a about after again against all also am an and any are as ask asked at be because been before being below between both but by can
  could d did do does doing done dont during each few for from further get got had has have having he her here hers him his how i if im
  in into is it its itself ive just kind ll lot m me mention mentioned might mine more most must my no nor not now of off on once one only
  or other our ours out over own re really s said same say shall she should so some something such t talk tell than that thats the their
  theirs them then there these they thing this those through to told too type under until up ve very was we were what when where which
  while who whom whose why will with would you your youre yours
`;
