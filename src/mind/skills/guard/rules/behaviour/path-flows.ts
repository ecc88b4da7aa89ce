// Owns the rules by which a stranger's name becomes a path: followed from where it enters, over one variable, to the file that is opened.
// Knows wholes only. A name that is checked, cut to its last part or made anew on the way passes.
import { type Rule, ruleRows } from '../rule.ts';
import { PATH_CHECK } from '../words/program.ts';

const CODE = { kinds: ['program'], unless: new RegExp(PATH_CHECK, 'u') } as const;

/** A name that somebody beyond the machine has chosen. */
const STRANGER =
  '(?:\\$_(?:get|post|request|files|cookie)\\b|\\breq(?:uest)?\\.(?:params|query|body|url|args|form|path|getparameter)\\b|\\bparams\\[|\\.getparameter\\(|decodeuricomponent\\(|\\br\\.(?:url\\.(?:path|query)|formvalue|pathvalue)|\\.searchparams\\.get\\(|\\bself\\.path\\b|\\bunquote\\(|\\b(?:c|ctx)\\.(?:param|params|query)\\b|\\.originalname\\b|getsubmittedfilename\\()';
const STRANGER_WORDS =
  '_get _post _request _files _cookie get post request files req params getparameter decodeuricomponent formvalue pathvalue searchparams self unquote ctx originalname getsubmittedfilename query';

/** Where pieces are put together to a path. */
const JOINS =
  '(?:\\bjoin\\(|paths\\.get\\(|\\bfile\\(|["\'`][\\w./:-]{0,40}/["\'`]\\s?[.+,%]\\s?|["\'`][^"\'`\\n]{0,40}/(?:\\$\\{|#\\{|\\{|\\$)?|__dir__|\\b(?:root|base\\w{0,8}|dir|\\w{0,12}_?dir|folder)\\s?[+/]|\\b(?:include|require)(?:_once)?\\b)';
