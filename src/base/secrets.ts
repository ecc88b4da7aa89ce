// Owns the recognition of key-shaped strings. Memory and skills refuse them, logs and evidence redact them.
// Knows nothing of where a text goes. Invariant: linear in its input (every gap is bounded); a finding never carries the secret
// itself; words, paths, hashes, placeholders and names of variables are no secrets.

const PLACEHOLDER =
  /^(?:x+|\*+|\.+|_+|-+|<.*>?|\[.*\]?|\{.*\}?|%\w+%?|\$.*|(?:your|insert|enter|put|replace|example|sample|dummy|fake|test|placeholder|redacted|none|null|undefined|todo|changeme|change[_-]me)(?![a-z0-9])[\w.-]*|.*(?:your|example|placeholder|changeme|redacted|here)[_-]?(?:key|token|secret|password)?[_-]?(?:here)?|.*x{6,}.*|.*\*{4,}.*|.*\.{3})$/i;

/** What development set-ups use as password; no secret of anybody. */
const COMMON_VALUES = new Set(
  'password passw0rd pass pwd secret root admin administrator user guest test testing postgres mysql mariadb redis mongo rabbitmq minio minioadmin changeme default example localhost docker dev development demo 123456 12345678 password123 password1 admin123 qwerty letmein'.split(
    ' ',
  ),
);

/** Names that mix letters and digits and follow "password" or "token" in prose: managers, methods, formats. */
const KNOWN_NAMES =
  /^(?:1password|last-?pass|bit-?warden|kee-?pass\w*|vault|keychain|dash-?lane|base-?\d+|sha-?\d+|md5|aes-?\d+|argon2\w*|bcrypt\w*|scrypt|pbkdf2\w*|utf-?\d+|oauth-?\d*|oidc|saml2?|k8s|s3|ec2|ipv\d|rs256|hs256|es256|x509|ed25519|secp256k1|hex\d*|uuid\w*|v\d+)/i;

/** Does the value stand in for a secret instead of being one? */
function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || COMMON_VALUES.has(value.toLowerCase());
}

/**
 * Machine-made noise: after splitting at separators some piece changes between letters and digits, or between cases, as no word,
 * version, path or variable name does.
 */
function looksRandom(value: string): boolean {
  if (KNOWN_NAMES.test(value) || isPathOrCode(value)) return false;
  return value.split(/[-_./+~=:]/).some(isNoise);
}

