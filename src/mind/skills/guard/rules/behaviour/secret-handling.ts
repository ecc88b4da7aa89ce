// Owns the rules against secrets gathered and laid open without being sent: copied to a folder, printed, logged, listed for others.
// Knows lines and sections. A tool's own login, one key for its own service, and lists of names without values pass.
import { type Rule, ruleRows } from '../rule.ts';

const CODE_TRADE =
  /\b(?:aws|kube\w*|docker|npm|pypi|ssh|gpg|gcloud|azure|vault|keychain|credentials?|dotfiles?|forensic\w*|secret (?:scan|detect)\w*|leaks?|backup)\b/;
const STORE =
  '(?:\\.claude/\\.?credentials|\\.codex/auth|github-copilot/(?:hosts|apps)|\\.gemini/oauth|gh/hosts\\.yml|\\.aws/credentials|\\.netrc|\\.npmrc|\\.pypirc|\\.pgpass|\\.git-credentials|\\.docker/config\\.json|\\.kube/config|gcloud/(?:credentials|application_default)|\\.cargo/credentials|\\.vault-token|\\.azure/(?:accesstokens|msal)|cookies\\.sqlite|login data|logins\\.json|wallet\\.dat|exodus\\.wallet|\\.electrum/wallets|nkbihfbeogaeaoehlefnkodbefgpgknn|solana/id\\.json)';

