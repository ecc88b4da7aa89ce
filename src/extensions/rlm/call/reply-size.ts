// Owns how long a reply may be: about eight characters for each token that was granted, whoever answers. Shapes nothing else.
const CHARS_A_TOKEN = 8;

/** UTF-16 units. */
export function longestReply(max_output_tokens: number): number {
  return Math.max(1, max_output_tokens) * CHARS_A_TOKEN;
}

export function tooLong(chars: number, max_output_tokens: number): string {
  return `the reply has more than ${chars} characters; ${max_output_tokens} tokens were granted`;
}