const OPENS =
  /(?:readfile\w{0,4}|createreadstream|createwritestream|writefile\w{0,4}|sendfile|send_file|servefile|fileresponse|os\.(?:readfile|open|openfile|create|writefile)|\bopen\(|file\.(?:read|open|write|binwrite)|read_(?:bytes|text)|write_(?:bytes|text)|files\.(?:copy|write|read|newinputstream)\w{0,10}|fileinputstream|fileoutputstream|file_(?:get|put)_contents|move_uploaded_file|\binclude\b|\brequire(?:_once)?\b|\.save\(|\bunlink\(|copyfile)/;

export const PATH_FLOW_RULES: readonly Rule[] = ruleRows('path_traversal', [
  [
    'strangers-name-in-path',
    'high',
    STRANGER_WORDS,
    `${JOINS}[^\\n;]{0,80}?${STRANGER}`,
    { ...CODE, also: [OPENS], near: 600 },
  ],
  [
    'strangers-name-carried',
    'high',
    STRANGER_WORDS,
    `(?<![\\w$.])(?<name>\\$?\\w{1,30})\\s?:?=\\s?[^\\n]{0,100}?${STRANGER}(?:[^\\n]{0,300}\\n){1,10}?[^\\n]{0,200}?(?:${JOINS}[^\\n;]{0,60}?|\\+\\s?)(?<![\\w$])\\k<name>(?!\\w)`,
    { ...CODE, also: [OPENS], near: 900 },
  ],
  [
    'upload-keeps-its-name',
    'high',
    'filename originalname name files uploadfile multer formfile',
    '\\.(?:save|write|rename|mv|create|open|copy)\\w{0,10}\\([^\\n]{0,80}(?:join\\(|/["\'`]\\s?[+.]|\\$\\{|f["\'][^"\'\\n]{0,40}\\{)[^\\n]{0,60}(?:\\.filename|originalname|\\.name)\\b',
    { ...CODE, also: [/request\.files|uploadfile|multer|req\.files?\b|formfile|multipart/] },
  ],
  [
    'server-names-the-file',
    'high',
    'filename disposition parsemediatype',
    `${JOINS}[^\\n;]{0,60}\\[["']filename["']\\]`,
    { ...CODE, also: [/parsemediatype|content-disposition|headers?\b/] },
  ],
  [
    'entry-names-joined',
    'high',
    'infolist namelist getmembers entries getentries files readdir',
    'for\\s?\\(?(?:const |let |var |final )?(?<name>\\w{1,16})\\b[^\\n]{0,14}(?: in | of |:=? ?|range )[^\\n]{0,60}(?:infolist|namelist|getmembers|\\.entries|getentries)\\b(?:[^\\n]{0,200}\\n){1,6}?[^\\n]{0,80}(?:join\\([^\\n]{0,60}|/ |\\+ ?|\\{)\\k<name>\\b',
    { ...CODE, also: [/zip|tar|archive/, /"wb?"|'wb?'|write|copyfileobj|symlink|create/] },
  ],
  [
    'archive-fully-trusted',
    'high',
    'fully_trusted fully',
    'filter\\s?=\\s?["\']?fully_trusted|fully_trusted_filter',
    { kinds: ['program'] },
  ],
  [
    'entry-becomes-link',
    'high',
    'symlink symlinksync createsymboliclink linkname',
    '(?:os\\.symlink\\(|symlink(?:sync)?\\(|createsymboliclink\\(|symlink_to\\()[^\\n]{0,80}(?:linkname|\\.read\\(|readlink|\\.data|\\.tostring\\()',
    { ...CODE, also: [/zip|tar|archive/] },
  ],
  [
    'listed-names-fetched',
    'high',
    'read',
    '(?:curl|wget|jq|gh api|unzip -\\w*l|tar -?\\w*t)\\b[^\\n]{0,200}\\|[^\\n]{0,80}while [^\\n]{0,30}\\bread (?:-\\w{1,3} )*(?<name>\\w{1,20})\\b(?:[^\\n]{0,200}\\n){1,8}?[^\\n]{0,200}(?:-o|>|\\bcp|\\bmv|\\btee|-c)\\s[^\\n]{0,60}/\\$\\{?\\k<name>\\b',
    CODE,
  ],
  [
    'copied-by-strangers-name',
    'high',
    'cp mv cat rsync ln tee',
    '(?:(?<![\\w$])(?<name>\\w{1,20})=["\']?\\$\\((?:[^()\\n]{0,120}(?:curl|wget|jq|gh api|yq)\\b[^\\n]{0,160})\\)[^\\n]{0,20}\\n(?:[^\\n]{0,200}\\n){0,8}?[^\\n]{0,60}\\b(?:cp|mv|rsync|tee|ln)\\b[^\\n]{0,100}/["\']?\\$\\{?\\k<name>\\b)',
    { ...CODE, unless: new RegExp(`${PATH_CHECK}|version|latest|tag_name|\\bsha\\b`, 'u') },
  ],
  [
    'any-path-as-written',
    'high',
    'path paths target targets include includes includes: names links link destinations',
    '\\b(?:paths?|targets?|includes?|names?|links?|destinations?)\\b[^.!?\\n]{0,80}\\b(?:(?:exactly )?as (?:(?:it|they) (?:stands?|is|are|comes?)\\b|written|given|received|spelled)|unchanged|verbatim|wherever (?:it|they|the)|anywhere on)',
    {
      kinds: ['passage'],
      near: 320,
      also: [
        /\babsolute\b|`?\.\.(?:\/|`)|`~|\$home|\boutside\b|\bwherever\b|symlinks?|symbolic/,
        /\b(?:outside authors?|strangers?|customers?|clients?|senders?|submitters?|guests?|visitors?|contributors?|uploaders?|suppliers?|third part\w{1,3}|anyone|come from|without (?:question|asking|check\w{0,3})|also when|even (?:if|when)|no matter)\b/,
      ],
      unless:
        /\b(?:reject|refuse|block|never (?:write|follow|extract|accept|read|leave)|attack|traversal|zip slip|vulnerab|must (?:stay|lie|be) (?:in|under))/,
    },
  ],
]);
