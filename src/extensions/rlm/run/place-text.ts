// Owns how a place in a source is written: `path:line` or `path:first-last`. Pure.
import type { SourcePlace } from './run-outcome.ts';

export function placeText({ source_path, start_line, end_line }: SourcePlace): string {
  return `${source_path}:${start_line === end_line ? start_line : `${start_line}-${end_line}`}`;
}
