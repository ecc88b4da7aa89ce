// Owns what is known of a host by its name: whom installers and interfaces of good standing belong to, and which kinds of places are used
// for drops, pastes, tunnels and throw-away sites; and the marking of addresses in a folded line (`«collector»https://…`), so that rules
// can speak of kinds. Looks nothing up. Invariants: pure, bounded by the name's length; a line without an address comes back unchanged.

export type HostKind =
  | 'known'
  | 'local'
  | 'example'
  | 'unknown'
  | 'free'
  | 'paste'
  | 'chat'
  | 'shortener'
  | 'tunnel'
  | 'collector'
  | 'odd'
  | 'address';

const KNOWN = new Set(
  `
  github.com githubusercontent.com github.io gitlab.com bitbucket.org codeberg.org sr.ht npmjs.com npmjs.org yarnpkg.com pypi.org pythonhosted.org python.org
  python-poetry.org crates.io rustup.rs rust-lang.org docs.rs golang.org go.dev rubygems.org ruby-lang.org packagist.org getcomposer.org nuget.org maven.org apache.org
  anaconda.com anaconda.org conda.io bioconductor.org r-project.org cran.org rstudio.com posit.co julialang.org nodejs.org nodesource.com deno.land deno.com jsr.io bun.sh astral.sh pnpm.io
  docker.com docker.io kubernetes.io k8s.io k3s.io helm.sh hashicorp.com terraform.io brew.sh homebrew.sh debian.org ubuntu.com launchpad.net fedoraproject.org redhat.com
  quay.io gcr.io alpinelinux.org archlinux.org nixos.org gnu.org kernel.org mozilla.org microsoft.com visualstudio.com azure.com windows.net live.com office.com
  sharepoint.com google.com googleapis.com googleusercontent.com gstatic.com youtube.com android.com chromium.org apple.com icloud.com amazon.com amazonaws.com aws.dev
  cloudflare.com cloudfront.net fastly.com vercel.com vercel.sh netlify.com heroku.com fly.io railway.com render.com digitalocean.com linode.com hetzner.com supabase.co supabase.com
  neon.tech planetscale.com mongodb.com redis.io elastic.co postgresql.org mysql.com sqlite.org grafana.com prometheus.io datadoghq.com sentry.io newrelic.com
  openai.com anthropic.com claude.ai claude.com huggingface.co hf.co mistral.ai cohere.com cohere.ai groq.com together.ai together.xyz replicate.com perplexity.ai openrouter.ai deepseek.com
  ollama.com ollama.ai elevenlabs.io stability.ai x.ai nvidia.com pytorch.org tensorflow.org kaggle.com wandb.ai modal.com exa.ai tavily.com firecrawl.dev serper.dev brave.com
  slack.com atlassian.com atlassian.net notion.so notion.com linear.app asana.com trello.com airtable.com figma.com zoom.us dropbox.com box.com twilio.com sendgrid.com
  mailgun.net resend.com stripe.com paypal.com shopify.com hubspot.com salesforce.com zendesk.com intercom.io mailchimp.com todoist.com monday.com clickup.com
  twitter.com x.com reddit.com linkedin.com facebook.com instagram.com tiktok.com pinterest.com spotify.com medium.com wikipedia.org wikimedia.org stackoverflow.com
  arxiv.org nih.gov nasa.gov noaa.gov europa.eu doi.org crossref.org ebi.ac.uk uniprot.org rcsb.org openalex.org semanticscholar.org w3.org ietf.org schema.org
  json-schema.org shields.io unpkg.com jsdelivr.net cdnjs.com esm.sh tailwindcss.com radix-ui.com nextjs.org react.dev vuejs.org svelte.dev astro.build expo.dev
  agentskills.io modelcontextprotocol.io skills.sh clawhub.ai clawhub.com openclaw.ai 1password.com bitwarden.com sdkman.io starship.rs nvm.sh volta.sh asdf-vm.com mise.run
  mise.jdx.dev jdx.dev get.nextflow.io nextflow.io tailscale.com ngrok.com gradle.org jetbrains.com oracle.com ibm.com sourceforge.net haskell.org ghcup.haskell.org elixir-lang.org
  swift.org flutter.dev dart.dev zoxide.dev warp.dev zed.dev cursor.com cursor.sh codeium.com tabnine.com sourcegraph.com snyk.io semgrep.dev sonarsource.com codecov.io
  circleci.com travis-ci.com jenkins.io argoproj.io istio.io linkerd.io cilium.io getambassador.io pulumi.com ansible.com chef.io puppet.com vagrantup.com
  duckdb.org clickhouse.com snowflake.com databricks.com getdbt.com meltano.com airbyte.com prisma.io hasura.io convex.dev clerk.com auth0.com okta.com posthog.com
  mapbox.com openstreetmap.org openweathermap.org wttr.in open-meteo.com weather.gov alphavantage.co coingecko.com coinmarketcap.com binance.com coinbase.com etherscan.io
  infura.io alchemy.com foundry.paradigm.xyz paradigm.xyz getfoundry.sh solana.com anza.xyz release.solana.com tradingview.com yahoo.com polygon.io giphy.com unsplash.com pexels.com
  fontawesome.com bunny.net wordpress.org wordpress.com ghost.org substack.com matrix.org signal.org telegram.org discord.com whatsapp.com feishu.cn larksuite.com dingtalk.com weixin.qq.com qq.com
  chocolatey.org scoop.sh pi-hole.net ohmyposh.dev netdata.cloud rclone.org dokku.com coolify.io fluxcd.io influxdata.com atuin.sh jetify.com determinate.systems pixi.sh
  dagger.io infisical.com doppler.com chezmoi.io okteto.com cypress.io buildkite.com wasmer.io wasmtime.dev bytecodealliance.org emscripten.org macports.org tur.so turso.tech
  surrealdb.com cockroachlabs.com geldata.com questdb.io meilisearch.com typesense.org qdrant.tech weaviate.io lmstudio.ai jan.ai aider.chat opencode.ai ohmyz.sh eksctl.io
  ensembl.org pgscatalog.org gnomad.broadinstitute.org broadinstitute.org genome.jp opentargets.org string-db.org reactome.org ucsc.edu letsencrypt.org certbot.eff.org eff.org
  videolan.org ffmpeg.org imagemagick.org gimp.org blender.org inkscape.org libreoffice.org obsidian.md zotero.org calibre-ebook.com jellyfin.org home-assistant.io nextcloud.com
  wireguard.com openvpn.net torproject.org proxmox.com raspberrypi.com raspberrypi.org arduino.cc platformio.org espressif.com godotengine.org unity.com unity3d.com unrealengine.com
  aliyun.com aliyuncs.com baidu.com bilibili.com gitee.com tencent.com volcengine.com bigmodel.cn moonshot.cn siliconflow.cn modelscope.cn yandex.ru yandex.net
`
    .trim()
    .split(/\s+/),
);