function isNoise(piece: string): boolean {
  if (piece.length < 8) return false;
  if (/^[0-9a-f]{16,}$/i.test(piece)) return /\d/.test(piece) && /[a-f]/i.test(piece);
  const changes =
    piece.match(/(?<=[a-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[A-Z])(?=\d)|(?<=[a-z])(?=[A-Z])|(?<=[A-Z]{2})(?=[a-z])/g)
      ?.length ?? 0;
  return /\d/.test(piece) && /[A-Za-z]/.test(piece) && changes >= 3;
}

/** A password as people make them: letters with digits, and signs or both cases. */
function looksTyped(value: string): boolean {
  if (KNOWN_NAMES.test(value) || isPlaceholder(value) || isPathOrCode(value)) return false;
  const plain = value.replace(/[.!?:]+$/, '');
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[!@#$%^&*+=?~|]/].filter((kind) => kind.test(value)).length;
  return (
    plain.length >= 6 &&
    /[A-Za-z]/.test(plain) &&
    ((kinds >= 3 && /\d|[!@#$%^&*]/.test(value)) || /^[a-z]{3,}\d{1,6}!?$|^[a-z]+\d+[a-z]+\w*$/i.test(plain))
  );
}

/** `process.env.X`, `/etc/x`, `~/x`, `op://x`, `config.get(…`, `file.json`, `UPPER_CASE_NAME`, a web address. */
function isPathOrCode(value: string): boolean {
  return (
    /^(?:~|\.{1,2})?\/[a-z][\w.-]*(?:\/|$)/i.test(value) ||
    /^[a-z]{2,10}:\/\//i.test(value) ||
    /^(?:process|os|env|config|settings|secrets?|self|this|import)\b[.[]/i.test(value) ||
    /\.(?:json|ya?ml|toml|env|txt|md|pem|key|crt|ts|js|py|sh|conf|ini|db|com|org|net|io|dev)$/i.test(value) ||
    /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value)
  );
}

export interface SecretFinding {
  /** Which shape, e.g. `openai-key`, `private-key`. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

interface SecretShape {
  readonly kind: string;
  /** Group `secret`, where there is one, is the secret; else the whole match is. */
  readonly pattern: RegExp;
  /** Asked of the secret when the pattern alone does not prove it. */
  readonly accept?: (secret: string) => boolean;
}

/** Prefixes that are given out by one service and occur in nothing else. */
const ISSUED: readonly SecretShape[] = [
  {
    kind: 'private-key',
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?=[\s\\nr]{0,8}(?:[A-Za-z0-9+/]{16}|[A-Z][A-Za-z-]{2,20}: ))(?:[^-]|-(?!----)){0,16000}(?:-----END [A-Z ]{0,40}-----)?/g,
  },
  { kind: 'anthropic-key', pattern: /\bsk-ant-[\w-]{20,200}/g, accept: looksRandom },
  { kind: 'openai-key', pattern: /\bsk-(?:proj-|or-v1-|or-|svcacct-|admin-)?[\w-]{20,250}/g, accept: looksRandom },
  { kind: 'github-token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{30,255})/g },
  { kind: 'gitlab-token', pattern: /\bgl(?:pat|dt|rt|cbt)-[\w-]{20,100}/g, accept: looksRandom },
  { kind: 'slack-token', pattern: /\bx(?:ox[abeoprs]|app)-\d[\w-]{10,200}/g },
  { kind: 'aws-key-id', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g, accept: (secret) => /\d/.test(secret) },
  { kind: 'google-key', pattern: /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,60}|ya29\.[\w-]{30,500})/g },
  { kind: 'huggingface-token', pattern: /\bhf_[A-Za-z0-9]{30,100}/g },
  { kind: 'npm-token', pattern: /\bnpm_[A-Za-z0-9]{36}/g },
  { kind: 'pypi-token', pattern: /\bpypi-AgE[\w-]{40,300}/g },
  { kind: 'stripe-key', pattern: /\b(?:[rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{20,200}/g },
  { kind: 'telegram-token', pattern: /\b\d{8,10}:[\w-]{35}(?![\w-])/g, accept: looksRandom },
  { kind: 'sendgrid-key', pattern: /\bSG\.[\w-]{16,40}\.[\w-]{30,60}/g },
  { kind: 'age-key', pattern: /\bAGE-SECRET-KEY-1[A-Z0-9]{50,70}/g },
  {
    kind: 'service-token',
    pattern:
      /\b(?:gsk_|xai-|r8_|pplx-|tvly-|nvapi-|fw_|dop_v1_|doo_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|figd_|sbp_|dckr_pat_|glsa_|sntrys_|hvs\.|pscale_tkn_|rubygems_|PMAK-|key-)[\w-]{24,200}/g,
    accept: looksRandom,
  },
  { kind: 'json-web-token', pattern: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,2000}/g },
];

const NAMES =
  '(?:api[_-]?key|apikey|secret[_-]?key|secret[_-]?access[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|client[_-]?secret|signing[_-]?secret|secret|(?:access|auth|bearer|refresh|api|bot|session)[_-]?token|token)';
const PASSWORD_NAMES = '(?:password|passwd|passphrase|passwort|contraseña|mot de passe|pwd)';

/** A value that stands where secrets stand: the name proves the place, the look proves the value. */
const PLACED: readonly SecretShape[] = [
  {
    kind: 'url-password',
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,100}:(?<secret>[^\s/@]{3,200})@/gi,
    accept: (secret) => !isPlaceholder(secret),
  },
  {
    kind: 'assigned-secret',
    pattern: new RegExp(
      `${NAMES}["']?\\s{0,3}(?:=>|:=|[:=])\\s{0,3}["'\`]?(?<secret>[A-Za-z0-9_+/.~-]{12,200}={0,2})`,
      'gi',
    ),
    accept: looksRandom,
  },
  {
    kind: 'assigned-secret',
    pattern:
      /\b(?:(?:api|secret|access|private|auth|service|license|openai|anthropic|github|stripe|aws) key|token|secret)\s(?:is|was)\s{1,3}["'`]?(?<secret>[A-Za-z0-9_+/~-]{20,200}={0,2})/gi,
    accept: looksRandom,
  },
  {
    kind: 'password',
    pattern: new RegExp(
      `${PASSWORD_NAMES}["']?\\s{0,3}(?:=>|:=|[:=]|\\s(?:is|was|ist|es|est)\\s)\\s{0,3}["'\`]?(?<secret>[^\\s"'\`,;<>()]{6,100})`,
      'gi',
    ),
    accept: looksTyped,
  },
  {
    kind: 'bearer-token',
    pattern: /\bbearer[ \t]{1,4}(?<secret>[A-Za-z0-9_+/.~-]{20,500}={0,2})/gi,
    accept: looksRandom,
  },
  {
    kind: 'basic-credentials',
    pattern: /\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?basic[ \t]{1,4}(?<secret>[A-Za-z0-9+/]{12,400}={0,2})/gi,
    accept: (secret) => Buffer.from(secret, 'base64').includes(0x3a),
  },
];

const SHAPES: readonly SecretShape[] = [...ISSUED, ...PLACED];

/** Every key-shaped stretch of `text`, in order of appearance, without overlaps (the longer one of two that begin together). */
export function findSecrets(text: string): readonly SecretFinding[] {
  const found = SHAPES.flatMap((shape) => findShape(text, shape));
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  let end = 0;
  return found.filter((finding) => {
    if (finding.start < end) return false;
    end = finding.end;
    return true;
  });
}

function findShape(text: string, { kind, pattern, accept }: SecretShape): readonly SecretFinding[] {
  const found: SecretFinding[] = [];
  for (const match of text.matchAll(pattern)) {
    const secret = match.groups?.secret ?? match[0];
    if (isPlaceholder(secret) || (accept && !accept(secret))) continue;
    const start = match.index + match[0].lastIndexOf(secret);
    found.push({ kind, start, end: start + secret.length });
  }
  return found;
}

/** `text` with every finding, and every value of `known` (8 characters at least), replaced by `[redacted:<kind>]`. */
export function redactSecrets(text: string, known: readonly string[] = []): string {
  let out = text;
  for (const value of [...known].sort((a, b) => b.length - a.length)) {
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
