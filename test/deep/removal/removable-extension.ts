/** The extensions that must be removable, and what belongs to each beside its folder: the lines that name it and its pages. */

/** Takes out what `cut` finds in `file`, which must be found exactly once. */
interface NamedLine {
  readonly file: string;
  readonly cut: RegExp;
  /** Another one takes it out too. */
  readonly isShared?: true;
}

export interface RemovableExtension {
  readonly name: string;
  /** Default `src/extensions/NAME`. */
  readonly folder?: string;
  /** Files beside `src/extensions/NAME` and beside every file or folder below `test` that begins with NAME; from the root. */
  readonly files: readonly string[];
  readonly lines: readonly NamedLine[];
  /** Files of its requirement rows. A row that another room's test cites is that room's too, and stays. */
  readonly rows: readonly string[];
}

const PAGES = [
  ...['today', 'sessions', 'session', 'skills', 'skill', 'memory', 'pending', 'schedule', 'people', 'costs', 'doctor'],
];
const WINDOWS = ['clade', 'hearth', 'hermes', 'dream', 'mind', 'library', 'infra'];

/** Benches of what `talaria serve` serves, and of what lives inside it. */
const SERVES = ['reach', 'reach-serve', 'gateway', 'dashboard'].map((name) => `bench/${name}.ts`);

/** Rows of reach; some of the spine were kept for it. */
const REACH_ROWS = ['test/requirements/reach.ts', 'test/requirements/core-later.ts'];

/** Of the market's desk, which goes with the protocol and with Meta. */
const DESK = {
  files: ['docs/guide/market.md', 'scripts/demo-market.ts', 'scripts/capture/market-offers.ts'],
  lines: [
    { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}market: .*\n/m, isShared: true },
    { file: 'package.json', cut: /^ {4}"demo:market": .*\n/m, isShared: true },
    { file: 'scripts/capture-screens.ts', cut: /^import \{ offer \} .*\n/m, isShared: true },
    { file: 'scripts/capture-screens.ts', cut: /^ {4}await offer\(.*\n/m, isShared: true },
    { file: 'README.md', cut: /^\| `talaria market` .*\n/m, isShared: true },
    { file: 'README.md', cut: /\[the market\]\(docs\/guide\/market\.md\) · /, isShared: true },
  ],
} as const;

