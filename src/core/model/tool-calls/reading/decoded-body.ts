/**
 * Owns undoing an escape that a model put over a whole call: HTML entities (`{&quot;name&quot;: …}`) or backslashes
 * (`{\\"name\\": …}`, the inside of a JSON string without its quotation marks). Text that begins otherwise is left alone,
 * since in an argument such characters mean themselves.
 */
const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#34;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};
const HTML = /^[[{\s]*(?:&quot;|&#34;|&apos;|&#39;)/;
const SLASHED = /^"?(?:\\[nrt]|[[{\s])*\\"/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' };

/** The text without its escapes, or null when none lies over it. */
export function decodedBody(text: string): string | null {
  if (HTML.test(text))
    return text.replace(/&(?:quot|apos|lt|gt|amp|#34|#39);/g, (entity) => ENTITIES[entity] ?? entity);
  if (!SLASHED.test(text)) return null;
  return text.replace(/^"/, '').replace(/\\([nrt"\\/])/g, (whole, letter: string) => ESCAPES[letter] ?? whole);
}