const FREE = new Set(
  `
  onrender.com vercel.app netlify.app herokuapp.com workers.dev pages.dev repl.co replit.app replit.dev glitch.me web.app firebaseapp.com railway.app fly.dev surge.sh
  deno.dev azurewebsites.net 000webhostapp.com infinityfreeapp.com wixsite.com weebly.com blogspot.com github.dev codespaces.dev r2.dev backblazeb2.com lovable.app up.railway.app
  val.run pipedream.net cloudfunctions.net run.app hf.space gradio.live streamlit.app koyeb.app cyclic.app adaptable.app appspot.com
`
    .trim()
    .split(/\s+/),
);

const PASTE = new Set(
  `
  pastebin.com paste.ee hastebin.com ghostbin.com rentry.co rentry.org dpaste.com dpaste.org termbin.com ix.io 0x0.st sprunge.us paste.rs controlc.com justpaste.it privatebin.net
  glot.io gist.github.com gist.githubusercontent.com ideone.com jsfiddle.net codepad.org transfer.sh file.io gofile.io anonfiles.com bayfiles.com temp.sh tmpfiles.org catbox.moe litterbox.catbox.moe
  uguu.se oshi.at mediafire.com mega.nz mega.io zippyshare.com uploadfiles.io wetransfer.com filebin.net pixeldrain.com sendspace.com workupload.com bashupload.com telegra.ph
  snippet.host pastes.io paste.c-net.org cl1p.net pastefs.com dropmefiles.com krakenfiles.com
`
    .trim()
    .split(/\s+/),
);

