// Owns by which names a peer is spoken of: an agent `hermes-of-carol` speaks for Carol (notes on seed 004, naming). Pure.

/** Words of an agent's name that name nobody. */
const ROLES = new Set(['hermes', 'agent', 'of', 'bot', 'the', 'assistant', 'ai', 'my', 'for']);
/** Words that begin a sentence and are no name. */
const OPENERS =
  /^(?:The|This|That|These|My|Our|Your|His|Her|Their|Its|I|We|You|He|She|They|It|A|An|Expert|Specialist|Looking|Needs?|Wants?|Offers?|Seeking|Specializ\w+|Specialis\w+|Works?|Knows?|Can|Has|Is|Also|And|But|For|In|On|With|As|At|Hi|Hello|Hey|Please|Both|Someone|Everyone|Senior|Junior|Friend|Help|Provides?|Maintains?|Builds?|Runs?|Experienced)$/;

/** Lower case. */
export function ownNames(peerName: string): ReadonlySet<string> {
  const whole = peerName.toLowerCase();
  const [, person] = whole.split(/[-_.]of[-_.]/);
  const parts = (person ?? whole).split(/[-_.]/).filter((part) => part.length > 1 && !ROLES.has(part));
  const names = [whole, ...(person === undefined ? [] : [person]), ...parts];
  return new Set(names.flatMap((name) => [name, name.replace(/\d+$/, '')]).filter((name) => name !== ''));
}

/** When an introduction uses none of the names, whoever it begins with is the one who is introduced. */
export function withIntroduced(names: ReadonlySet<string>, introduction: string): ReadonlySet<string> {
  const words: readonly string[] = introduction.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  if (words.some((word) => names.has(word) || names.has(word.replace(/[.-]+$/, '')))) return names;
  const first = /^\s*(\p{Lu}[\p{L}-]+)/u.exec(introduction)?.[1];
  return first === undefined || OPENERS.test(first) ? names : new Set([...names, first.toLowerCase()]);
}
