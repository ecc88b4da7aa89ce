// Owns finding the code in a reply: what stands in fences of JavaScript. Knows no API. An open fence counts: the reply was cut, and the
// sandbox says where it ends. Invariant: linear; prose, JSON and other languages are no code.
import { extractJson } from '../../text/extract-json.ts';

const CODE = new Set(['js', 'javascript', 'repl', 'mjs', 'ts', 'typescript', 'node']);
/** What a model writes there it made up: no code after it was meant for now. */
const MADE_UP = new Set(['output', 'result', 'stdout', 'console']);
const FENCE = /^[ \t]{0,8}(`{3,}|~{3,})[ \t]*([\w+-]{0,20})/;

interface Fenced {
  readonly mark: string;
  readonly language: string;
  readonly lines: string[];
}

/** Joined in their order; empty: there is none. */
export function codeBlocks(reply: string): string {
  const blocks: string[] = [];
  for (const { language, lines } of fences(reply)) {
    if (MADE_UP.has(language) && blocks.length > 0) break;
    const text = lines.join('\n').trim();
    if (isCode(language, text)) blocks.push(text);
  }
  return blocks.join('\n');
}

function* fences(reply: string): Generator<Fenced> {
  let open: Fenced | undefined;
  for (const line of reply.split('\n')) {
    const [, mark = '', language = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (mark !== '') open = { mark, language: language.toLowerCase(), lines: [] };
    } else if (mark.startsWith(open.mark)) {
      yield open;
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) yield open;
}

/** A fence without a language is code unless it is JSON or has nothing of code. */
function isCode(language: string, text: string): boolean {
  if (language !== '') return CODE.has(language) && text !== '';
  return /[;(){}=]/.test(text) && !(/^[[{]/.test(text) && extractJson(text).ok);
}
