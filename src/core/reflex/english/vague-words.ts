// Owns the English words that name nothing by themselves: adjectives and nouns for whatever is meant. Data only.
// Invariant: a name made only of these is no argument; the owner is asked which one is meant (reflex 8).

/** Beside `folder` or `file` they tell one from another, for somebody who sees them, or say what it does. */
export const vagueAdjectives = `
  other another same right wrong correct new newer newest old older oldest big bigger biggest small smaller smallest large huge tiny
  little long longer longest short shorter shortest first second third last next previous latest recent current certain specific particular special usual normal
  good better best bad worse worst nice great fine cool ugly funny weird strange odd important interesting relevant related useful
  whole entire full complete empty missing lost hidden secret original final main only single own whichever whatever
  different similar various several many few more most less least all both each every some any no none
  contain contains containing hold holds include includes have has say says look looks mean means need needs like please
  random arbitrary typical top bottom upper lower middle favourite favorite usual former latter boring
  said given appropriate respective proper actual real exact very damn bloody stupid silly dumb fucking freaking
`;

/** Things, people, and the parts of a text, whichever they are. */
export const vagueNouns = `
  thing things thingy stuff item items object objects one ones bit bits part parts piece pieces place places spot point points matter
  guy guys man men woman women person persons people girl boy lady dude kid kids someone somebody anyone anybody everyone everybody nobody
  something anything everything nothing somewhere anywhere
  word words phrase phrases text texts string strings term terms name names number numbers line lines row rows sentence sentences paragraph paragraphs
  page pages section sections chapter title titles letter letters character characters symbol symbols pattern expression keyword
  document documents doc docs file files folder folders directory directories dir dirs subfolder subfolders path list lists
  code function functions class classes method methods variable variables
  book books song songs picture pictures image images photo photos movie film answer answers question questions result results
  content contents info information data entry entries mention mentions occurrence occurrences match matches usage usages reference references instance instances
  box bag area section bunch pile set group kind kinds sort type way time
`;

/** Small words that may stand between them. */
export const vagueLinks = `
  the a an my our your this that these those it its their his her of in on at to for from with by within inside under about into as
  and or me i you we us them they he she here there which what who where that's is are was were be do does did has have had
  like called named too also again please else
`;
