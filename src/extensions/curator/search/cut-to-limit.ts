// Owns cutting a text to what a model is given of it (curator notes 6): counted in code points, the mark of the cut counted in. Pure.
import { codeLength, firstPoints } from '#base/text/code-points.ts';

const MARK = '\n[truncated]';

/** Never more than `limit` code points; what was cut ends with `mark`. */
export function cutToLimit(text: string, limit: number, mark: string = MARK): string {
  if (text.length <= limit || codeLength(text) <= limit) return text;
  return `${firstPoints(text, limit - codeLength(mark))}${mark}`;
}
