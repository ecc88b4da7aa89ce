// Owns the taking off of what stands around a request: greeting, address, politeness, haste, thanks.
// Knows no language but the layers it is given. Invariant: quotations are never touched; something is always left.
import type { Layers } from '../language.ts';
import { maskQuotes } from './mask-quotes.ts';

const MOST_LAYERS = 12;

export function peelLine(text: string, layers: Layers): string {
  let rest = text.trim();
  for (let round = 0, before = ''; before !== rest && round < MOST_LAYERS; round += 1) {
    before = rest;
    for (const lead of layers.leads) rest = cut(rest, lead);
    for (const tail of layers.tails) rest = isPair(rest) ? rest : cut(rest, tail);
    if (before === rest) rest = withoutAsides(rest, layers);
  }
  return rest;
}

/** `make love`, `man up`: of two bare words neither is mere manners. */
function isPair(text: string): boolean {
  return /^\p{L}+ \p{L}+$/u.test(text);
}

function withoutAsides(text: string, layers: Layers): string {
  return layers.asides.reduce((rest, aside) => {
    const masked = maskQuotes(rest);
    const kept: string[] = [];
    let from = 0;
    for (const found of masked.matchAll(aside)) {
      kept.push(rest.slice(from, found.index));
      from = found.index + found[0].length;
    }
    return kept.length === 0 ? rest : `${kept.join('')}${rest.slice(from)}`.trim();
  }, text);
}

function cut(text: string, layer: RegExp): string {
  const found = layer.exec(maskQuotes(text));
  if (found === null || found[0] === '') return text;
  const left = `${text.slice(0, found.index)}${text.slice(found.index + found[0].length)}`.trim();
  return left === '' ? text : left;
}
