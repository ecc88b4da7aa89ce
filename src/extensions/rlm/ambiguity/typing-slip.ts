// Owns whether two words differ by one slip of the hand: a letter too many, one left out, or two swapped. Another letter makes too often
// another word: "contract" is no "contrast". Pure; linear in the words.

/** Under this length one letter makes another word. */
const SHORTEST = 4;

export function isTypingSlip(written: string, meant: string): boolean {
  if (meant.length < SHORTEST || Math.abs(written.length - meant.length) > 1 || written[0] !== meant[0]) return false;
  let at = 0;
  while (at < meant.length && written[at] === meant[at]) at += 1;
  const [left, right] = [written.slice(at), meant.slice(at)];
  return (
    left.slice(1) === right ||
    left === right.slice(1) ||
    (left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2))
  );
}
