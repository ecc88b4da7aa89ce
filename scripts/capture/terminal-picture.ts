/** Owns turning what `tmux capture-pane -e` gives into a picture: text with its colours and weights, one `tspan` for each run. Pure. */

const WIDE = 8.4;
const HIGH = 17;
const EDGE = 12;

interface Style {
  readonly colour: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isUnderlined: boolean;
}

const PLAIN: Style = { colour: '', isBold: false, isDim: false, isUnderlined: false };
const CHANGES: Readonly<Record<number, Partial<Style>>> = {
  ...{ 0: PLAIN, 1: { isBold: true }, 2: { isDim: true }, 4: { isUnderlined: true } },
  ...{ 22: { isBold: false, isDim: false }, 24: { isUnderlined: false }, 39: { colour: '' } },
  ...{ 31: { colour: '#f7768e' }, 32: { colour: '#9ece6a' }, 33: { colour: '#e0af68' }, 36: { colour: '#7dcfff' } },
};

export function svgOf(captured: string, title: string, [columns = 80, rows = 24]: readonly number[]): string {
  const [width, height] = [Math.ceil(columns * WIDE) + 2 * EDGE, rows * HIGH + 2 * EDGE];
  let style = PLAIN;
  const lines = captured
    .split('\n')
    .slice(0, rows)
    .map((line, at) => {
      const runs: string[] = [];
      let column = 0;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it reads what a terminal was told
      for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
        if (part.startsWith('\u001b')) style = restyled(style, part);
        else if (part !== '') {
          // Blanks at an edge or in a row would be lost: what stands between them is placed by itself.
          for (const { 0: words, index } of part.matchAll(/\S+(?: \S+)*/g))
            runs.push(run(words, style, EDGE + (column + [...part.slice(0, index)].length) * WIDE));
          column += [...part].length;
        }
      }
      return `<text y="${EDGE + (at + 0.8) * HIGH}">${runs.join('')}</text>`;
    });
  const font = 'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" fill="#c0caf5"';
  const box = `<rect width="${width}" height="${height}" rx="6" fill="#1a1b26"/>`;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>`;
  return `${[open, `<title>${title}</title>`, box, ...lines, '</svg>'].join('\n')}\n`;
}

function run(text: string, { colour, isBold, isDim, isUnderlined }: Style, x: number): string {
  const marks = [
    ...[`x="${x.toFixed(1)}"`, `textLength="${([...text].length * WIDE).toFixed(1)}"`],
    ...(colour === '' ? [] : [`fill="${colour}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
    ...(isDim ? ['opacity="0.6"'] : []),
    ...(isUnderlined ? ['text-decoration="underline"'] : []),
  ];
  const safe = text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  return `<tspan ${marks.join(' ')}>${safe}</tspan>`;
}

/** A sequence without numbers is a 0. */
function restyled(style: Style, code: string): Style {
  const numbers = code.slice(2, -1).split(';').map(Number);
  return Object.assign({}, style, ...numbers.map((number) => CHANGES[number]));
}
