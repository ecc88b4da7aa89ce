// Owns the rules against sources that were swapped: files, builds and package settings that take code from places nobody vouches for,
// programs that fetch and load code or rewrite their own skill. Knows wholes and lines. Registries of good standing pass.
import { BAD_HOST, OUT_HOST, type Rule, ruleRows } from '../rule.ts';
import { NET_WORDS, PUBLIC_IP } from '../words/program.ts';

const CODE = { kinds: ['program'] } as const;
const FETCHES =
  '(?:\\bcurl\\b|\\bwget\\b|iwr|irm|invoke-\\w{7,12}|urlopen|urlretrieve|requests\\.get|httpx\\.get|\\bfetch\\(|axios(?:\\.get)?\\(|https?\\.get\\(|net::http|open-uri|http\\.get|git (?:pull|fetch|clone)|file_get_contents|uri\\.open|download\\w{0,10}\\()';

export const STRANGE_SOURCE_RULES: readonly Rule[] = ruleRows('supply_chain', [
  [
    'rewrites-itself',
    'high',
    `${NET_WORDS} git`,
    `(?:^|\\n)[^\\n]{0,200}${FETCHES}`,
    {
      ...CODE,
      also: [
        new RegExp(`${OUT_HOST}|«subject»|«known»https?://(?:raw\\.githubusercontent|gist)|git (?:pull|fetch)`, 'u'),
        /skill\.md|skill_md|skills?_?dir|(?:\$\{?here|__dirname|__file__|dirname "?\$0|script_dir|skill_root|import\.meta)/,
        /(?:-o ["']?\$?[^\n]{0,60}(?:skill\.md|scripts?\/|\$here|\$f)|\bmv\b[^\n]{0,120}(?:skill|\$here|\$f|\.new)|(?:write\w{0,10}\(|write_text|open\([^\n]{0,80}["']w)[^\n]{0,160}|>\s?["']?[^\n]{0,40}skill\.md|\bcp\b[^\n]{0,120}(?:skill|\$here))/,
        /skill\.md|chmod \+x|self[-_]?update|(?:scripts|lib|hooks)\/[\w$-]+\.(?:sh|py|js|mjs|rb)/,
      ],
      facts: ['runs-remote'],
      trade: /skill (?:manager|install|market|registry|sync)|updat/,
    },
  ],
  [
    'loads-fetched-code',
    'high',
    `${NET_WORDS} importlib exec require dlopen cdll`,
    `${FETCHES}[^\\n]{0,200}(?:${OUT_HOST}|\\b\\w{2,20}\\b)`,
    {
      ...CODE,
      also: [
        new RegExp(`${OUT_HOST}(?:https?)?|«known»https?://(?:raw\\.githubusercontent|gist)`, 'u'),
        /(?:(?<![.\w])exec\(\s?(?!["'`])(?:compile\()?\w|(?<![.\w-])eval\(\s?(?!["'`])\w|importlib\.(?:import_module|util)[^\n]{0,80}|runpy\.|ctypes\.(?:cdll|windll)|\bdlopen\(|new function\(|vm\.run\w+|require\(\s?[a-z_]\w*\s?\)|import\(\s?[a-z_]\w*\s?\)|types\.moduletype|load_module|instance_eval|\bload\(\s?[a-z_]|assembly\]?::load|webassembly\.instantiate|plugin\.open)/,
      ],
      facts: ['runs-remote'],
      unless: /importlib\.(?:metadata|resources)|webassembly[^\n]{0,40}«known»|sha256|hashlib\.sha/,
    },
  ],
  [
    'module-swapped',
    'high',
    'deb trusted nuget dotnet replace goproxy gonosumdb gonosumcheck goinsecure gosumdb goflags overrides resolutions npm registry source crates patch repositories repository maven gemfile index pip repo mirrors mirror substituters nixconfig',
    `(?:(?:^|\\n)\\s*replace [\\w./-]{3,80}(?: v\\S{1,20})? => (?!\\.{0,2}/)[\\w.-]{2,40}\\.[a-z]{2,12}/|\\bgo(?:nosumdb|nosumcheck|insecure|privatesumdb)\\s?=\\s?["']?(?:\\*|1|[\\w.-]+\\.\\w+)|\\bgosumdb\\s?=\\s?["']?off|\\bgoproxy\\s?=\\s?["']?(?:${OUT_HOST}|http://)|"[@\\w/.-]{1,60}"\\s?:\\s?"(?:npm:(?!@types)[\\w@/.-]+@|«(?:unknown|free|address|odd|tunnel|paste)»https?://[^"\\s]{1,160}\\.(?:tgz|tar\\.gz|zip|git)\\b|git\\+(?:ssh|«(?!known)|http:))|(?:^|\\n)\\s*(?:source|registry|index|index-url|extra-index-url|find-links|mirror)\\s?[= ]\\s?["']?(?:sparse\\+)?(?:${OUT_HOST})|<url>(?:${OUT_HOST}|«[a-z]+»http://)|maven\\s?\\{\\s?url[^\\n]{0,20}(?:${OUT_HOST})|\\bdeb \\[[^\\]\\n]{0,80}trusted=yes|\\bdeb (?:\\[[^\\]\\n]{1,80}\\] )?(?:${OUT_HOST})|replace-with\\s?=|extra-substituters\\s?=[^\\n]{0,60}(?:${OUT_HOST})|nuget (?:add source|sources add)[^\\n]{0,60}(?:${OUT_HOST})|gem sources? (?:-a|--add)[^\\n]{0,40}(?:${OUT_HOST}|«[a-z]+»http:)|helm repo add \\S{1,40} (?:${OUT_HOST}))`,
    {
      kinds: ['program'],
      unless:
        /repo1\.maven|mirrors?\.(?:aliyun|tuna|ustc)|artifactory|nexus|jitpack\.io|"homepage"\s?:|"url"\s?:\s?"git\+|docs?_url|endpoint|api_?url|<scm>|feed|rss/,
    },
  ],
  [
    'base-image-of-stranger',
    'high',
    'from add run docker image uses action',
    `(?:(?:^|\\n)\\s*(?:from|add)\\s+(?:--\\S{1,40} )*(?:${OUT_HOST}|${PUBLIC_IP}|[a-z0-9-]{2,40}(?:\\.[a-z0-9-]{2,40})*\\.(?:xyz|top|site|online|live|cc|pw|su|ru|tk|click|icu|space|fun)[:/])|\\bimage:\\s?["']?(?:${PUBLIC_IP}|[a-z0-9-]{2,40}(?:\\.[a-z0-9-]{2,40})*\\.(?:xyz|top|site|online|live|cc|pw|su|tk|click|icu|space|fun)[:/]))`,
    { ...CODE },
  ],
  [
    'moving-action',
    'high',
    'uses',
    '(?:^|\\n)\\s*(?:-\\s)?uses:\\s?["\']?(?<owner>[\\w.-]{1,60})/[\\w./-]{1,80}@(?:main|master|latest|head|dev(?:elop)?|trunk|next)\\b',
    {
      ...CODE,
      test: ({ groups }) =>
        !/^(?:actions|github|docker|aws-actions|azure|google-github-actions|hashicorp|anthropics?|dtolnay|pypa|astral-sh|oven-sh|denoland|cachix|determinatesystems|changesets|pnpm|ruby|rust-lang|dart-lang|gradle|microsoft|openai|vercel|cloudflare|super-linter|trufflesecurity|aquasecurity|snyk|codecov|sonarsource|reviewdog|peter-evans|softprops|your-?\w*|owner|org|my-?\w*|example\w*|\.)$/.test(
          groups?.owner ?? '',
        ),
    },
  ],
  [
    'root-runs-package',
    'high',
    'sudo npx npm pip pip3 uvx bunx pnpm dlx',
    '\\bsudo (?:-\\w{1,2} )*(?:npx|bunx|uvx|pipx run|pnpm dlx|yarn dlx)\\s+(?:-\\S{1,12}\\s)*(?!playwright|cypress|@)[\\w@/.-]{2,60}',
    { kinds: ['code', 'prose'] },
  ],
  [
    'package-on-every-start',
    'high',
    'npx bunx uvx pipx dlx',
    '\\b(?:npx|bunx|uvx|pipx run|pnpm dlx)\\s+(?:-\\S{1,12}\\s)*[\\w@/.-]{2,60}[^\\n]{0,60}\\b(?:without (?:asking|confirm\\w{0,5})|silently|quietly|every (?:session|start|time)|each (?:session|start)|treat (?:its|the) output)',
    { kinds: ['prose', 'code', 'comment'] },
  ],
  [
    'fetched-file-run-later',
    'high',
    'curl wget iwr invoke urlretrieve aria2c',
    `(?:curl|wget|iwr|invoke-webrequest|urlretrieve|aria2c)\\b[^\\n]{0,240}(?:${OUT_HOST})[^\\n]{0,240}?(?<file>[\\w-]{2,40}\\.(?:sh|py|js|mjs|rb|pl|ps1|so|dll|dylib|jar|wasm|whl|tgz|node|php|lua))\\b[^\\n]{0,120}(?:\\n[^\\n]{0,300}){1,8}?(?:\\b(?:ba|z)?sh|python3?|node|ruby|perl|source|\\.|import|require|load|pip3? install|npm (?:i|install)|java -jar|chmod \\+?[0-7x]+|exec|insmod|php)[^\\n]{0,60}\\k<file>`,
    { ...CODE, facts: ['runs-remote'], unless: /sha256sum|shasum -a|gpg --verify|minisign|cosign|certutil -hashfile/ },
  ],
  [
    'bad-place-fetched',
    'high',
    'curl wget iwr irm invoke urlopen urlretrieve requests fetch axios',
    `${FETCHES}[^\\n]{0,200}${BAD_HOST}[^\\n]{0,200}(?:-o\\b|>|\\.md|\\.py|\\.sh|\\.js|\\.json|\\.txt|\\.ya?ml)`,
    { kinds: ['program'], unless: /-x post|\s-d |--data|api\/|\/v\d\/|your/, trade: /paste|gist|tunnel|webhook/ },
  ],
]);
