// Owns the ContextSource over a text in memory: a piece that a sub-call works on, and tests.
import { sha256 } from '#base/ids.ts';
import { wellFormed } from '#base/text.ts';
import { textReader } from './byte-reader.ts';
import { LineCounter } from './line-marks.ts';
import { PartedSource } from './parted-source.ts';

/** `path` is how places name it. */
export function textSource(text: string, path = 'text'): PartedSource {
  const whole = wellFormed(text);
  const bytes = Buffer.from(whole, 'utf8');
  const counter = new LineCounter();
  counter.add(bytes);
  const part = { path, hash: `sha256:${sha256(bytes)}`, marks: counter.marks() };
  return new PartedSource([part], textReader(bytes), { kind: 'text', text: whole, path });
}