export const REMOVABLE: readonly RemovableExtension[] = [
  {
    name: 'curator',
    files: [
      'src/public/curator.ts',
      'docs/guide/curator.md',
      'bench/curator.ts',
      'scripts/install-onnx-engine.ts',
      'test/deep/evidence-gigabyte.test.ts',
      'test/real/semantic.test.ts',
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}curator: .*\n/m },
      { file: 'README.md', cut: /\[the curator\]\(docs\/guide\/curator\.md\) · / },
      { file: 'package.json', cut: /^ {4}"\.\/curator": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}curator: .*\n/m },
      { file: 'test/pins/entries.test.ts', cut: /^ {2}'\.\/curator': \[\n(?: {4}.*\n)*? {2}\],\n/m },
    ],
    rows: ['test/requirements/curator.ts'],
  },
  {
    name: 'rlm',
    files: [
      'src/public/rlm.ts',
      'docs/guide/recursion.md',
      'docs/images/rlm-run.png',
      'bench/trace-guard.ts',
      'bench/rlm-ask-memory.ts',
      'bench/rlm',
      'examples/check-synthesis.ts',
      'examples/rlm-dry-run.sh',
      'examples/rlm-vanilla-baseline.sh',
      'examples/rlm-truncation-comparison.sh',
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}rlm: .*\n/m },
      { file: 'README.md', cut: /\[recursion\]\(docs\/guide\/recursion\.md\) · / },
      { file: 'package.json', cut: /^ {4}"\.\/rlm": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}'trace-guard': .*\n {2}'rlm-ask-memory': .*\n/m },
      { file: 'bench/run.ts', cut: /^if \(process\.argv\[2\] === 'rlm'\) \{\n(?: {2}.*\n)*?\}\n/m },
      { file: 'test/pins/entries.test.ts', cut: /^ {2}'\.\/rlm': \[\n(?: {4}.*\n)*? {2}\],\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'check-synthesis\.ts': .*\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'rlm-dry-run\.sh': [\s\S]*?(?=^\};)/m },
    ],
    rows: ['test/requirements/rlm.ts'],
  },
  {
    name: 'hive',
    files: [
      'src/public/peers.ts',
      'docs/guide/peers.md',
      'bench/peers.ts',
      'examples/peers',
      'examples/peers-in-one-process.ts',
      'examples/peers-three-agents.ts',
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}peers: .*\n/m },
      { file: 'README.md', cut: /\[peers\]\(docs\/guide\/peers\.md\) · / },
      { file: 'README.md', cut: /^\| `talaria peers` .*\n/m },
      { file: 'README.md', cut: /^import \{ createPeerHub \}.*\n/m },
      { file: 'package.json', cut: /^ {4}"\.\/peers": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}peers: .*\n/m },
      { file: 'test/pins/entries.test.ts', cut: /^ {2}'\.\/peers': \[.*\],\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'peers-in-one-process\.ts': .*\n/m },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'peers-three-agents\.ts': .*\n/m },
    ],
    rows: ['test/requirements/hivemind.ts'],
  },
  ...['mcp', 'schedule'].map((name) => ({
    name,
    files: [`docs/guide/${name}.md`, ...(name === 'mcp' ? [] : SERVES)],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: name === 'mcp' ? /^ {2}mcp: .*\n/m : /^ {2}cron: .*\n/m },
      {
        file: 'README.md',
        cut: name === 'mcp' ? /\[MCP\]\(docs\/guide\/mcp\.md\),\n/ : /\[schedule\]\(docs\/guide\/schedule\.md\), /,
      },
      ...(name === 'mcp'
        ? []
        : [
            {
              file: 'bench/run.ts',
              cut: /^ {2}'reach-start': .*\n {2}'reach-serve': .*\n {2}gateway: .*\n {2}dashboard: .*\n/m,
            },
          ]),
    ],
    rows: REACH_ROWS,
  })),
  {
    name: 'delegate',
    files: ['docs/guide/sub-agents.md'],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}delegation: .*\n/m },
      { file: 'README.md', cut: /, \[sub-agents\]\(docs\/guide\/sub-agents\.md\)/ },
    ],
    rows: REACH_ROWS,
  },
  {
    name: 'user',
    files: ['docs/guide/user.md'],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}user: .*\n/m },
      { file: 'README.md', cut: / \[what is known of you\]\(docs\/guide\/user\.md\),/ },
      { file: 'README.md', cut: /^\| `talaria user` .*\n/m },
    ],
    rows: REACH_ROWS,
  },
  {
    name: 'mixture',
    files: [],
    lines: [{ file: 'src/surfaces/app/rooms.ts', cut: /^ {2}mixture: .*\n/m }],
    rows: REACH_ROWS,
  },
  {
    name: 'gateway',
    folder: 'src/surfaces/gateway',
    files: [
      ...[
        'docs/guide/gateway.md',
        'docs/guide/small-server.md',
        'examples/gateway.ts',
        'test/contract/channel.test.ts',
      ],
      ...['test/deep/gateway-kills.test.ts', 'test/deep/small-server.test.ts', 'bench/gateway.ts'],
    ],
    lines: [
      { file: 'src/surfaces/cli/surface-commands.ts', cut: /^ {2}\[\['gateway'\], .*\n/m },
      { file: 'src/surfaces/cli/surface-commands.ts', cut: /^ {4}\(await import\('#surfaces\/gateway\/.*\n/m },
      { file: 'test/deep/properties.test.ts', cut: /^await import\('\.\.\/surfaces\/gateway\/.*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}gateway: .*\n/m, isShared: true },
      { file: 'test/deep/examples.test.ts', cut: /^ {2}'gateway\.ts':\s+\/.*\n/m },
      {
        file: 'README.md',
        cut: /^\[gateway\]\(docs\/guide\/gateway\.md\), \[a small server in five minutes\]\(docs\/guide\/small-server\.md\),\n/m,
      },
      { file: 'README.md', cut: /^\| `talaria gateway` .*\n/m },
    ],
    rows: REACH_ROWS,
  },
  {
    name: 'golem',
    folder: 'src/fleet/golem',
    files: [
      ...[
        'docs/guide/golems.md',
        'bench/golem.ts',
        'bench/golem-log.ts',
        'bench/golem-processes.ts',
        'bench/golem-stage.ts',
        'bench/clade-meta.ts',
      ],
      ...['test/contract/domain.contract.ts', 'test/deep/golem-disk.test.ts'],
    ],
    lines: [
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}golem: .*\n/m },
      { file: 'README.md', cut: /^## It works by itself\n[\s\S]*?(?=^## )/m },
      { file: 'README.md', cut: /^\| `talaria golem` .*\n/m },
      { file: 'README.md', cut: /\[golems\]\(docs\/guide\/golems\.md\) · / },
      { file: 'package.json', cut: /^ {4}"demo:fleet": .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}golem: .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}'clade-meta': .*\n/m, isShared: true },
    ],
    rows: [
      'test/requirements/golem-awake.ts',
      'test/requirements/golem-dream-and-death.ts',
      'test/requirements/meta.ts',
      'test/requirements/market.ts',
    ],
  },
  {
    name: 'styx-link',
    folder: 'src/fleet/styx/link.ts',
    files: [
      ...['docs/guide/two-machines.md', 'bench/clade-link.ts', 'test/real/golem-words.test.ts'],
      'test/deep/golem-clade.test.ts',
    ],
    lines: [
      { file: 'src/fleet/styx/linking.ts', cut: /\(\) => import\('\.\/link\.ts'\)/ },
      { file: 'README.md', cut: /\[two machines\]\(docs\/guide\/two-machines\.md\) · / },
      { file: 'bench/run.ts', cut: /^ {2}'clade-link': .*\n/m },
    ],
    rows: ['test/requirements/market.ts', 'test/requirements/meta.ts'],
  },
  {
    name: 'meta',
    folder: 'src/fleet/meta',
    files: [
      ...['docs/guide/clade.md', 'bench/clade-meta.ts', 'test/deep/golem-clade.test.ts', 'test/fixtures/clade'],
      ...['docs/guide/library.md', 'bench/clade-library.ts', 'test/deep/golem-library.test.ts'],
      ...['test/real/smollm2-clade.test.ts', 'test/real/market/market.test.ts', 'test/real/market/demo.test.ts'],
      ...[
        'test/real/market/trade-stage.ts',
        'test/real/market/killed-trader.ts',
        'test/real/market/sponsor.test.ts',
        ...DESK.files,
      ],
    ],
    lines: [
      ...DESK.lines,
      { file: 'src/surfaces/app/rooms.ts', cut: /^ {2}clade: .*\n {2}library: .*\n/m },
      { file: 'README.md', cut: /^\| `talaria clade` .*\n\| `talaria library` .*\n/m },
      { file: 'README.md', cut: /\[the clade\]\(docs\/guide\/clade\.md\) · / },
      { file: 'README.md', cut: /\[the library\]\(docs\/guide\/library\.md\) · / },
      { file: 'bench/run.ts', cut: /^ {2}'clade-meta': .*\n/m, isShared: true },
      { file: 'bench/run.ts', cut: /^ {2}'clade-library': .*\n/m },
    ],
    rows: [
      ...['test/requirements/golem-awake.ts', 'test/requirements/golem-dream-and-death.ts'],
      ...['test/requirements/meta.ts', 'test/requirements/market.ts'],
    ],
  },
  {
    name: 'market',
    folder: 'src/fleet/market',
    files: [
      ...['src/fleet/meta/trade', 'src/testing/market', 'test/fleet/meta/trade.test.ts', ...DESK.files],
      ...['scripts/compile-contracts.ts', 'scripts/fetch-chain.sh', 'bench/market.ts'],
    ],
    lines: [...DESK.lines, { file: 'bench/run.ts', cut: /^ {2}market: .*\n/m }],
    rows: ['test/requirements/market.ts', 'test/requirements/golem-dream-and-death.ts', 'test/requirements/meta.ts'],
  },
  {
    name: 'dashboard',
    folder: 'src/surfaces/web',
    files: [
      ...['docs/guide/dashboard.md', 'test/surfaces/web', 'bench/dashboard.ts'],
      ...PAGES.flatMap((name) =>
        ['light', 'dark', 'light-phone', 'dark-phone'].map((how) => `docs/images/dashboard-${name}-${how}.webp`),
      ),
    ],
    lines: [
      { file: 'src/surfaces/cli/surface-commands.ts', cut: /^ {2}\[\['dashboard'\], .*\n/m },
      { file: 'src/surfaces/cli/surface-commands.ts', cut: /^ {4}\(await import\('#surfaces\/web\/.*\n/m },
      { file: 'src/surfaces/cli/surface-commands.ts', cut: /^\/\*\* Commands of these words[\s\S]*?^\}\n\n/m },
      { file: 'README.md', cut: /^\[dashboard\]\(docs\/guide\/dashboard\.md\), /m },
      { file: 'bench/run.ts', cut: /^ {2}dashboard: .*\n/m, isShared: true },
    ],
    rows: REACH_ROWS,
  },
  {
    name: 'tui',
    folder: 'src/surfaces/tui',
    files: [
      ...['docs/guide/clade-screens.md', 'bench/clade-screens.ts', 'scripts/capture-screens.ts', 'scripts/capture'],
      ...WINDOWS.flatMap((name) => ['80x24', '200x60'].map((size) => `docs/images/screens-${name}-${size}.svg`)),
    ],
    lines: [
      { file: 'src/surfaces/cli/surface-commands.ts', cut: /^ {2}\[\['run', 'attach', 'clade'\], .*\n/m },
      {
        file: 'src/surfaces/app/home/config-schema.ts',
        cut: /^\/\*\* Of the screens\. \*\/\nconst tui = [\s\S]*?^\}\);\n/m,
      },
      { file: 'src/surfaces/app/home/config-schema.ts', cut: /^ {2}tui: .*\n/m },
      { file: 'bench/run.ts', cut: /^ {2}'clade-screens': .*\n/m },
      { file: 'package.json', cut: /^ {4}"capture:screens": .*\n/m },
      { file: 'README.md', cut: /\[the screens\]\(docs\/guide\/clade-screens\.md\) · / },
      { file: 'README.md', cut: /^\| `talaria run NAME`, .*\n/m },
    ],
    rows: [
      ...['test/requirements/golem-awake.ts', 'test/requirements/golem-dream-and-death.ts'],
      ...['test/requirements/meta.ts', 'test/requirements/market.ts'],
    ],
  },
];
