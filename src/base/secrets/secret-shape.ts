// Owns the look of a secret: what is machine-made noise, what a person typed as a password, and what only stands in for either.
// Knows no service and no place in a text. Invariant: pure, linear in the string.

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
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || COMMON_VALUES.has(value.toLowerCase());
}

/**
 * Machine-made noise: after splitting at separators some piece changes between letters and digits, or between cases, as no word,
 * version, path or variable name does.
 */
export function looksRandom(value: string): boolean {
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
export function looksTyped(value: string): boolean {
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