const SHORTENERS = new Set(
  'bit.ly tinyurl.com t.co goo.gl is.gd v.gd cutt.ly rb.gy shorturl.at ow.ly rebrand.ly tiny.cc s.id t.ly git.io buff.ly adf.ly bl.ink short.io lnkd.in clck.ru u.to qr.ae dub.sh'.split(
    ' ',
  ),
);

const TUNNELS = new Set(
  `
  ngrok.io ngrok.app ngrok-free.app ngrok-free.dev ngrok.dev trycloudflare.com serveo.net localhost.run lhr.life loca.lt localtunnel.me bore.pub pinggy.io pinggy.link telebit.io
  duckdns.org no-ip.org no-ip.com ddns.net hopto.org zapto.org sytes.net dynu.net dynu.com afraid.org mooo.com myftp.org servebeer.com serveftp.com chickenkiller.com nip.io sslip.io
  portmap.io playit.gg tunnelto.dev devtunnels.ms
`
    .trim()
    .split(/\s+/),
);

const COLLECTORS = new Set(
  `
  webhook.site requestbin.com requestbin.net requestcatcher.com pipedream.com hookbin.com beeceptor.com postb.in ptsv2.com ptsv3.com mockbin.org mockbin.io oastify.com oast.fun oast.pro oast.live
  oast.site oast.online oast.me interact.sh interactsh.com burpcollaborator.net dnslog.cn ceye.io canarytokens.com canarytokens.org webhook.cool webhook-test.com typedwebhook.tools
  smee.io hook.eu1.make.com requestinspector.com requestrepo.com dnsbin.zhack.ca xss.ht bxss.me httpdump.app webhookrelay.com
`
    .trim()
    .split(/\s+/),
);

const CHAT =
  /^(?:api\.telegram\.org|(?:ptb\.|canary\.)?discord(?:app)?\.com|hooks\.slack\.com|ntfy\.sh|api\.pushover\.net)$/;
const ODD_TLD =
  /\.(?:xyz|top|tk|ml|ga|cf|gq|click|site|online|icu|cc|pw|zip|mov|cyou|sbs|rest|quest|buzz|monster|cfd|bond|lol|fun|website|host|press|stream|download|loan|win|bid|vip|cam|su|onion|i2p|forum|support|best|hair|beauty|skin|makeup|autos|homes|boats)$/;
const ODD_WORD =
  /(?:^|[.-])(?:evil|attackers?|malware|malicious|exfil\w{0,12}|c2|c-2|cnc|stealer?s?|grabber|beacon|drop-?(?:zone|box-?\d*|point|server)?|payloads?|phish\w{0,6}|backdoor|keylog\w{0,4}|botnet|darkweb|hackers?|h4x\w{0,4}|pwn\w{0,4}|loot|leak(?:s|ed)?|harvest\w{0,4}|rogue|sinister|shady|badguy|bad-?actor|adversary|intruder)(?=[.-]|$)/;
