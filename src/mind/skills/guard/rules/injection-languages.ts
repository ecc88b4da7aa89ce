// Owns overriding, concealing and obeying in the languages that are met most beside English. Knows no command.
import { OUT_HOST, type Rule, ruleRows } from './rule.ts';

export const INJECTION_LANGUAGE_RULES: readonly Rule[] = ruleRows('prompt_injection', [
  [
    'drop-rules-european',
    'critical',
    '* ignoriere ignorieren vergiss missachte ignorez ignore oubliez oublie ignora ignorar olvida olvide dimentica desconsidere anweisungen instrucciones consignes istruzioni zignoruj negeer',
    '(?:\\b(?:ignorier\\w{0,4}|vergiss|vergessen sie|missachte\\w{0,3})\\b[^.!?]{0,40}\\b(?:anweisung|instruktion|vorgabe|regel|richtlinie)\\w{0,3}|\\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) (?:pas|plus) compte)\\b[^.!?]{0,40}\\b(?:instructions|consignes|directives|règles)\\b[^.!?]{0,30}\\b(?:précédentes?|antérieures|ci-dessus|initiales|système|reçues)|\\b(?:ignor(?:a|e|ar|en)|olvid(?:a|e|ar|en)|no sigas|haz caso omiso de)\\b[^.!?]{0,30}\\b(?:instrucciones|indicaciones|reglas|directrices)\\b[^.!?]{0,30}\\b(?:anteriores|previas|iniciales|sistema)|\\b(?:ignora|dimentica|esqueça|desconsidere|ignore)\\b[^.!?]{0,40}\\b(?:istruzioni|regole|instruções|regras)\\b[^.!?]{0,30}\\b(?:precedenti|anteriori|anteriores|prévias|sistema)|(?:игнорируй|проигнорируй|забудь|не обращай внимания на)\\S{0,4}[^.!?]{0,40}(?:инструкци|указани|правил)|(?:忽略|无视|忘记|不要理会|請忽略|忽視)[^。]{0,14}(?:之前|以前|先前|上述|以上|前面|所有|系统|系統)[^。]{0,8}(?:指令|指示|说明|規則|规则|提示|约束)|(?:以前|これまで|上記|前|すべて)の?[^。]{0,8}(?:指示|命令|ルール|プロンプト)を?[^。]{0,4}(?:無視|忘れ)|(?:이전|위의|모든)[^.]{0,10}(?:지시|명령|규칙)[^.]{0,8}(?:무시|잊))',
  ],
  [
    'hide-from-owner-european',
    'high',
    '* nutzer benutzer anwender usuario utilisateur utente gebruiker użytkownik usuário',
    '(?:\\b(?:ohne|nicht|kein\\w{0,2})\\b[^.!?]{0,60}\\b(?:nutzer|benutzer|anwender)\\w{0,4}\\b[^.!?]{0,60}\\b(?:erwähn\\w{0,3}|inform\\w{1,6}|mitteil\\w{0,3}|sag\\w{0,3}|zeig\\w{0,3}|frag\\w{0,3}|wissen)|\\b(?:nutzer|benutzer|anwender)\\w{0,4}\\b[^.!?]{0,40}\\b(?:nicht|nichts|muss (?:das )?nicht)\\b[^.!?]{0,40}\\b(?:erwähn\\w{0,3}|inform\\w{1,6}|mitteil\\w{0,3}|sag\\w{0,3}|wissen|erfahren|merken|zeigen)|\\b(?:no|sin)\\b[^.!?]{0,40}\\b(?:menciones?|mencionar\\w{0,3}|informes?|informar\\w{0,3}|digas?|avisar\\w{0,3}|avises|muestres|decir\\w{0,4}|preguntar\\w{0,3})\\b[^.!?]{0,50}\\b(?:usuario|dueño|propietario)|\\b(?:ne|sans)\\b[^.!?]{0,40}\\b(?:mentionn\\w{1,3}|inform\\w{1,3}|dites|dis|prévenir|préven\\w{1,3}|avertir|signal\\w{1,3}|montr\\w{1,3}|demander)\\b[^.!?]{0,50}\\b(?:utilisateur|propriétaire)|\\b(?:non|senza)\\b[^.!?]{0,40}\\b(?:menzionare|informare|dire|avvisare|mostrare|dirlo|chiedere)\\b[^.!?]{0,50}\\b(?:utente|proprietario)|\\b(?:não|sem)\\b[^.!?]{0,40}\\b(?:mencione|mencionar|informe|informar|diga|avisar|mostre|perguntar)\\b[^.!?]{0,50}\\b(?:usuário|utilizador)|(?:не\\s|без\\s)[^.!?]{0,50}(?:сообща|говор|упомина|показыва|уведомл|информир|спрашива|рассказыва)[^.!?]{0,50}(?:пользовател|владельц)|(?:пользовател|владел)[^.!?]{0,30}\\s(?:не должен|не нужно|не следует|не обязательно)[^.!?]{0,30}(?:знать|видеть|сообщ|замеча)|(?:不要|不必|无需|不用|勿|別|请勿|切勿)[^。；;，,]{0,8}(?:告诉|告知|提及|通知|透露|提醒|让|显示给|向|告訴)[^。；;，,]{0,8}(?:用户|使用者|主人|用戶)|(?:用户|使用者|主人|用戶)[^。；]{0,8}(?:不需要|无需|不必|不会|不能|不应)[^。；]{0,6}(?:知道|知晓|察觉|发现|看到|知情)|(?:ユーザー|利用者|所有者)(?:に|へ|には)[^。]{0,16}(?:知らせ|伝え|言わ|報告し|見せ|通知し|話さ)[^。]{0,8}(?:ない|ず|なく|ないで)|(?:사용자|소유자)(?:에게|한테|에)[^.]{0,16}(?:알리지|말하지|보고하지|언급하지|보여주지|묻지))',
    { facts: ['hidden'] },
  ],
  [
    'obey-remote-foreign',
    'high',
    '* befolge folge ausführen sigue siga ejecuta suivez exécute exécutez segui esegui siga execute',
    `(?:${OUT_HOST})\\S{0,200}[^\\n]{0,160}(?:执行|遵循|按照|照做|服从|依照|実行|従っ|従う|따르|실행|следуй|выполн|исполн|befolg|folge|führe|ausführ|sigue|siga|ejecut|cumpl|suive?z|suis\\b|exécut|segui|esegui|execut)|(?:执行|遵循|按照|実行|従っ|실행|выполн|исполн|befolg|führe|ejecut|exécut|esegui)[^\\n]{0,120}(?:${OUT_HOST})`,
    { facts: ['runs-remote'], kinds: ['prose', 'comment', 'header'], unless: /install|安装|docs|文档/ },
  ],
  [
    'pasted-command-foreign',
    'fact',
    '* terminal konsole consola powershell',
    `(?:复制|粘贴|拷贝|コピー|貼り付け|ペースト|복사|붙여|скопируй|вставь|kopier|einfüg|copia|pega|copie[zr]?|colle[zr]?|incolla)[^\\n]{0,120}(?:终端|命令行|terminal|ターミナル|터미널|терминал|konsole|consola|powershell|eingabeaufforderung|invite de commandes)`,
    { facts: ['paste'], kinds: ['prose', 'comment'] },
  ],
  [
    'shields-off-foreign',
    'critical',
    '* antivirus virenscanner virenschutz defender antivirenprogramm',
    '(?:关闭|禁用|停用|退出|无效化|無効|オフ|停止|끄|비활성|отключ|выключ|деактивир|deaktivier\\w{0,3}|ausschalten|abschalten|desactiv\\w{1,4}|désactiv\\w{1,4}|disattiv\\w{1,4}|desativ\\w{1,4}|wyłącz\\w{0,3})[^\\n。.]{0,40}(?:杀毒|防病毒|安全软件|防火墙|ウイルス対策|セキュリティソフト|백신|антивирус|защитник|virenscanner|virenschutz|antivir\\w{1,14}|defender|pare-feu|firewall|gatekeeper)|(?:antivirus|virenscanner|антивирус|杀毒软件|ウイルス対策|백신)[^\\n]{0,60}(?:desact[ií]v\\w{0,5}|désactiv\\w{0,4}|deaktivier\\w{0,3}|отключ\\w{0,5}|关闭|禁用|無効|끄|disattiv\\w{0,4}|desativ\\w{0,4})',
    { facts: ['shields-off'] },
  ],
]);
