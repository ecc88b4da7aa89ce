// Owns the English words whose forms no suffix rule can find: `went` is `go`. Data; a language is a table.
// Invariant: both sides are lower case without apostrophes; a form has one lemma.

const GROUPS = `
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

/** Irregular form → lemma. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  GROUPS.split(';').flatMap((group) => {
    const [lemma, ...forms] = group.trim().split(/\s+/);
    return lemma === undefined ? [] : forms.map((form) => [form, lemma] as const);
  }),
);
