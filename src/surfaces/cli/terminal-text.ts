// Owns making text safe and readable at a terminal: no escape sequence of a file, tool or model ever reaches it.
// Knows no event. Invariant: output of `plain` holds no control character but newline and tab.

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: end

export function plain(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(ESCAPES, '').replace(CONTROLS, '');
}

const UNSEEN = /(?!\n|\t)[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u{FFF9}-\u{FFFB}\u2800]/gu;
/** Behind these what joins two pictures, or colours one, is seen. */
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\uFE0F?$/u;

/** `text` with all of it to be seen: what a person says yes to must not hide in what a terminal or an eye passes over. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSEEN, (character, at: number, whole: string) => {
    if (/\u200D|\uFE0F/.test(character) && PICTURE.test(whole.slice(Math.max(0, at - 3), at))) return character;
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** First line of `text`, safe, at most `max` characters. */
export function oneLine(text: string, max = 200): string {
  const line = plain(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}

export type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow' | 'cyan' | 'italic' | 'underline' | 'strike';

export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** With `colour` false every style is the identity (NO_COLOR, TERM=dumb, no terminal). */
export function createPaint(colour: boolean): Paint {
  if (!colour) return (_style, text) => text;
  return (style, text) => `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`;
}

export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function formatCost(cost: number | null): string {
  if (cost === null) return 'cost unknown';
  return cost === 0 ? '$0' : `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
