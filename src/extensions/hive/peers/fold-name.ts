// Owns when two names look the same: forms of compatibility, case and invisible characters are no difference (R4.71). Pure.
// Invariant: folding a folded name changes nothing; line breaks and blanks stay, so that a whole line can be folded alike.

const ASCII = /^[\x20-\x7e]*$/;
/** What nobody sees; U+2800 is drawn as a blank. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export function foldName(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const seen = text.normalize('NFKC').replace(UNSEEN, '');
  return seen.toUpperCase().toLowerCase().normalize('NFKC').replace(UNSEEN, '');
}