export const SECRET_HANDLING_RULES: readonly Rule[] = ruleRows('credential_access', [
  [
    'prints-login-files',
    'high',
    'cat head less jq grep cp strings tail bat',
    `\\b(?:cat|head|less|jq|grep|cp|strings|tail|bat)\\b[^|;\\n]{0,80}${STORE}[^|;\\n]{0,60}${STORE}`,
    { kinds: ['code', 'prose'], facts: ['secret'], trade: CODE_TRADE },
  ],
  [
    'hunts-key-shapes',
    'high',
    'grep rg egrep ag',
    '\\b(?:e?grep|rg|ag)\\b[^\\n]{0,30}\\s-\\w*[roh]\\w*\\b[^\\n]{0,40}(?:\\bsk[-_]|ghp|gho|xox|akia|glpat|aiza|hf_)[^\\n]{0,60}(?:[\\s"\']~(?:/|\\s|$)|\\$home|/home|/users|\\s/(?:\\s|$))',
    { kinds: ['code', 'prose'], facts: ['secret'], trade: /secret|leak|scan|redact/ },
  ],
  [
    'wallets-gathered',
    'high',
    'exodus electrum metamask nkbihfbeogaeaoehlefnkodbefgpgknn bitcoin solana ethereum keystore phantom bfnaelmomeimhlpmgjnjophhpkkoljpa',
    '(?:exodus|electrum|nkbihfbeogaeaoehlefnkodbefgpgknn|wallet\\.dat|solana/id\\.json|ethereum/keystore|bfnaelmomeimhlpmgjnjophhpkkoljpa)(?:[^\\n]{0,200}\\n){0,8}?[^\\n]{0,200}?(?:exodus|electrum|nkbihfbeogaeaoehlefnkodbefgpgknn|wallet\\.dat|solana/id\\.json|ethereum/keystore|bfnaelmomeimhlpmgjnjophhpkkoljpa)',
    {
      kinds: ['program'],
      firm: true,
      facts: ['secret'],
      also: [/copy\w{0,5}|\bcp\b|read|zip|tar|open\(/, /home|~\/|appdata|library|\.config/],
    },
  ],
  [
    'seed-words-sought',
    'high',
    'glob rglob walk find grep rg read_text readfilesync search re',
    '\\[a-z\\]\\{\\d,\\d\\}\\\\s\\+\\)\\{11|(?:\\(\\?:)?\\\\b?\\w?\\[a-z\\]\\+\\s?\\\\s\\+?\\)?\\{(?:11|12|23|24)',
    { kinds: ['program'], absolute: true, facts: ['secret'] },
  ],
  [
    'vault-read-out',
    'high',
    'security secret pass keyring find lookup get_password',
    '(?:\\bsecurity find-(?:generic|internet)-password\\b[^\\n]{0,80}\\s-(?:w|g)\\b|\\bsecret-tool (?:search --all|lookup)\\b)(?:[^\\n]{0,200}\\n){1,3}?[^\\n]{0,80}(?:\\bsecurity find-|\\bsecret-tool )',
    { kinds: ['program'], facts: ['secret'], trade: CODE_TRADE },
  ],
  [
    'logins-put-in-file',
    'high',
    'gcloud gh aws az kubectl heroku vercel doctl npm token',
    '\\b(?:gcloud auth (?:application-default )?print-access-token|gh auth token|aws sts get-session-token|az account get-access-token|heroku auth:token|kubectl create token|npm token (?:list|create)|glab auth token|doctl auth token)\\b[^\\n|]{0,60}>{1,2}\\s?(?!/dev/null|&|\\$github_)["\'\\w./~$-]{1,60}',
    { kinds: ['code'], facts: ['secret'] },
  ],
  [
    'secrets-listed-for-others',
    'high',
    'token tokens password passwords login logins key keys connection secrets credentials',
    '\\b(?:every|each|all|any)\\b[^.!?\\n]{0,30}\\b(?:tokens?|passwords?|logins?|(?:api )?keys?|connection strings?|secrets?|credentials?)\\b[^!?\\n]{0,160}\\b(?:with (?:its|their) (?:full |real |actual )?values?|values? (?:included|too|as well)|in full|(?:its|their) (?:full|real|actual) values?|unmasked|unredacted|as plain text|in clear(?: text)?|what (?:it|they) opens?)\\b',
    {
      kinds: ['passage'],
      firm: true,
      near: 320,
      also: [
        /\.npmrc|\.netrc|\.pgpass|\.env\b|env files?|shell (?:profile|history)|environment|keychain|config\.json|home (?:folder|directory)|password manager|\.aws|\.ssh/,
      ],
      unless:
        /\b(?:never|do not|don't|must not|redact\w{0,3}|mask(?:ed)?|without (?:their|the|its) values?|names only)\b/,
    },
  ],
  [
    'keys-shown-in-full',
    'high',
    'print show list log write display dump record keep',
    '\\b(?:print|show|list|log|write|display|dump|record|store)\\b[^.!?\\n]{0,60}\\b(?:keys|tokens?|authori[sz]ation headers?|(?:session )?cookies?|passwords?|credentials|bearer)\\b[^.!?\\n]{0,80}\\b(?:in full|unshortened|unmasked|unredacted|in clear(?: text)?|in plain ?text|complete(?:ly)?|as they are|untruncated|verbatim)\\b',
    {
      kinds: ['prose', 'comment', 'header'],
      firm: true,
      facts: ['secret'],
      unless: /\b(?:never|do not|don't|must not|avoid|redact|mask|per|input|output|design|context)\b/,
    },
  ],
  [
    'full-header-logged',
    'high',
    'full complete whole raw entire',
    '\\b(?:log|print|write|record|save|store|append|dump)\\b[^.!?\\n]{0,24}\\b(?:full|complete|whole|raw|entire|unmasked)\\b[^.!?\\n]{0,24}\\b(?:authori[sz]ation header|bearer token|session cookie|access token|refresh token|cookie header|password)s?\\b',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['secret'],
      unless: /\b(?:never|do not|don't|must not|avoid|redact)\b/,
    },
  ],
  [
    'token-in-link',
    'high',
    'token tokens cookie key secret password',
    "\\b(?:add|append|put|include|embed|carry|attach)\\b[^.!?\\n]{0,40}\\b(?:the |their |user'?s? )(?:\\w+ )?(?:session )?(?:access tokens?|tokens?|cookies?|passwords?|secrets?)\\b[^.!?\\n]{0,24}\\b(?:to|in|into|on) (?:the |each |every |a )(?:\\w+ )?(?:link|url|query string|image|address)s?\\b",
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['secret'],
      unless:
        /\b(?:never|do not|don't|must not|avoid|unsubscribe|reset|csrf|invite|invitation|magic|verification|design)\b/,
    },
  ],
  [
    'password-kept-aside',
    'high',
    'password passphrase pin passcode',
    "\\b(?:computer|system|login|mac|sudo|admin\\w{0,9}|account|windows|root|master|wallet|e-?mail)(?:'s)? (?:account )?(?:password|passphrase|pin|passcode)\\b[^!?\\n]{0,80}\\b(?:keep|store|save|write|cache|remember|note)\\b[^.!?\\n]{0,40}(?:~/|\\.cache|/tmp|\\bfile\\b|\\bmemory\\b|\\.txt\\b|for later)",
    {
      kinds: ['prose', 'comment'],
      facts: ['secret'],
      unless: /\b(?:never|do not|don't|must not|avoid|hash(?:ed)?|encrypt\w{0,4}|keychain|password manager)\b/,
    },
  ],
]);
