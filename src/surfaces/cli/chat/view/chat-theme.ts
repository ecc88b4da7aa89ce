// Owns the look of the chat: which style each kind of text has. Knows no component's state. Without colour all styles are plain.
import type { EditorTheme, MarkdownTheme } from '@earendil-works/pi-tui';
import type { EventLine } from '../../event-lines.ts';
import type { Paint, Style } from '../../terminal-text.ts';

export function markdownTheme(paint: Paint): MarkdownTheme {
  return {
    heading: (text) => paint('bold', text),
    link: (text) => paint('underline', text),
    linkUrl: (text) => paint('dim', text),
    code: (text) => paint('cyan', text),
    codeBlock: (text) => text,
    codeBlockBorder: (text) => paint('dim', text),
    quote: (text) => paint('italic', text),
    quoteBorder: (text) => paint('dim', text),
    hr: (text) => paint('dim', text),
    listBullet: (text) => paint('cyan', text),
    bold: (text) => paint('bold', text),
    italic: (text) => paint('italic', text),
    strikethrough: (text) => paint('strike', text),
    underline: (text) => paint('underline', text),
  };
}

export function editorTheme(paint: Paint): EditorTheme {
  const dim = (text: string) => paint('dim', text);
  return {
    borderColor: dim,
    selectList: {
      selectedPrefix: (text) => paint('cyan', text),
      selectedText: (text) => paint('cyan', text),
      description: dim,
      scrollInfo: dim,
      noMatch: dim,
    },
  };
}

const MARKS: Readonly<Record<EventLine['kind'], string>> = {
  tool: '⏺ ',
  result: '  ⎿ ',
  diff: '',
  error: '  ⎿ ',
  notice: '· ',
  answer: '',
  output: '',
  end: '',
};

const DIFF_STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan' };

export function paintLine(line: EventLine, paint: Paint): string {
  const text = MARKS[line.kind] + line.text;
  switch (line.kind) {
    case 'tool':
      return paint('cyan', text);
    case 'error':
      return paint('red', text);
    case 'notice':
      return paint('yellow', text);
    case 'diff':
      return paint(DIFF_STYLES[line.text[0] ?? ''] ?? 'dim', text);
    case 'result':
    case 'end':
      return paint('dim', text);
    case 'answer':
    case 'output':
      return text;
  }
}