/** A well-known name in front of the one that counts: `login.vendor.com.update.live`. */
const POSING =
  /\.(?:com|org|net|io|dev)\.(?!(?:au|br|cn|mx|tr|sg|hk|tw|ar|co|my|ph|ua|vn|za|uk|jp|in|eg|pe|ng|pk|sa|il|nz|kr|id|th|es|pl|ru)$)[a-z0-9-]{2,40}/;
const EXAMPLE =
  /^(?:(?:www|api|app|docs|my|your|staging|dev|prod|test|cdn|static|auth|blog|shop)\.)*example\.(?:com|org|net)$|^(?:<|\{|\$|%|\[)|^your[-_.]|^my[-_]?(?:app|site|domain|company|server|host|org)\b|^(?:host|hostname|server|domain|site|url|base_?url|endpoint)$|(?:^|\.)yourdomain\.|(?:^|\.)mydomain\.|(?:^|\.)acme\./;
const LOCAL =
  /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|host\.docker\.internal|169\.254\.\d{1,3}\.\d{1,3})$|\.(?:local|localhost|lan|internal|svc|cluster)$|^[a-z0-9_-]+$/;
const PUBLIC_RESOLVER = /^(?:1\.[01]\.[01]\.1|8\.8\.[48]\.[48]|9\.9\.9\.9|208\.67\.22[02]\.22[02])$/;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|0x[0-9a-f]{6,8}|\d{8,10})$/;

function inSet(set: ReadonlySet<string>, host: string): boolean {
  for (let rest = host; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) if (set.has(rest)) return true;
  return false;
}

/** `host` in lower case, with or without port and user part. */
export function hostKind(host: string): HostKind {
  const bare = host.replace(/^[^@/]*@/, '').replace(/:\d*$/, '');
  if (PUBLIC_RESOLVER.test(bare) || PUBLIC_BODY.test(bare)) return 'known';
  if (LOCAL.test(bare) && !ADDRESS_NUMBER.test(bare)) return 'local';
  if (ADDRESS.test(bare)) return 'address';
  return namedHostKind(bare);
}

const ADDRESS_NUMBER = /^(?:0x[0-9a-f]{6,8}|\d{8,10})$/;

/** Only states and schools get names below these. */
const PUBLIC_BODY = /\.(?:gov|edu|mil|int)$|\.(?:gov|ac|edu|go|gob|gouv)\.[a-z]{2}$/;

function namedHostKind(bare: string): HostKind {
  if (inSet(COLLECTORS, bare)) return 'collector';
  if (inSet(PASTE, bare)) return 'paste';
  if (inSet(SHORTENERS, bare)) return 'shortener';
  if (inSet(TUNNELS, bare)) return 'tunnel';
  if (CHAT.test(bare)) return 'chat';
  if (ODD_WORD.test(bare)) return 'odd';
  if (EXAMPLE.test(bare)) return 'example';
  if (inSet(KNOWN, bare)) return 'known';
  if (inSet(FREE, bare)) return 'free';
  if (POSING.test(bare)) return 'odd';
  return ODD_TLD.test(bare) || bare.startsWith('xn--') || bare.includes('.xn--') ? 'odd' : 'unknown';
}

/** The label a site is known by: `parallel` of `docs.parallel.ai`, `bbc` of `www.bbc.co.uk`. */
export function siteLabel(host: string): string {
  const labels = host.replace(/:\d*$/, '').split('.');
  const last = labels.length - 1;
  const shortSecond = last >= 2 && /^(?:co|com|org|net|ac|gov|edu)$/.test(labels[last - 1] ?? '');
  return labels[shortSecond ? last - 2 : last - 1] ?? labels[0] ?? '';
}

