// Owns the rules against code of others that nobody pinned: strange indexes, URLs as packages, moving branches, look-alike names, install scripts.
// Knows no registry. Plain `pip install x`, `npx x` and `cargo install x` are ordinary and pass.
import { ANY_HOST, BAD_HOST, FETCH, OUT_HOST, RUNNER, type Rule, ruleRows, SHELL } from './rule.ts';
import { looksLikePackage } from './words/package-names.ts';

const PIP =
  '(?:\\b(?:uv )?pip[23]?(?:\\.exe)? install|\\bpython3? -m pip install|\\bpipx (?:install|run)|\\buv (?:tool install|add|tool run)|\\buvx|\\bpoetry add|\\bconda install|\\beasy_install)';
const NPM =
  '(?:\\bnpm (?:i|install|add|exec|create|init)|\\byarn (?:global )?(?:add|dlx|create)|\\bpnpm (?:add|dlx|i|install)|\\bbunx?(?: (?:add|x|install|create))?|\\bnpx)';
const INSTALL_WORDS =
  'pip pip3 pipx uv uvx poetry conda npm yarn pnpm bun bunx npx gem cargo go install easy_install python';

export const SUPPLY_CHAIN_RULES: readonly Rule[] = ruleRows('supply_chain', [
  [
    'package-from-bad-place',
    'critical',
    INSTALL_WORDS,
    `(?:${PIP}|${NPM}|\\bgem install|\\bcargo install|\\bgo install|\\bbrew install)\\b[^\\n;|]{0,160}${BAD_HOST}`,
    { firm: true },
  ],
  [
    'package-from-url',
    'high',
    INSTALL_WORDS,
    `(?:${PIP}|${NPM}|\\bgem install|\\bcargo install)\\b[^\\n;|\`]{0,160}(?:«(?:unknown|free)»https?://|git\\+«(?:unknown|free|subject)»|git\\+http://|«[a-z]{3,9}»http://)`,
    { unless: /--index-url «known»|localhost|tuna\.tsinghua|ustc|douban/ },
  ],
  [
    'strange-index',
    'high',
    'index registry trusted find npmrc pip source extra',
    `(?:--(?:extra-)?index-url[ =]["']?«(?!known|local|subject|example)|--trusted-host[ =](?!pypi|files\\.pythonhosted|localhost)\\S|-i «(?!known|local|subject|example)[a-z]{3,10}»\\S{1,120}/simple|--registry[ =]["']?«(?!known|local|subject|example)|registry\\s?=\\s?«(?!known|local|subject|example)|index-url\\s?=\\s?«(?!known|local|subject|example)|(?:npm|yarn) config set (?:registry|strict-ssl) ["']?(?:«(?!known|local|subject|example)|false)|pip config set global\\.(?:index-url|extra-index-url|trusted-host) ["']?(?:«(?!known|local|subject|example)|(?!«|pypi)\\w)|--find-links[ =]["']?${OUT_HOST})`,
    { unless: /tuna\.tsinghua|aliyun|ustc|douban|corporate|artifactory|nexus/ },
  ],
  [
    'branch-to-shell',
    'high',
    'raw githubusercontent gist gitlab curl wget python python3 bash sh node',
    `(?:${FETCH}[^|;\\n]{0,200}«(?:known|paste)»https?://(?:raw\\.githubusercontent\\.com|gist\\.githubusercontent\\.com|gist\\.github\\.com|github\\.com|gitlab\\.com)/(?<owner>[\\w.-]{1,60})/(?<repo>[\\w.-]{1,80})[^|;\\n]{0,200}(?:\\|\\s?(?:[^|]{0,60}\\|\\s?)?${RUNNER}|&&[^\\n]{0,80}(?:${SHELL} |\\./|python3? |node )))|(?:${SHELL}(?: -c)?|python3?|source|eval|\\.)\\s{0,3}["']?(?:<\\(|\\$\\(|\`)\\s?(?:curl|wget)[^)\\n]{0,120}«(?:known|paste)»https?://(?:raw\\.githubusercontent\\.com|gist\\.githubusercontent\\.com|gitlab\\.com)/(?<owner2>[\\w.-]{1,60})/(?<repo2>[\\w.-]{1,80})`,
    {
      facts: ['runs-remote'],
      test: ({ groups }) => !KNOWN_OWNERS.test(groups?.owner ?? groups?.owner2 ?? ''),
    },
  ],
  [
    'repository-then-run',
    'medium',
    'git clone',
    `git clone[^\\n]{0,160}${ANY_HOST}[^\\n]{0,200}&&[^\\n]{0,120}(?:\\./(?:install|setup|bootstrap|run)|(?:ba|z)?sh \\S{0,40}(?:install|setup|bootstrap)|sudo make|npm (?:i|install|run)|python3? setup\\.py)`,
    {},
  ],
  [
    'clone-from-bad-place',
    'high',
    'git clone submodule remote',
    `git (?:clone|submodule add|remote add)[^\\n]{0,120}(?:${BAD_HOST}|«unknown»http://)`,
  ],
  [
    'moving-repository',
    'high',
    INSTALL_WORDS,
    `(?:${PIP}[^\\n;|]{0,80}git\\+«known»https?://(?:www\\.)?[\\w.-]{1,40}/(?<owner>[\\w.-]{1,60})/[^\\s@"'\`]{1,120}(?:@(?:main|master|dev\\w{0,8}|head|latest))?(?=\\s|["'\`]|$)|${NPM}\\b[^\\n;|\`]{0,60}(?:github:|git\\+«known»|«known»https?://github\\.com/)[\\w./-]{1,120})`,
    { test: ({ groups }) => !KNOWN_OWNERS.test(groups?.owner ?? '') },
  ],
  [
    'moving-repository-pressed',
    'high',
    `${INSTALL_WORDS} curl wget`,
    `(?:${PIP}|${NPM})\\b[^\\n;|]{0,100}(?:git\\+«known»[^\\s@]{1,160}@(?:main|master|head|latest|dev\\w{0,8})|«known»https?://(?:raw\\.githubusercontent\\.com|github\\.com)/\\S{1,160}(?:archive|zipball|tarball|raw)/\\S{0,60}(?:main|master|head|latest)|github:[\\w.-]{1,60}/[\\w.-]{1,60}#(?:main|master|head|latest))[^\\n]{0,120}`,
    { unless: /huggingface|openai|anthropic|google|microsoft|facebook|nvidia|pytorch|apache/ },
  ],
  [
    'look-alike-package',
    'high',
    INSTALL_WORDS,
    `(?<tool>${PIP}|${NPM}|\\bgem install|\\bcargo (?:install|add))(?<rest>(?: [^\\n;|&"'\`#)]{1,60}){1,4})`,
    {
      test: ({ groups }) => looksLikePackage(groups?.rest ?? '', /npm|yarn|pnpm|bun|npx/.test(groups?.tool ?? '')),
    },
  ],
  [
    'look-alike-requirement',
    'high',
    '=== =>= =~= =":',
    '^["\']?(?<rest>[a-z][a-z0-9_.-]{3,40})["\']?\\s?(?:[=~><^!]=?=?|:\\s?["\'][\\^~]?\\d)',
    { kinds: ['code'], test: ({ groups }) => looksLikePackage(groups?.rest ?? '', false) },
  ],
  [
    'install-script',
    'high',
    'postinstall preinstall prepare install cmdclass setup',
    `(?:"(?:postinstall|preinstall|install|prepare)"\\s?:\\s?"[^"\\n]{0,200}(?:curl|wget|base64|eval|node -e|python3? -c|powershell|https?:|\\bnc\\b|/tmp/|sh -c|\\.bin\\b)[^"\\n]{0,200}"|cmdclass\\s?=\\s?\\{[^\\n]{0,80}(?:install|develop|egg_info|build_py)|class \\w{0,24}(?:post)?install\\w{0,12}\\((?:install|develop|egg_info|build_py)\\))`,
    { unless: /node -e [\\"']{1,3}console\.log/ },
  ],
  [
    'install-script-order',
    'high',
    'postinstall preinstall hook hooks lifecycle',
    `\\b(?:postinstall|preinstall|lifecycle|install) (?:script|hook|step)s?\\b[^.!?]{0,120}\\b(?:download|fetch|run|execute|phones?|pull|contact|configures? (?:your|the) (?:machine|system)|must (?:run|be allowed|not be (?:disabled|skipped)))`,
    {
      kinds: ['prose', 'comment', 'header'],
      unless: /audit|review|disable|--ignore-scripts|check|risk|detect|why|if (?:the|it) fails|never|avoid/,
    },
  ],
  [
    'checks-off',
    'high',
    'insecure certificate sslverify unauthorized verify gpg allow nogpgcheck unauthenticated hashes checksum signature signatures',
    `(?:${FETCH}[^\\n]{0,120}(?:\\s-k\\b|--insecure|--no-check-certificate)[^\\n]{0,200}${OUT_HOST}[^\\n]{0,120}(?:\\||&&)|git config --global http\\.sslverify false|node_tls_reject_unauthorized\\s?=\\s?["']?0|apt(?:-get)? install[^\\n]{0,80}--allow-unauthenticated|--nogpgcheck|rpm -i[^\\n]{0,60}--nosignature|(?:skip|ignore|disable|do not (?:verify|check)|no need to (?:verify|check))\\b[^.!?\\n]{0,40}\\b(?:checksums?|signatures?|hash(?:es)? (?:check|verification)|integrity (?:check|verification))[^.!?\\n]{0,60}\\b(?:install|download|binary|package|mismatch|fail))`,
    { unless: /\b(?:never|don'?t|do not) (?:skip|ignore|disable)/ },
  ],
  [
    'self-update',
    'high',
    'update updates self latest pull refresh upgrade overwrite replace',
    `\\b(?:update|refresh|overwrite|replace|upgrade|sync|re-?download|pull|self-update)\\b[^.!?]{0,60}\\b(?:this skill|skill\\.md|itself|its own|this file|these instructions|the skill'?s? (?:files?|folder|instructions|scripts?))\\b[^!?]{0,120}(?:${OUT_HOST}|«chat»|«subject»|«known»https?://(?:raw\\.githubusercontent|gist))`,
    {
      facts: ['runs-remote'],
      trade: /updat|sync|skill (?:manager|install)/,
      unless: /changelog|release notes|report|issue/,
    },
  ],
  [
    'image-of-stranger',
    'high',
    'docker podman',
    `\\b(?:docker|podman)\\b(?: run| pull| compose)?[^\\n]{0,200}(?:${BAD_HOST}|\\blatest\\b[^\\n]{0,40}--privileged|--privileged[^\\n]{0,160}-v /:|-v /:/\\S{0,20}[^\\n]{0,100}|-v /var/run/docker\\.sock\\S{0,40}[^\\n]{0,60}--privileged|--pid[= ]host[^\\n]{0,60}--privileged)`,
    { trade: /docker|container|monitor|portainer|watchtower|kubernetes|devops|homelab/ },
  ],
  [
    'strange-mcp',
    'high',
    'mcpservers mcp npx uvx command url',
    `(?:"(?:url|serverurl|endpoint)"\\s?:\\s?"${BAD_HOST}|claude mcp add[^\\n]{0,120}${BAD_HOST}|mcporter[^\\n]{0,80}${BAD_HOST})`,
  ],
]);

const KNOWN_OWNERS =
  /^(?:homebrew|nvm-sh|ohmyzsh|rust-lang|python|pypa|nodejs|npm|yarnpkg|denoland|oven-sh|astral-sh|docker|kubernetes|helm|hashicorp|google|googleapis|microsoft|azure|aws|amazon\w*|apache|facebook|meta-\w+|vercel|vercel-labs|netlify|cloudflare|openai|anthropics?|huggingface|nvidia|pytorch|tensorflow|golang|golangci|rbenv|pyenv|asdf-vm|jdx|junegunn|starship|zsh-users|tmux-plugins|k3s-io|k3d-io|rancher|argoproj|istio|grafana|prometheus|elastic|mongodb|redis|postgres|supabase|prisma|aquasecurity|anchore|semgrep|trufflesecurity|gitleaks|snyk|sigstore|github|cli|gitlab-org|actions|nousresearch|openclaw|steipete|conda-forge|mamba-org|bioconda|nextflow-io|snakemake|foundry-rs|solana-labs|anza-xyz|ethereum|tailscale|wagoodman|jesseduffield|bats-core|dagger|earthly|pulumi|fluxcd|derailed|ahmetb|universal-ctags|neovim|helix-editor|zed-industries|getsentry|datadog|newrelic|circleci|codecov|vllm-project|ggml-org|ggerganov|ollama|langchain-ai|run-llama|pnpm|sharkdp|ajeetdsouza|dotnet|wez|alacritty|commandlinefu|firecrawl|browserbase|obra|K-Dense-AI)$/i;
