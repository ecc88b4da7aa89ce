// Owns which words of a sentence may be added or left out when a passage is shortened, and which never: what limits, turns, supposes or
// reports what the passage says. Data, English and German. Knows no sentence. Invariant: a word is free or limiting, never both.
import { isNegator } from '#mind/evidence/trace-guard/polar-words.ts';

const TURNING: ReadonlySet<string> = new Set(
  `false falsely untrue wrong wrongly incorrect incorrectly inaccurate mistaken mistakenly myth hoax lie lies contrary opposite refuted
  refutes disproved disproven disproves debunked contradicted contradicts fake pretended allegedly supposedly doubtful doubted`.split(
    /\s+/,
  ),
);

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const ARTICLES = words('a an the der die das den dem des ein eine einen einem einer eines');
const BEING = words("is are was were be been being am it's that's there's ist sind war waren");
const HAVING = words('have has had having do does did hat haben hatte hatten');
const POINTING = words('that which this these those it there of');

const LIMITING = words(`
  if when whenever unless except excluding only without until till while whereas although though otherwise but or either because since so
  despite lest provided supposing whether once nothing nowhere few fewer fewest less least little more most many much some several any all
  every each both half third quarter about around approximately roughly circa almost nearly hardly barely scarcely rarely seldom sometimes
  often usually mostly mainly partly partially generally typically normally temporarily up under over above below within between before
  after during may might could should would will shall can must cannot ought perhaps maybe possibly probably likely unlikely apparently
  seemingly reportedly claim claims claimed claiming allege alleges alleged say says said saying report reports reported believe believes
  believed think thinks thought suppose supposed suggest suggests suggested assume assumes assumed suspect suspected rumour rumoured rumor
  rumored pretend pretends according supposedly deny denies denied denying doubt doubts refuse refuses refused fail fails failed failing
  forbid forbids forbidden forbade prohibit prohibits prohibited prevent prevents prevented avoid avoids avoided try tries tried attempt
  attempts attempted want wants wanted wish wishes wished hope hopes hoped plan plans planned planning intend intends intended expect
  expects expected propose proposes proposed promise promises promised used former formerly previously no-longer instead rather than too
  other others else even deprecated removed withdrawn cancelled canceled revoked optional optionally exactly
  wenn falls ausser außer nur ohne bis aber oder weil sofern solange obwohl sondern wenige weniger viele mehr meiste meisten manche einige
  alle jede jeder jedes etwa ungefähr rund fast kaum selten manchmal meist meistens höchstens mindestens darf dürfen kann können könnte
  soll sollen sollte würde wird muss müssen vielleicht angeblich behauptet behaupten sagt sagte laut niemand nichts`);

const RELATING = words(`
  to from by for with at on in into onto out off through across against among toward towards upon via per behind beside between before
  after under over above below since until till than as near like about around during within without zu von bei mit nach aus für durch
  gegen um an auf im am in vor hinter über unter zwischen seit`);

export type WordClass = 'article' | 'being' | 'having' | 'pointing' | 'limiting' | 'relating' | 'other';

/** One word in lower case. */
export function wordClass(word: string): WordClass {
  if (ARTICLES.has(word)) return 'article';
  if (BEING.has(word)) return 'being';
  if (HAVING.has(word)) return 'having';
  if (POINTING.has(word)) return 'pointing';
  if (isLimiting(word)) return 'limiting';
  return RELATING.has(word) ? 'relating' : 'other';
}

function isLimiting(word: string): boolean {
  return LIMITING.has(word) || TURNING.has(word) || isNegator(word.replaceAll("'", ''));
}

/** Stands between its neighbours like a preposition, whatever else it does. */
export function isRelating(word: string): boolean {
  return RELATING.has(word) || word === 'of';
}
