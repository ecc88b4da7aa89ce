// Owns which places and names hold secrets, as data: one list for what walls hide and for what file tools ask about. Knows no command.
// Invariant: an entry is a whole file or folder, and what of it is no secret is named beside it.

/** Below a home, with all that is in them. */
export const SECRET_IN_HOME: readonly string[] = [
  // keys, tokens and passwords
  ...'.ssh .gnupg .age .pki .password-store .netrc _netrc .authinfo .authinfo.gpg .pgpass .my.cnf .mylogin.cnf .git-credentials'.split(
    ' ',
  ),
  ...'.vault-token .smbcredentials .msmtprc .fetchmailrc .Xauthority .ICEauthority .putty .subversion/auth .step'.split(
    ' ',
  ),
  ...'.local/share/keyrings .local/share/kwalletd .config/git/credentials .config/op .config/sops .config/age'.split(
    ' ',
  ),
  // clouds and clusters
  ...'.aws .azure .kube .minikube .docker .oci .aliyun .boto .s3cfg .databrickscfg .snowsql .snowflake .terraform.d .terraformrc'.split(
    ' ',
  ),
  ...'.fly .railway .config/gcloud .config/rclone .config/doctl .config/configstore .config/containers/auth.json'.split(
    ' ',
  ),
  ...'.config/helm/registry .config/netlify .config/stripe .config/heroku .local/share/com.vercel.cli .config/hcloud'.split(
    ' ',
  ),
  // registries and hosts of code
  ...'.npmrc .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml'.split(
    ' ',
  ),
  ...'.gradle/gradle.properties .nuget/NuGet/NuGet.Config .composer/auth.json .config/composer/auth.json .bundle/config'.split(
    ' ',
  ),
  ...'.config/pypoetry/auth.toml .local/share/uv/credentials .config/gh .config/hub .config/glab-cli .config/github-copilot'.split(
    ' ',
  ),
  // models and data
  ...'.huggingface .cache/huggingface/token .kaggle .config/wandb .claude/.credentials.json .codex/auth.json'.split(
    ' ',
  ),
  ...'.gemini/oauth_creds.json .config/openai .config/anthropic'.split(' '),
  // browsers, mail and talk
  ...'.mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge'.split(
    ' ',
  ),
  ...'.config/vivaldi .config/opera .config/Signal .config/Slack .config/discord .config/evolution .local/share/evolution'.split(
    ' ',
  ),
  ...'snap .var Library/Keychains Library/Cookies'.split(' '),
  'Library/Application Support',
  // money
  ...'.electrum .bitcoin .ethereum .config/solana'.split(' '),
  // what was typed
  ...'.bash_history .zsh_history .zsh_sessions .sh_history .history .local/share/fish/fish_history .python_history'.split(
    ' ',
  ),
  ...'.node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history .lesshst .viminfo'.split(
    ' ',
  ),
];

/** Below a home, in a place of the list, and yet no secret. */
export const PLAIN_IN_HOME =
  /^\.(?:ssh\/(?:known_hosts(?:\.old)?|config|[^/]+\.pub)|aws\/config|config\/gh\/config\.yml|docker\/(?:daemon\.json|cli-plugins(?:\/.*)?)|terraform\.d\/plugin.*)$/;

/** Of the system: read by nobody who is enclosed. What this user cannot read anyway costs no wall. */
export const SECRET_IN_SYSTEM: readonly string[] = [
  ...'/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private'.split(' '),
  ...'/etc/wireguard /etc/letsencrypt /etc/kubernetes /etc/krb5.keytab /etc/NetworkManager/system-connections'.split(
    ' ',
  ),
  ...'/var/spool/cron /var/mail /var/spool/mail /var/backups /var/lib/systemd/coredump /var/crash'.split(' '),
];
export const SYSTEM_KEYS = { folder: '/etc/ssh', name: /^ssh_host_.*_key$/ } as const;

/** Hidden from commands, and no secret by itself: other systems on this machine. */
export const OTHER_SYSTEMS: readonly string[] =
  '/var/lib/docker /var/lib/containerd /var/lib/kubelet /mnt/c/Users /mnt/wslg'.split(' ');

/** Files that hold secrets wherever they lie; beside them lies what is public: examples, certificates, the other half of a key. */
const NAMES = [
  /\.env(?:\.(?!example$|sample$|template$|dist$|defaults$)[\w-]+)*|\.envrc|\.dev\.vars(?:\.(?!example$)[\w-]+)?/,
  /(?!(?:example|sample|template|dist|defaults?|process)\.)[\w-]+\.env/,
  /id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?!.*\.pub$)(?:[._-].*)?/,
  /(?!\.).+\.key|(?!public[-_.]|(?!.*key)(?:.*(?:cert|chain|bundle|pub|dhparam|[-_.](?:ca|crt)\.)|(?:ca|roots?)[-_.])).*\.pem/,
  /.*\.(?:pfx|p12|keystore|jks|kdbx|ovpn)|(?:.+[-_.])?kubeconfig(?:\.ya?ml)?|terraform\.tfvars(?:\.json)?/,
  /credentials\.json|service[-_]?[aA]ccount.*\.json|client_secret.*\.json|secrets?\.(?:ya?ml|json|toml|env)/,
  /[._]netrc|\.git-credentials|\.pgpass|\.pypirc|state\.db\.seal/,
];
export const SECRET_NAMES = new RegExp(`^(?:${NAMES.map(({ source }) => source).join('|')})$`);

/** Settings that may carry a token: of another folder than the session's, where they do. */
export const MAY_CARRY_TOKEN = /\/(?:\.npmrc|\.yarnrc\.yml|\.aws\/credentials|\.git\/config)$/;
