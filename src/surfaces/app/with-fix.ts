// Owns joining what went wrong and what to do about it into one text. Knows no error.
// Invariant: two sentences stay two sentences, whether or not the first one came with its full stop.

export function withFix(message: string, fix: string | undefined): string {
  if (!fix) return message;
  const first = message.trimEnd();
  return /[.!?:…]["'”’)\]]?$/u.test(first) ? `${first} ${fix}` : `${first}. ${fix}`;
}
