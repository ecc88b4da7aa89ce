// Owns which places of a machine walls show, hide and keep from change, and which hold secrets, as data: one list for what walls hide and for
// what file tools ask about. Knows no command and builds nothing. Invariants: of a home only what is named here is shown of its dot entries; a new
// name is hidden until somebody adds it; an entry is a whole file or folder, and what of it is no secret is named beside it.

/** A tool folder of a home, shown read-only. `without`: entries that stay private, so that caches can be written and keys are not read. */
export interface ShownPlace {
  readonly path: string;
  readonly without?: RegExp;
}

const SHOWN_WHOLE = [
  ...['.nvm', '.pyenv', '.rbenv', '.nodenv', '.goenv', '.asdf', '.volta', '.fnm', '.sdkman', '.jenv', '.jdks'],
  ...['.rustup', '.ghcup', '.opam', '.elan', '.juliaup', '.proto', '.linuxbrew', '.dotnet/sdk', '.dotnet/shared'],
  ...['.local/bin', '.local/lib', '.local/share/mise', '.local/share/fnm', '.local/pipx'],
  ...['.config/git/config', '.config/git/ignore', '.config/git/attributes', '.gitconfig', '.gitignore'],
  ...['.gitignore_global', '.editorconfig', '.tool-versions'],
  ...['.cabal/bin', '.foundry/bin', '.wasmtime/bin', '.deno/bin', '.bun/bin', '.poetry/bin', '.krew/bin'],
];
const shown: ShownPlace[] = [
  { path: '.cargo', without: /^(?:credentials.*|config(?:\.toml)?|registry|git|\.package-cache.*|\.global-cache.*)$/ },
  { path: '.local/share/uv', without: /^credentials$/ },
  { path: '.local/share/pnpm', without: /^(?:store|\.tools|state\.json)$/ },
  { path: 'go', without: /^pkg$/ },
];
for (const path of SHOWN_WHOLE) shown.push({ path });
/** Dot entries of a home that builds need and that hold no secrets, and folders without a dot of which only a part may be shown. */
export const SHOWN_IN_HOME: readonly ShownPlace[] = shown;

/** A settings file that may hold keys; `line` matches the harmless ones, its group is an address of which nothing may be secret. */
export interface PlainLines {
  readonly path: string;
  readonly line: RegExp;
}

const OF_PIP = /^(?:\[\w+\]|(?:extra-)?index[-_]url\s*[=:]\s*(\S+))\s*$/;
export const PLAIN_LINES: readonly PlainLines[] = [
  { path: '.npmrc', line: /^\s*(?:@[\w.~-]+:)?registry\s*=\s*"?([^\s"]+)"?\s*$/ },
  { path: '.config/pip/pip.conf', line: OF_PIP },
  { path: '.pip/pip.conf', line: OF_PIP },
];

/** Written into a private home without a word: caches, and what holds what is looked at one by one. */
export const QUIET_IN_HOME: readonly RegExp[] = [
  /^\.(?:cache|npm|config|local|node-gyp|cargo|rustup|gradle|m2|ivy2|sbt|nuget|dotnet|java|bun|pnpm.*|yarn.*|.*history|wget-hsts|lesshst)$/,
  /^\.config\/(?:configstore|go|jgit|NuGet|yarn|pip|uv|matplotlib|turborepo|nextjs-nodejs|dconf|pulse|Electron|Cypress)$/,
];
/** In quiet folders, and yet meant to last. */
export const MEANT_IN_HOME: readonly string[] = ['.local/bin', '.cargo/bin', '.config'];

/** Names in the session's folder that decide what runs or is obeyed later: read-only where they exist, reported where they are new. */
export const STEERING_NAMES: readonly RegExp[] = [
  /^(?:\.talaria\.md|\.hermes\.md|hermes\.md|agents\.md|agents\.override\.md|claude\.md|claude\.local\.md|soul\.md|gemini\.md)$/i,
  /^(?:qwen\.md|crush\.md|warp\.md|opencode\.jsonc?|\.?crush\.json|\.goosehints|\.rules)$/i,
  /^\.(?:cursorrules|windsurfrules|clinerules|roorules|cursor|windsurf|claude|codex|gemini|talaria|hermes|agents|aider\.conf\.yml)$/i,
  /^\.(?:roo|kiro|junie|amazonq|qwen|opencode|crush)$/i,
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|xprofile|xinitrc|xsessionrc|inputrc)$/,
  /^\.(?:vscode|idea|zed|fleet|vim|nvim|nvim\.lua|exrc|vimrc|nvimrc|emacs|emacs\.d|dir-locals(?:-2)?\.el|envrc|mcp\.json|husky|lefthook)$/,
  /^\.(?:gitconfig|npmrc|yarnrc|yarnrc\.yml|pip|pythonrc|gdbinit|lldbinit|tmux\.conf|screenrc|bazelrc|mvn)$/,
  /^\.(?:pdbrc|Rprofile|irbrc|pryrc|ghci|iex\.exs|ocamlinit|octaverc)$/,
  /^(?:\.devcontainer(?:\.json)?|.+\.code-workspace|\.?mise\.toml|\.pnpmfile\.[cm]?js)$/,
  /^copilot-instructions\.md$|\.(?:instructions|prompt|chatmode|agent)\.md$/i,
  /^\.githooks$/,
  /^(?:lefthook\.ya?ml|\.lefthook\.ya?ml|\.pre-commit-config\.yaml)$/,
];

/** The same by their folder, which holds more than them. */
export const STEERING_IN_FOLDER = /(?:^|\/)\.cargo\/config(?:\.toml)?$/;

/** Below a home that is the session's folder. */
export const STEERING_IN_HOME: readonly string[] = [
  '.config/autostart',
  '.config/systemd',
  '.config/fish',
  '.config/git',
  '.cargo/config',
  '.cargo/config.toml',
  '.ssh',
];

/** Settings of a repository that run nothing and name no file that does: a fresh `git init` or `clone` has only these. */
export const HARMLESS_GIT_SETTING =
  /^(?:\s*|\s*[#;].*|\s*\[(?:core|user|init|pull|push|submodule|(?:remote|branch|submodule) "[^"\]]*")\]\s*|\s*(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|name|email|fetch|merge|remote|defaultbranch|rebase|default|autosetupremote|active)\s*=.*|\s*url\s*=\s*(?!.*::)[^\s"-].*)$/i;

/** A disk, memory or port: writing to it destroys what no file system protects. */
export const RAW_DEVICE =
  /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|md|mapper\/|loop|nbd|sr|mem$|kmem$|port$|mtd)/;
export const HARMLESS_DEVICE =
  /^\/dev\/(?:null|zero|full|u?random|tty\d*|std(?:in|out|err)|fd\/\d+|pts\/\d+|ptmx|shm\/.+)$/s;
/** Without these nobody can log in, or the machine does not start. */
export const VITAL_FILE =
  /^(?:(?:\/private)?\/etc\/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d\/.*|fstab|crypttab|ld\.so\.preload|pam\.d\/.*)|\/(?:boot|efi)\/.*|\/proc\/sysrq-trigger)$/;

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
let sources = '';
for (const { source } of NAMES) sources += sources === '' ? source : `|${source}`;
export const SECRET_NAMES = new RegExp(`^(?:${sources})$`);

/** Settings that may carry a token: of another folder than the session's, where they do. */
export const MAY_CARRY_TOKEN = /\/(?:\.npmrc|\.yarnrc\.yml|\.aws\/credentials|\.git\/config)$/;
