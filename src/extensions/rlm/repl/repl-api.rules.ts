// Owns the words in which the API of the REPL is told: to the model that writes code, and in the docs. Data; the prelude implements it.
// Invariant: every name of the API stands here, and nothing that is not there; changing a word costs the replays of older runs.

export interface ReplCall {
  readonly call: string;
  /** What it gives, one sentence. */
  readonly gives: string;
}

export const REPL_CALLS: readonly ReplCall[] = [
  { call: 'context.length, context.lineCount, context.files', gives: 'bytes, lines, and [{path, start, end}].' },
  { call: 'context.slice(start, end)', gives: 'text of a byte range, at most 4000000 bytes.' },
  {
    call: 'context.line(n), context.lines(first, last)',
    gives: 'one text, without the last line end; lines count from 1.',
  },
  {
    call: 'context.lineRange(first, last), context.lineAt(byte)',
    gives: '{start, end, startLine, endLine} without reading; a line number.',
  },
  { call: 'context.find(text, from = 0)', gives: 'byte offset of the next occurrence, -1: none.' },
  {
    call: 'context.search(text or RegExp, {max = 100, from = 0})',
    gives:
      'hits [{line, start, end, text, at, match}]: text, start and end are of the line (of a long line: around the match), at is the byte of the match; hits.more is true when there are more: go on from the last at + 1. A RegExp sees one line at a time.',
  },
  {
    call: 'context.chunks({lines or bytes, overlap = 0})',
    gives: 'iterates over {start, end, startLine, endLine}, in order, each inside one file; default 50000 bytes.',
  },
  { call: 'print(...values)', gives: 'shows values to you; long output is cut. console.log is the same.' },
  {
    call: 'span(start, end), span(hit), span(chunk)',
    gives:
      'a handle on that text, at most 1000000 bytes: {id, kind, text, start, end}; in a template it stands as [h1].',
  },
  { call: 'handle(id)', gives: 'a handle made before, when its variable is gone.' },
  {
    call: 'await llmQuery(question, piece, {model})',
    gives:
      '{ok, text, value, claims}: a model answers about a piece; value is the answer as data when it is JSON (ask for JSON), else the text; claims are handles on whole sentences of the piece. A piece is a handle, hit or chunk; a plain text is read too, but its claims count for nothing. At most 1000000 characters. model, one of models, may be left out.',
  },
  {
    call: 'await llmQueryBatched([{question, piece, model}, …])',
    gives:
      'the replies in the same order; all are asked at once. Of more than are left the first are asked, the others have ok: false.',
  },
  {
    call: 'await rlmQuery(question, piece)',
    gives:
      'the same from a model with a REPL of its own over the piece, for pieces too long to read at once: a range of any size, or context. Several at once with Promise.all.',
  },
  {
    call: 'compute(fn, ...inputs)',
    gives:
      'a handle on what fn makes of the inputs: handles (a span or claim comes as text, a computed one as its value) or context. fn runs twice in a fresh sandbox and sees nothing else: no outer variables, no print; it gives JSON. h.value is the result.',
  },
  {
    call: 'finish(answer)',
    gives: 'ends the run: [{text, handles: [h, …]}, …] or a text with marks like [h1] behind each sentence.',
  },
];

const NOTES = [
  'Offsets are bytes. Variables of the top level (also const, let, class, function) stay for the next block and can be declared again.',
  'await works at the top level. There is no clock, no chance, no timer, no import, no file, no network; return works in functions only.',
  'A block that computes too long or takes too much memory loses all variables; handles of earlier blocks stay.',
];

/** For prompts: one line a call. */
export const REPL_API: string = [
  'API of the REPL:',
  ...REPL_CALLS.map(({ call, gives }) => `- ${call}: ${gives}`),
  ...NOTES,
].join('\n');
