// Owns the recognition of key-shaped strings. Memory and skills refuse them, logs and evidence redact them.
// Knows nothing of where a text goes. Invariant: linear in its input; a finding never carries the secret itself.

export interface SecretFinding {
  /** Which shape, e.g. `openai-key`, `private-key`. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

const SHAPES: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: 'private-key', pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/g },
  { kind: 'anthropic-key', pattern: /\bsk-ant-[\w-]{20,200}/g },
  { kind: 'openai-key', pattern: /\bsk-(?:proj-|or-|svcacct-)?[\w-]{20,200}/g },
  { kind: 'github-token', pattern: /\b(?:gh[pousr]_\w{30,255}|github_pat_\w{30,255})/g },
  { kind: 'gitlab-token', pattern: /\bglpat-[\w-]{20,100}/g },
  { kind: 'slack-token', pattern: /\bxox[abeoprs]-[\w-]{10,200}/g },
  { kind: 'aws-key-id', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { kind: 'google-key', pattern: /\bAIza[\w-]{35}/g },
  { kind: 'huggingface-token', pattern: /\bhf_[A-Za-z0-9]{30,100}/g },
  { kind: 'npm-token', pattern: /\bnpm_[A-Za-z0-9]{36}/g },
  { kind: 'stripe-key', pattern: /\b[rs]k_(?:live|test)_\w{20,200}/g },
  { kind: 'telegram-token', pattern: /\b\d{8,10}:[\w-]{35}\b/g },
  { kind: 'json-web-token', pattern: /\beyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,2000}/g },
  { kind: 'url-password', pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:([^\s/@]{3,200})@/gi },
  {
    kind: 'assigned-secret',
    pattern:
      /\b(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?token|auth[_-]?token|password|passwd|client[_-]?secret)["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9_+/.~-]{12,200}={0,2})/gi,
  },
  { kind: 'bearer-token', pattern: /\bbearer\s+([A-Za-z0-9_+/.~-]{20,500}={0,2})/gi },
];

/** Every key-shaped stretch of `text`, in order of appearance, without overlaps. */
export function findSecrets(text: string): readonly SecretFinding[] {
  const found: SecretFinding[] = [];
  for (const { kind, pattern } of SHAPES) {
    for (const match of text.matchAll(pattern)) {
      const secret = match[1] ?? match[0];
      if (isPlaceholder(kind, secret)) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      found.push({ kind, start, end: start + secret.length });
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  return found.filter((finding, i) => found.slice(Math.max(0, i - 4), i).every((earlier) => earlier.end <= finding.start));
}

/** `text` with every finding, and every value of `known`, replaced by `[redacted:<kind>]`. */
export function redactSecrets(text: string, known: readonly string[] = []): string {
  let out = text;
  for (const value of known) {
    if (value.length >= 8) out = out.replaceAll(value, '[redacted:known]');
  }
  let result = '';
  let at = 0;
  for (const { kind, start, end } of findSecrets(out)) {
    result += `${out.slice(at, start)}[redacted:${kind}]`;
    at = end;
  }
  return result + out.slice(at);
}

const NEEDS_MIXTURE = new Set(['assigned-secret', 'bearer-token', 'url-password']);

function isPlaceholder(kind: string, secret: string): boolean {
  if (/^(?:x+|\*+|\.+|<.*>|your[\w-]*|example[\w-]*|changeme\w*|\$\{?\w+\}?)$/i.test(secret)) return true;
  return NEEDS_MIXTURE.has(kind) && kind !== 'url-password' && !(/\d/.test(secret) && /[a-z]/i.test(secret));
}
