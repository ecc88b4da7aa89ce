// Owns the signs of a lure: a made-up requirement that makes a person fetch and run a stranger's program. Most signs are facts that the
// lure score adds up; a few are enough alone. Knows no section. Installers of good standing are ordinary and pass.
import { BAD_HOST, OUT_HOST, type Rule, ruleRows } from './rule.ts';

const PROGRAM =
  '(?:\\.(?:exe|msi|dmg|pkg|app|scr|bat|cmd|ps1|vbs|jar|apk|appimage|deb|rpm|iso|hta|lnk|run|command|bin|elf)\\b|\\.(?:zip|rar|7z|tar\\.gz|tgz|cab)\\b)';

export const LURE_RULES: readonly Rule[] = ruleRows('lure', [
  [
    'required',
    'fact',
    'required requires require must prerequisite prerequisites mandatory needed necessary before needs without first depends',
    "\\b(?:(?:is |are )?(?:required|mandatory|needed|necessary)\\b|requires?\\b|prerequisites?\\b|must (?:first )?(?:be )?(?:install\\w{0,4}|run|running|download\\w{0,3}|present|activ\\w{1,4}|set ?up|have)|needs? (?:the|to (?:be )?(?:install\\w{0,4}|run|download))|before (?:using|you|the|this|any|first|running|continuing|proceeding)|(?:will|does|do|can) ?n(?:o|')t (?:work|function|run|start|load)|cannot (?:work|function|run|start|be used)|won't (?:work|function|run)|without (?:it|this|the \\w{1,20}))",
    { kinds: ['prose', 'header', 'comment', 'code'], facts: ['required'] },
  ],
  [
    'paste',
    'fact',
    'copy paste terminal powershell prompt console cmd run win administrator spotlight iterm dialog shell',
    '\\b(?:(?:copy|paste|type|enter|drop)\\b[^.!?]{0,60}\\b(?:terminal|power ?shell|command (?:prompt|line)|console|cmd|run (?:dialog|box|window)|iterm|shell window|win ?\\+ ?r)|copy (?:and|&|\\+|then) (?:paste|run|execute)|(?:open|launch|start)\\b[^.!?]{0,20}\\b(?:terminal|power ?shell|command prompt|cmd|run dialog)\\b[^.!?]{0,80}\\b(?:paste|run|enter|execute|type|as (?:an )?admin\\w{0,11})|(?:win(?:dows)?(?: key)? ?\\+ ?[rx])|run (?:it |this |the following )?as (?:an )?administrator|(?:ask|tell|have|instruct|get|let)\\b[^.!?]{0,20}\\b(?:user|owner|them)\\b[^.!?]{0,30}\\b(?:paste|run|execute|open|download|install|double-click))',
    { kinds: ['prose', 'comment', 'header', 'code'], facts: ['paste'] },
  ],
  [
    'archive-password',
    'fact',
    '* password pass passwd pw passphrase passcode p extract unlock key parola passwort senha passwd hasło',
    '(?:(?:archive|zip|rar|7z|extract\\w{0,4}|unzip\\w{0,3}|unpack\\w{0,3}|decompress\\w{0,3}|installer)\\b[^!?\\n]{0,100}\\b(?:(?:password|passwd|pass(?:code|phrase)|pwd?|unlock (?:key|code))\\b\\s?(?:is|:|=|-|for|to|with|→|"|\'|`|\\()|pass(?: is|\\s?[:=]| [`"\']))|\\b(?:password|passwd|pass(?:code|phrase)?|pwd?|unlock (?:key|code))\\b\\s?(?:is|:|=|-|→)\\s?["\'`(]{0,2}[\\w!@#$%^&*.-]{3,24}["\'`)]{0,2}[^\\n]{0,80}(?:extract|unzip|archive|zip\\b|rar\\b|7z|unpack|run)|\\b(?:unzip|7z|7za|7zz|unrar|bsdtar)\\b[^\\n]{0,80}\\s(?:-p ?["\']?\\w|--passphrase)|password[- ]protected (?:zip|archive|rar|7z|package|file|installer)|(?:password|pass)\\b[^.!?\\n]{0,30}\\b(?:to|for) (?:extract|unzip|open|unpack|unlock|the (?:archive|zip|rar|package))|(?:\\.(?:zip|rar|7z|exe|dmg)|archiv\\w{0,3}|архив\\w{0,3}|压缩包|解压|圧縮|解凍|압축)[^\\n]{0,80}(?:contraseña|passwort|kennwort|mot de passe|senha|parola|пароль|密码|密碼|パスワード|비밀번호|hasło|wachtwoord)|(?:contraseña|passwort|kennwort|mot de passe|senha|пароль|密码|パスワード|비밀번호)\\s?(?:[:=：]|ist|es|est|é)\\s?["\'`(]{0,2}[\\w!@#.-]{3,24})',
    {
      facts: ['password'],
      unless:
        /encrypt(?:ed)? pdf|pdf|docx|xlsx|protect(?:ing)? (?:the |your )?(?:file|document|sheet)|keystore|sql|database|ssh/,
    },
  ],
  [
    'shields-off',
    'critical',
    'antivirus defender gatekeeper xattr spctl smartscreen avast edr firewall protection mppreference csrutil kaspersky norton security quarantine exclusion whitelist',
    '(?:\\b(?:disable|turn(?:ing)? off|switch(?:ing)? off|deactivate|pause|stop|quit|suspend|bypass|uninstall|exit|kill|close)\\b[^.!?\\n]{0,50}\\b(?:anti-?virus|windows defender|defender|real-?time protection|gatekeeper|smartscreen|edr|malware protection|endpoint protection|security software|virus (?:scanner|protection)|tamper protection|system integrity protection|\\bsip\\b)|\\bset-mppreference[^\\n]{0,60}-disable|add-mppreference[^\\n]{0,40}-exclusion|spctl --(?:master-disable|global-disable)|csrutil disable|(?:add|create|set)\\b[^.!?\\n]{0,40}\\b(?:exclusion|exception|whitelist|allow-?list)\\b[^.!?\\n]{0,40}\\b(?:antivirus|defender|security|firewall)|defendercontrol|sc (?:stop|config) (?:windefend|wscsvc)|netsh advfirewall set \\w{1,12} state off)',
    { facts: ['shields-off'] },
  ],
  [
    'quarantine-off',
    'fact',
    'xattr quarantine provenance unidentified anyway',
    '(?:xattr -\\w{0,3}[cdr]\\w{0,3}\\b|com\\.apple\\.quarantine|right-?click[^.!?]{0,40}\\bopen\\b[^.!?]{0,60}(?:unidentified|unsigned|warning|anyway)|(?:system settings|privacy (?:&|and) security)[^.!?]{0,60}open anyway|more info[^.!?]{0,20}run anyway)',
    { facts: ['gate-opened'] },
  ],
  [
    'warning-is-normal',
    'high',
    'false antivirus warning warnings flagged virus defender smartscreen safely unsigned unidentified positive browser gatekeeper',
    '(?:\\b(?:anti-?virus|defender|smartscreen|gatekeeper|browser|virustotal|macos|windows|security (?:software|tools?))\\b[^.!?]{0,60}\\b(?:flag|warn|block|complain|detect|report|alert|quarantine|show)\\w{0,4}\\b[^!?]{0,80}\\b(?:false[- ]positives?|ignore|safe(?:ly)?|normal|expected|allow|click|dismiss|anyway|harmless|nothing to worry)|\\b(?:ignore|dismiss|accept|click through|allow|bypass|skip past)\\b[^.!?]{0,40}\\b(?:any |the |all )?(?:security|virus|anti-?virus|malware|gatekeeper|smartscreen|unidentified developer|unknown publisher|defender|browser|macos|windows) (?:warnings?|alerts?|prompts?|messages?|dialogs?|notices?))',
    { facts: ['shields-off'], unless: /semgrep|eslint|scanner (?:rule|finding)|lint|compiler|deprecat/ },
  ],
  [
    'urgency',
    'fact',
    'immediately critical urgent important mandatory stop halt cannot refuse skip expire hours deadline security',
    '\\b(?:immediately|urgent(?:ly)?|right (?:now|away)|do not (?:proceed|continue|skip)|cannot (?:proceed|continue|be skipped)|must not be skipped|before (?:doing )?anything else|stop here|security (?:update|patch) (?:is )?required|critical (?:update|step|security)|important\\b)',
    { facts: ['urgency'] },
  ],
  [
    'made-up-component',
    'fact',
    'agent core driver helper provider runtime connector bridge companion utility service loader client authtool authenticator verifier activator plugin codec module engine desktop launcher updater sync tool kit binary cli daemon component openclawdriver openclawprovider openclawcli wallet',
    '\\b(?:(?:the|a|an|our|your|this|latest|official|required|install|download|run|and|called|named)\\s+)?["\'`*]{0,2}(?<name>[a-z][a-z0-9]{2,24}(?:[ _-]?[a-z0-9]{2,16}){0,2}[ _-]?(?:agent|core|driver|helper|provider|runtime|connector|bridge|companion|utility|auth(?:enticat\\w{1,3}|tool)?|loader|activator|codec|updater|sync(?:er)?|daemon|component|verifier|accelerator|enabler|gateway client|desktop (?:client|app)|support (?:package|pack|files)|setup (?:tool|wizard)|base package|windriver|client|engine))["\'`*]{0,2}\\b[^.!?\\n]{0,80}\\b(?:is |are |must |needs? |has |be |to )*(?:required|mandatory|installed|installation|running|downloaded|download|needed|prerequisite|necessary|first|package|present|active|before)\\b|\\b(?:requires?|install|download|needs?|depends on|run)\\b[^.!?\\n]{0,60}\\b[a-z][a-z0-9]{2,24}[ _-]?(?:agent|core|driver|helper|provider|runtime|connector|bridge|companion|utility|authtool|authenticator|loader|activator|codec|updater|sync(?:er)?|daemon|component|verifier|accelerator|enabler|windriver|support pack\\w{0,3}|setup tool)\\b',
    {
      facts: ['component'],
      unless:
        /node(?:\.js)?|python|java runtime|docker|user-agent|sub-?agent|the agent|an agent|database driver|jdbc|odbc|webdriver|chromedriver|nvidia driver|gpu driver|postgres|mysql|search engine|http client|api client|mcp client|redis|email client|ssh client|\.net (?:core|runtime)|container runtime|git credential|rendering engine|pip install|npm (?:i|install)|brew install|apt(?:-get)? install|uv |cargo /,
    },
  ],
  [
    'program-from-stranger',
    'high',
    'exe msi dmg pkg app scr bat cmd ps1 vbs jar apk appimage deb rpm iso hta lnk command bin elf zip rar 7z tgz gz cab',
    `(?:${OUT_HOST}|«chat»)(?:https?://)?[^\\s"'\`)]{0,200}?\\.(?:exe|msi|dmg|pkg|scr|bat|cmd|ps1|vbs|jar|apk|appimage|iso|hta|lnk|command|run|elf|rar|7z)\\b`,
    { facts: ['fetches-binary', 'file-host'], unless: /\bexample\b/ },
  ],
  [
    'archive-from-stranger',
    'fact',
    'zip tar tgz gz release releases download latest installer setup',
    `(?:${OUT_HOST}|«chat»)(?:https?://)?[^\\s"'\`)]{0,200}?(?:\\.(?:zip|tar\\.gz|tgz|cab)\\b|/(?:installer|setup|pkg|install|get)(?=[\\s"'\`)]|$|/?$)|/(?:releases|latest)/download\\b)`,
    { facts: ['fetches-binary'] },
  ],
  [
    'file-from-hub',
    'fact',
    'github githubusercontent gitlab dropbox drive onedrive discordapp cdn mega mediafire',
    `(?:«known»https?://(?:www\\.)?(?:github\\.com/[\\w.-]{1,60}/[\\w.-]{1,80}/(?:releases/|raw/|archive/|blob/)[^\\s"'\`)]{0,160}|(?:raw|objects)\\.githubusercontent\\.com/[^\\s"'\`)]{0,200}|gitlab\\.com/[^\\s"'\`)]{0,120}/(?:raw|releases|uploads)/[^\\s"'\`)]{0,80}|(?:www\\.)?dropbox\\.com/\\S{1,80}|drive\\.google\\.com/\\S{1,80}|onedrive\\.live\\.com/\\S{1,60}|1drv\\.ms/\\S{1,40})|«chat»https?://(?:cdn|media)\\.discordapp\\.(?:com|net)/attachments/)[^\\s]{0,60}?(?:${PROGRAM})?`,
    { facts: ['file-host'] },
  ],
  [
    'program-on-a-drive',
    'fact',
    'exe msi dmg pkg app scr bat zip rar',
    '\\.(?:exe|msi|dmg|pkg|scr|bat|rar)\\b[^\\n]{0,200}https?://(?:drive\\.google\\.com|docs\\.google\\.com|(?:www\\.)?dropbox\\.com|onedrive\\.live\\.com|1drv\\.ms|cdn\\.discordapp\\.com)|https?://(?:drive\\.google\\.com|(?:www\\.)?dropbox\\.com|onedrive\\.live\\.com|1drv\\.ms|cdn\\.discordapp\\.com)[^\\n]{0,200}\\.(?:exe|msi|dmg|pkg|scr|bat|rar)\\b',
    { facts: ['fetches-binary', 'file-host'] },
  ],
  [
    'bad-place',
    'fact',
    'https http curl wget download visit open',
    `${BAD_HOST}(?:https?://)?[\\w.-]{3,80}`,
    { facts: ['fetches-binary', 'file-host'], unless: /«address»\d/, kinds: ['prose', 'comment', 'header'] },
  ],
  [
    'run-it',
    'fact',
    'run open launch execute double start install chmod msiexec installer setup mount drag extract sh bash',
    `\\b(?:(?:run|open|launch|execute|double-?click|start|install|mount|drag)\\b[^.!?\\n]{0,60}\\b(?:the |it|installer|setup|package|binary|executable|\\S{1,40}\\.(?:exe|msi|dmg|pkg|app|bat|cmd|ps1|command|sh|scr|jar|run))|chmod \\+x \\S|msiexec /i|start-process|sudo installer|hdiutil (?:attach|mount)|extract\\b[^.!?\\n]{0,60}\\b(?:and|then)\\b[^.!?\\n]{0,30}\\b(?:run|open|launch|execute|start))`,
    { facts: ['runs-it'] },
  ],
  [
    'terminal-one-liner-from-page',
    'high',
    'page site visit open follow link instructions website portal',
    `\\b(?:visit|open|go to|browse to|navigate to|follow)\\b[^.!?\\n]{0,80}(?:${OUT_HOST})\\S{0,160}[^!?\\n]{0,140}\\b(?:copy|paste|run|execute|install|download)\\b[^.!?\\n]{0,80}\\b(?:command|commands|script|snippet|installer|terminal|powershell|one-?liner|setup|client|package)`,
    { facts: ['file-host', 'paste'] },
  ],
  [
    'verify-human',
    'critical',
    'human captcha robot cloudflare verification verify',
    '\\b(?:verify|prove|confirm|complete|pass)\\b[^!?\\n]{0,60}\\b(?:humans?|robots?|captcha|verification)\\b[^!?\\n]{0,160}\\b(?:win(?:dows)?(?: key)? ?\\+ ?r|paste|ctrl ?\\+ ?v|terminal|power ?shell|run dialog)',
    { facts: ['paste'] },
  ],
]);
