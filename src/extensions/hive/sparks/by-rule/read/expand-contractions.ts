// Owns writing contractions out, so that patterns need to know one form of each. English. Pure.

const RULES: readonly (readonly [RegExp, string])[] = [
  [/[’`]/g, "'"],
  [/\bcan't\b/gi, 'can not'],
  [/\bcannot\b/gi, 'can not'],
  [/\bwon't\b/gi, 'will not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|need|must|might)n't\b/gi, '$1 not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should)nt\b/gi, '$1 not'],
  [/\bi'?m\b/gi, 'I am'],
  [/\b(we|you|they)'re\b/gi, '$1 are'],
  [/\b(he|she|it)'s\b/gi, '$1 is'],
  [/\b(i|we|you|they)'ve\b/gi, '$1 have'],
  [/\b(i|we|you|he|she|they|it)'ll\b/gi, '$1 will'],
  [/\b(i|we|you|he|she|they|it)'d\b/gi, '$1 would'],
  [/\b(?:going to|gonna)\b/gi, 'will'],
  [/\bused to\b/gi, 'formerly'],
  [/\bwanna\b/gi, 'want to'],
];

export function expandContractions(text: string): string {
  let expanded = text;
  for (const [pattern, written] of RULES) expanded = expanded.replace(pattern, written);
  return expanded;
}
