/**
 * Owns mending the text of one call object that no reading understood: lost quotation marks, colons, outer braces, wrong
 * brackets, full-width punctuation. A list of small rewrites; the caller reads the outcome again and takes it only if
 * nothing is left over, so a rewrite that guessed wrong costs nothing.
 */
type Rewrite = readonly [RegExp, string];

const REWRITES: readonly Rewrite[] = [
  // function=terminal> and parameter=command> without their first character
  [/(^|\n)[ \t]*((?:function=|parameter=|invoke name=|parameter name=)"?[\w.:-]+"?)>/g, '$1<$2>'],
  // {"name": "terminal"} {"arguments": {…}}
  [/\}\s*,?\s*\{\s*"(arguments|parameters|args)"/, ', "$1"'],
  // "name"： "x"， "arguments"：
  [/"\s*：\s*/g, '": '],
  [/(["}\]\d])\s*，\s*"/g, '$1, "'],
  // "command"; "ls"
  [/([{,]\s*"\w+")\s*;\s*(?=["{[\d])/g, '$1: '],
  // {name": …, arguments": …
  [/([{,]\s*)(\w+)"\s*:/g, '$1"$2":'],
  // {"command: "ls"
  [/([{,]\s*)"(\w+):\s*(?=["{[\d])/g, '$1"$2": '],
  // "name": "terminal, "arguments":
  [/(:\s*"[\w.:-]+),\s*(?="\w+"\s*:)/g, '$1", '],
  // "arguments": "command": "ls"
  [/("(?:arguments|parameters|args)"\s*:\s*)(?="\w+"\s*:)/g, '$1{'],
  // "command": "ls"]}
  [/(["\w}])\s*[)\]]\s*\}\s*$/, '$1}}'],
  // "command": "ls}}
  [/(:\s*"[^"]*[^"}\s])(\s*\}{1,3}\s*)$/, '$1"$2'],
];
const OUTER = /^\s*(?:"(?:name|tool_name|function|arguments)"|(?:name|tool_name|function))\s*:/;
const LISTED = /^\s*\[\s*("(?:name|arguments)"\s*:[\s\S]*)\]\s*$/;

/** The text with every rewrite that applies, or null when none does. */
export function repairedBody(text: string): string | null {
  let mended = text;
  if (OUTER.test(mended)) mended = `{${mended}}`;
  const listed = LISTED.exec(mended)?.[1];
  if (listed !== undefined) mended = `{${listed}}`;
  for (const [pattern, replacement] of REWRITES) mended = mended.replace(pattern, replacement);
  return mended === text ? null : mended;
}
