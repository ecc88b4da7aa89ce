// Owns which places of a machine walls show, hide and keep from change, as data. Knows no command and builds nothing.
// Invariant: of a home only what is named here is shown of its dot entries; a new name is hidden until somebody adds it.

/** A tool folder of a home, shown read-only. `without`: entries that stay private, so that caches can be written and keys are not read. */
export interface ShownPlace {
  readonly path: string;
  readonly without?: RegExp;
}

/** Dot entries of a home that builds need and that hold no secrets, and folders without a dot of which only a part may be shown. */
export const SHOWN_IN_HOME: readonly ShownPlace[] = [
  ...['.nvm', '.pyenv', '.rbenv', '.nodenv', '.goenv', '.asdf', '.volta', '.fnm', '.sdkman', '.jenv', '.jdks'].map(
    shown,
  ),
  ...['.rustup', '.ghcup', '.opam', '.elan', '.juliaup', '.proto', '.linuxbrew', '.dotnet/sdk', '.dotnet/shared'].map(
    shown,
  ),
  ...['.local/bin', '.local/lib', '.local/share/mise', '.local/share/fnm', '.local/pipx'].map(shown),
  ...['.config/git/config', '.config/git/ignore', '.config/git/attributes', '.gitconfig', '.gitignore'].map(shown),
  ...['.gitignore_global', '.editorconfig', '.tool-versions'].map(shown),
  ...['.cabal/bin', '.foundry/bin', '.wasmtime/bin', '.deno/bin', '.bun/bin', '.poetry/bin', '.krew/bin'].map(shown),
  { path: '.cargo', without: /^(?:credentials.*|config(?:\.toml)?|registry|git|\.package-cache.*|\.global-cache.*)$/ },
  { path: '.local/share/uv', without: /^credentials$/ },
  { path: '.local/share/pnpm', without: /^(?:store|\.tools|state\.json)$/ },
  { path: 'go', without: /^pkg$/ },
];

/** A settings file that may hold keys; `line` matches the harmless ones, its group is an address of which nothing may be secret. */
export interface PlainLines {
  readonly path: string;
  readonly line: RegExp;
}

export const PLAIN_LINES: readonly PlainLines[] = [
  { path: '.npmrc', line: /^\s*(?:@[\w.~-]+:)?registry\s*=\s*"?([^\s"]+)"?\s*$/ },
  ...['.config/pip/pip.conf', '.pip/pip.conf'].map((path) => ({
    path,
    line: /^(?:\[\w+\]|(?:extra-)?index[-_]url\s*[=:]\s*(\S+))\s*$/,
  })),
];

/** Written into a private home without a word: caches, and what holds what is looked at one by one. */
export const QUIET_IN_HOME: readonly RegExp[] = [
  /^\.(?:cache|npm|config|local|node-gyp|cargo|rustup|gradle|m2|ivy2|sbt|nuget|dotnet|java|bun|pnpm.*|yarn.*|.*history|wget-hsts|lesshst)$/,
  /^\.config\/(?:configstore|go|jgit|NuGet|yarn|pip|uv|matplotlib|turborepo|nextjs-nodejs|dconf|pulse|Electron|Cypress)$/,
];
/** In quiet folders, and yet meant to last. */
export const MEANT_IN_HOME: readonly string[] = ['.local/bin', '.cargo/bin', '.config'];

function shown(path: string): ShownPlace {
  return { path };
}

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
