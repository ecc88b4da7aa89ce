// Owns splitting a text file into its front matter and its body. Knows no YAML: the front matter stays text here.
// Invariant: linear, never throws, and `front` + fences + `body` are the whole text; a language tag (`---js`) is no front matter.

export interface FrontMatter {
  /** Text between the fences, without them; undefined when the file has none. */
  readonly front: string | undefined;
  /** The rest, beginning after the closing fence's line end. */
  readonly body: string;
}

const FENCE = /^---[ \t]*$/;

/** Splits on a first line `---` and the next line `---` or `...`. Without a closing fence the whole text is body. A BOM is dropped. */
export function splitFrontMatter(text: string): FrontMatter {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const first = lineAt(source, 0);
  if (!FENCE.test(first.text)) return { front: undefined, body: source };
  for (let at = first.next; at < source.length; ) {
    const line = lineAt(source, at);
    if (FENCE.test(line.text) || line.text.trimEnd() === '...') {
      return { front: source.slice(first.next, at), body: source.slice(line.next) };
    }
    at = line.next;
  }
  return { front: undefined, body: source };
}

/** The line that begins at `from`, without its end (`\n` or `\r\n`), and where the next one begins. */
function lineAt(text: string, from: number): { readonly text: string; readonly next: number } {
  const end = text.indexOf('\n', from);
  const stop = end === -1 ? text.length : end;
  const line = text.slice(from, stop);
  return { text: line.endsWith('\r') ? line.slice(0, -1) : line, next: end === -1 ? text.length : end + 1 };
}
