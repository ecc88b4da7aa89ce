// Owns the folder names that projects share; they are the same in every human language.

export const COMMON_FOLDERS =
  /^(?:src|source|sources|docs?|documentation|tests?|specs?|lib|libs|apps?|packages|scripts|server|client|web|www|api|backend|frontend|examples?|tools|bin|build|dist|public|static|config|conf|infra|core|data|site|ui|services?|cmd|internal|pkg|e2e|bench|assets|website|demo|notes|logs?|modules|components|pages|routes|controllers|models|views|utils|helpers|hooks|styles|templates|migrations|db|vendor|node_modules|include|plugins|themes|images|img|media|downloads|desktop|documents|contracts|letters|reports?|archive|backups?|locales?|i18n|fixtures|workers?|jobs|queue|deploy|ops|charts|terraform|ansible|kubernetes|k8s|shared|common|types|schemas?|middleware|features?|store|game|android|ios|mobile|desktop)$/i;

/** Ordinary words that name a folder after `in`. */
export const PERSONAL_FOLDERS =
  /^(?:music|pictures|photos|videos|movies|books|games|recipes|invoices|drafts|work|school|projects|uploads|receipts|bills|taxes|home|personal|private|finance|travel|family|study|university|thesis|papers|slides|notebooks|email|mail|food|dinner|car|house|dog|cat|kids|baby|out|output|outputs|input|new|old|temp|tmp|main|inbox|other|base|team|page|story|web|news|research|cache)$/i;

/** Of the shared names, those that are no ordinary words: they name a folder even with an article. */
export const CODED_FOLDERS =
  /^(?:src|libs?|www|api|backend|frontend|bin|dist|conf|infra|ui|cmd|pkg|e2e|utils|db|node_modules|img|i18n|terraform|ansible|kubernetes|k8s|middleware)$/i;