const URL_START = /\b((?:https?|ftps?|wss?|tcp|udp|ldaps?):\/\/)([^\s/"'`<>)\],;|\\]{1,200})/g;
const SENDING =
  /\b(?:curl|wget|iwr|irm|invoke-\w+|nc|ncat|netcat|ssh|scp|sftp|rsync|telnet|dig|nslookup|post|send|sends|sending|upload|submit|forward|report|socket|connect|webhook|endpoint|tunnel|server|host|download|visit|open)\b/;
const BARE_HOST =
  /(?<![\w@./:»${}-])((?:[a-z0-9_-]{1,63}\.){1,5}(?:com|net|org|io|dev|app|co|ai|sh|me|xyz|top|site|online|live|info|biz|ru|su|cn|de|fr|uk|eu|us|nl|pl|it|es|br|in|jp|kr|tk|ml|ga|cf|gq|cc|pw|click|icu|club|space|fun|store|shop|tech|cloud|link|ws|to|tv|gg|pro|work|world|zip|mov|example|test|onion|invalid|icu|cyou|sbs|rest|host|website|press))(?=(?::\d{2,5})?(?:\/|\s|["'`|)>,;]|$)|:{1,2}[~/a-z])|(?<=[\w-]@)((?:[a-z0-9_-]{1,63}\.){1,5}[a-z]{2,24})(?=:{1,2}[~/a-z])|(?<![\w.»/-])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.-])/g;
/** Whether a site is the skill's own subject: its label is spoken of in the skill apart from addresses. */
export type IsSubject = (label: string) => boolean;

export function markHosts(folded: string, isSubject: IsSubject): string {
  const marked = folded.includes('://')
    ? folded.replace(
        URL_START,
        (_whole, scheme: string, host: string, at: number) =>
          `«${ofStranger(folded, at, isSubject) ?? kindFor(host, isSubject)}»${scheme}${host}`,
      )
    : folded;
  return folded.includes('.') && SENDING.test(folded)
    ? marked.replace(BARE_HOST, (host) => bare(host, isSubject))
    : marked;
}

const RAW_FILE = /^https:\/\/raw\.githubusercontent\.com\/([\w.-]{1,40})\//;
const OWNERS = new Set(
  'homebrew nvm-sh ohmyzsh pyenv rbenv k3s-io helm kubernetes docker microsoft google aws hashicorp rust-lang nodejs tj junegunn romkatv zsh-users asdf-vm anthropics openai huggingface github cli'.split(
    ' ',
  ),
);
/** Of packages, where the owner has no site of that name. */
const SCOPES = new Set(
  'angular vue nestjs typescript-eslint commitlint changesets storybook playwright tauri-apps wordpress ionic mermaid-js marp-team biomejs sveltejs vscode microsoft google aws types'.split(
    ' ',
  ),
);

/** Whether packages of a scope come from somebody whose sites are known. */
export function isKnownOwner(scope: string): boolean {
  const bare = scope.replace(/-(?:ai|labs|cli|inc|hq|js)$/, '');
  return SCOPES.has(scope) || ['com', 'io', 'dev', 'ai', 'org'].some((end) => KNOWN.has(`${bare}.${end}`));
}

/** A file of anybody's repository is as far as an unknown host. */
function ofStranger(folded: string, at: number, isSubject: IsSubject): HostKind | undefined {
  const owner = RAW_FILE.exec(folded.slice(at, at + 90))?.[1];
  return owner === undefined || OWNERS.has(owner) || isSubject(owner) ? undefined : 'unknown';
}

/** `setup.sh` is a file before it is a host. */
const FILE_LIKE = /^[^.]+\.(?:sh|zip|mov|app|pl|rs|py|md)$/;

function bare(host: string, isSubject: IsSubject): string {
  if (FILE_LIKE.test(host)) return host;
  const kind = kindFor(host, isSubject);
  return kind === 'known' || kind === 'local' || kind === 'example' ? host : `«${kind}»${host}`;
}

function kindFor(host: string, isSubject: IsSubject): HostKind | 'subject' {
  const kind = hostKind(host);
  if (kind !== 'unknown') return kind;
  const label = siteLabel(host);
  return label.length > 2 && label !== 'example' && isSubject(label) ? 'subject' : kind;
}
