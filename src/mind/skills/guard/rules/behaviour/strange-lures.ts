// Owns the rules against being talked into it: programs from nowhere that a task cannot do without, secrets to be typed at strange places,
// help given from afar, fake faults. In English and, by its commonest words, in other languages. Registries and stores pass.
import { BAD_HOST, OUT_HOST, type Rule, ruleRows } from '../rule.ts';
import { PUBLIC_IP } from '../words/program.ts';

const TEXT = { kinds: ['prose', 'comment', 'header', 'code'] } as const;
const EXE =
  '\\.(?:exe|msi|msix|dmg|pkg|scr|bat|cmd|ps1|vbs|jar|apk|appimage|deb|rpm|iso|hta|lnk|xlsm|docm|pptm|scpt|crx|xpi|mobileconfig|vsix|reg|zip|rar|7z)\\b';

export const STRANGE_LURE_RULES: readonly Rule[] = ruleRows('lure', [
  [
    'program-and-place',
    'high',
    'exe msi msix dmg pkg app scr bat cmd ps1 vbs jar apk appimage deb rpm iso hta lnk run bin crx xpi mobileconfig vsix reg zip rar',
    `(?:[\\w-]{2,40}${EXE}[^\\n]{0,160}(?:${OUT_HOST})|(?:${OUT_HOST}|«chat»)(?:https?://)?[^\\n]{0,240}?[\\w-]{2,40}${EXE})`,
    {
      ...TEXT,
      facts: ['fetches-binary', 'file-host'],
      unless: /\bexample\b|backup|dataset|corpus|geonames|natural ?earth|\.zip[^\n]{0,40}\b(?:data|csv|shp|fonts?)\b/,
    },
  ],
  [
    'asks-for-the-keys',
    'high',
    'seed recovery mnemonic words phrase card cvc cvv expiry code codes otp 2fa password pin passphrase private wallet bank login session cookie',
    '\\b(?:ask|asks|prompt|request|get|have|let|enter|type|collect|take|give|tell|paste|read out|need|needs|provide|hand)\\b[^.!?\\n]{0,80}(?:\\b(?:12|24|twelve|twenty-?four)\\b[^.!?\\n]{0,20}\\bwords?\\b|\\b(?:recovery|seed|backup|secret) (?:phrase|words)\\b|\\bmnemonic\\b|\\bprivate key\\b|\\bcard (?:number|details|data)\\b|\\b(?:cvc|cvv|cvc2|security code on the (?:back|card))\\b|\\bexpiry date\\b|\\b(?:otp|one-time (?:code|password)|2fa code|sms code|verification code|code (?:that|the) (?:bank|phone|authenticator)\\w{0,5}|tan)\\b|\\b(?:bank\\w{0,3}|e-?mail|icloud|apple id|google|microsoft|paypal|system|login|admin\\w{0,9}|sudo|mac|windows|keychain|master|account|computer|company|vpn) (?:\\w+ )?(?:password|passwort|login|pin|passcode|credentials)\\b|\\bsession cookie\\b)',
    {
      kinds: ['prose', 'comment', 'header'],
      facts: ['secret-asked', 'paste'],
      unless:
        /\b(?:never|do not|don'?t|must not|should not|avoid|refuse|reset|forgot|choose|set (?:a|their|your)|create|app password|generate|test card|4242|validate|field|form|schema|column|mask|store (?:it )?in (?:the )?keychain|playwright|environment variable|env var|\.env|they (?:type|enter) (?:it )?(?:themselves|in)|user types)\b/,
      trade: /payment|stripe|checkout|totp|playwright/,
    },
  ],
  [
    'strange-site',
    'fact',
    'https http www',
    `${OUT_HOST}(?:https?://)`,
    { kinds: ['prose', 'comment', 'header'], facts: ['foreign-site'] },
  ],
  [
    'asked-through-a-site',
    'critical',
    'seed recovery words phrase card cvc cvv expiry otp code wallet private password login pin',
    '\\b(?:(?:12|24|twelve|twenty-?four)\\b[^.!?\\n]{0,20}\\bwords|(?:recovery|seed) (?:phrase|words)|mnemonic|private key|card number|cvc|cvv|expiry date|one-time code|otp|connect (?:the|your|their) wallet|setapprovalforall|(?:bank|e-?mail|account|login|company|system|admin\\w{0,9}|their|apple id|google|microsoft) password|log ?in with (?:the|your|their) (?:bank|google|microsoft|company|apple|work|e-?mail))\\b',
    {
      kinds: ['passage'],
      also: [
        new RegExp(`${OUT_HOST}`, 'u'),
        /\b(?:enter|type|paste|submit|connect|sign|fill|give|post|put|log ?in|open|visit|verify|unlock|confirm|activate)\b/,
      ],
      firm: true,
      unless:
        /\b(?:never (?:ask|enter|type|share|give|request)|do not (?:ask|enter|type|share)|don'?t (?:ask|enter|type|share)|phishing|scam)\b/,
    },
  ],
  [
    'help-from-afar',
    'critical',
    'anydesk teamviewer rustdesk screenconnect remote support ultraviewer supremo quick assist code id digits suporte fernwartung',
    '\\b(?:anydesk|teamviewer|rustdesk|screenconnect|ultraviewer|supremo|quick ?assist|remote (?:support|assistance|desktop|help)|dwservice|meshagent|atera|suporte remoto|fernwartung)\\b[^!?\\n]{0,200}\\b(?:code|id|digits?|number|pin|accept|allow|leave (?:it )?(?:open|running)|connect|technician|agent)\\b',
    {
      kinds: ['passage'],
      also: [
        /\b(?:ask|tell|give|have|let|send|read|enter|inform\w{0,3}|share|install|download|run)\b/,
        new RegExp(`${OUT_HOST}|\\b(?:our|the) (?:technician|engineer|support|team|agent|expert|specialist)`, 'u'),
      ],
      trade: /remote|support|rdp|desktop|helpdesk/,
    },
  ],
  [
    'code-from-the-screen',
    'fact',
    'code codigo código digits dígitos screen tela pantalla nummer number aparece shown',
    '\\b(?:code|c[oó]digo|nummer|number|id|pin)\\b[^.!?\\n]{0,40}\\b(?:on the screen|na tela|en (?:la )?pantalla|auf dem bildschirm|shown|displayed|aparece|erscheint|digits|d[ií]gitos)\\b',
    { kinds: ['prose', 'comment'], facts: ['password'] },
  ],
  [
    'opens-gates',
    'fact',
    'secure boot unknown sources allow unsigned certificate root profile mdm macros content developer unpacked extension warning aviso quarantine quarantined excluded exclude endpoint trust executionpolicy keep anyway sip driver signature integrity uac smart',
    '(?:\\bsecure boot\\b[^.!?\\n]{0,20}\\boff|\\b(?:turn|switch|disable)\\w{0,3}\\b[^.!?\\n]{0,20}\\b(?:secure boot|uac|smart app control|driver signature|signature enforcement|integrity protection|play protect)\\b|\\bunknown sources\\b|\\b(?:allow|accept|trust|ignore|confirm|click through|dismiss|approve|aceitar|akzeptier\\w{0,2}|accepter|aceptar)\\b[^.!?\\n]{0,50}\\b(?:the app|unsigned|unknown (?:publisher|developer)|warning|aviso|warnung|avertissement|advertencia|security settings|certificate|blocked|this developer)\\b|\\b(?:install|trust|import)\\b[^.!?\\n]{0,30}\\b(?:root certificate|ca certificate|configuration profile|mdm profile|device management)\\b|\\benable (?:macros|content|editing)\\b|\\bload unpacked\\b|\\bdeveloper mode\\b[^.!?\\n]{0,40}\\b(?:extension|browser|chrome)\\b|\\bset-executionpolicy (?:bypass|unrestricted)\\b|--force-all\\b|--no-?gpg-?check|--allow-unauthenticated|\\bquarantin\\w{1,3}\\b[^.!?\\n]{0,60}\\b(?:exclud|allow|restor|releas|except)|\\bkeep anyway\\b|\\b(?:allow|have) it (?:excluded|whitelisted))',
    { ...TEXT, facts: ['gate-opened'] },
  ],
  [
    'threatens',
    'fact',
    'lose lost expire expires suspended blocked reported today tonight limited locked deleted penalty deadline hours minutes otherwise charged',
    '\\b(?:lose|lost|forfeit|expires?|suspended|blocked|reported|locked|deleted|limited|charged|terminated|disabled)\\b[^.!?\\n]{0,60}\\b(?:today|tonight|within|hours?|minutes?|days?|end of the (?:day|month|week)|platform|account|rewards?|access|forever|otherwise|unless|until)\\b',
    { kinds: ['prose', 'comment', 'header'], facts: ['urgency'] },
  ],
  [
    'gate-opened-for-file',
    'critical',
    'enable macros content unpacked developer profile certificate root mdm',
    '\\b(?:enable (?:macros|content|editing)|load unpacked|developer mode|root certificate|ca certificate|configuration profile|mdm profile|\\.mobileconfig)\\b',
    {
      kinds: ['passage'],
      near: 260,
      also: [
        new RegExp(`${OUT_HOST}`, 'u'),
        /\b(?:must|required?|otherwise|without|needs?|once|ask|have|let|outdated)\b/,
      ],
      firm: true,
    },
  ],
  [
    'fetched-unpacked-run',
    'critical',
    'curl wget iwr invoke aria2c',
    `(?:curl|wget|iwr|invoke-webrequest|aria2c)\\b[^\\n]{0,240}«(?:unknown|free|address|odd|tunnel|paste)»[^\\n]{0,300}(?:\\btar\\b|\\bunzip\\b|\\b7z\\b|expand-archive)[^\\n]{0,200}(?:&&|;)\\s?(?:sudo )?(?:[/~.$][\\w/.~-]{2,60}|(?:ba)?sh )`,
    { kinds: ['code', 'prose'], facts: ['runs-remote'] },
  ],
  [
    'fault-opens-page',
    'critical',
    'webbrowser open xdg start startfile shell openexternal execfile',
    `(?:webbrowser\\.open|xdg-open|os\\.startfile|shell\\.openexternal|(?:^|\\n)\\s*(?:open|start) ["']?(?=«)|start-process)[^\\n]{0,120}(?:${OUT_HOST})`,
    {
      kinds: ['program'],
      also: [
        /\b(?:install|update|download|missing|not found|error|expired|required|out ?dated|upgrade|corrupt\w{0,3}|verify|runtime|codec|licen[cs]e|activat\w{1,4})\b/,
        /print|echo|write-host|console\.|puts|raise|throw|die|alert|dialog|messagebox/,
      ],
      firm: true,
      unless: /authorize|oauth|login\.|localhost|callback/,
    },
  ],
  [
    'fetched-and-installed',
    'critical',
    'curl wget iwr invoke urlretrieve urlopen requests fetch download start-bitstransfer aria2c bitstransfer',
    `(?:curl|wget|iwr|invoke-webrequest|urlretrieve|urlopen|requests\\.get|\\bfetch\\(|start-bitstransfer|aria2c)\\b[^\\n]{0,240}(?:${BAD_HOST}|«unknown»http://|${PUBLIC_IP})[^\\n]{0,200}`,
    {
      kinds: ['program'],
      also: [
        /(?:dpkg -i|rpm -\w*[iu]|installer -pkg|msiexec|chmod \+?[0-7x]|start-process|sudo (?:\.\/|sh|bash|~|\/tmp)|\b(?:ba)?sh (?:\.\/|\/tmp|~|\$)|subprocess\.\w+\(|os\.(?:system|exec\w*|startfile)|exec(?:file)?(?:sync)?\(|insmod|modprobe|hdiutil|\.\/[\w-]+|python3? (?:\/tmp|\.\/|~))/,
      ],
      firm: true,
      facts: ['runs-remote-bad', 'runs-remote'],
    },
  ],
  [
    'installed-from-stranger',
    'critical',
    'curl wget iwr invoke urlretrieve download start-bitstransfer aria2c',
    `(?:curl|wget|iwr|invoke-webrequest|urlretrieve|start-bitstransfer|aria2c)\\b[^\\n]{0,240}«(?:unknown|free)»[^\\n]{0,240}?(?<file>[\\w-]{3,40}\\.(?:deb|rpm|pkg|dmg|exe|msi|appimage|run|bin|sh|ps1|jar|apk|bat|command))\\b[^\\n]{0,200}(?:\\n[^\\n]{0,300}){0,6}?(?:dpkg -i|rpm -\\w*[iu]|installer -pkg|msiexec|chmod \\+?[0-7x]+|start-process|sudo|\\b(?:ba)?sh|open|hdiutil|java -jar|\\./)[^\\n]{0,80}\\k<file>`,
    {
      kinds: ['program'],
      facts: ['runs-remote', 'fetches-binary'],
      unless:
        /«subject»|\b(?:less|cat|more|bat|view|review|inspect)\b[^\n]{0,40}\.(?:sh|ps1)|sha256sum|shasum|gpg --verify|minisign|cosign/,
    },
  ],
  [
    'must-have-foreign',
    'fact',
    '* obrigatório obligatorio obligatoire erforderlich obbligatorio notwendig necesario necessário requerido requis nötig wymagany verplicht pflicht baixar baixe descargar descargue descarga télécharger téléchargez scaricare scarica herunterladen laden installieren instalar installer installare instale',
    '(?:\\b(?:obrigat[oó]ri[oa]|obligatori[oa]s?|obligatoire|erforderlich|notwendig|zwingend|voraussetzung|necesari[oa]|necessári[oa]|imprescindible|requis(?:e|es)?|requerid[oa]|indispensable|wymagan\\w|verplicht|pr[eé]requis|prerrequisito|pré-requisito)\\b|обязательн|необходим|требуется|必须|必需|必須|必要|필수|필요)',
    { ...TEXT, facts: ['required'] },
  ],
  [
    'do-it-foreign',
    'fact',
    '* baixar baixe descargar descargue descarga descárgalo télécharger téléchargez scaricare scarica herunterladen laden installieren instalar installer installez installare installa instale ausführen ejecutar ejecute exécuter exécutez eseguire executar execute abrir abra öffnen ouvrir ouvrez aprire pobierz uruchom download',
    '(?:\\b(?:baix(?:ar|e|a)|descarg(?:ar|ue|a|ue)|télécharge[rz]|scarica(?:re)?|herunterladen|lade|instal(?:ar|e|a|l[ae]r|lez|lieren|lare|lieer)|installieren?|ausführen|ejecut(?:ar|e|a)|exécute[rz]|esegu(?:ire|i)|execut(?:ar|e)|abr(?:ir|a|e)|öffnen|ouvr(?:ir|ez)|apr(?:ire|i)|pobierz|uruchom|peça|pida|bitte|demandez|chiedi)\\b|скача|установ|запуст|下载|安装|运行|打开|ダウンロード|インストール|実行|다운로드|설치|실행)',
    { ...TEXT, facts: ['runs-it'] },
  ],
]);
