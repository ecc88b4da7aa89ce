// Owns the English words by which a request is read: what asks, what says little, what carries no content. Data only.
import { type Lexicon, wordSet as words } from './lexicon.ts';

/** Nouns that ask for a form by themselves: "summary of chapter 3". */
export const FORM_NOUNS = words(`
  summary list table overview count comparison translation outline explanation analysis timeline glossary index abstract total number
  names dates zusammenfassung liste tabelle übersicht anzahl vergleich übersetzung gliederung erklärung zeitleiste namen`);

/** After these a demonstrative stands alone. */
export const AFTER_ALONE = words(`
  for to in on at by with and or but better nicer somehow please again now properly right up out like as from into if so too then
  yourself quickly soon is was are were does do did can could will would should mean means work works go goes over first
  bitte noch mal einfach besser schöner ist war wird kann soll`);

export const ENGLISH: Lexicon = {
  clearVerbs: words(`
 summarize summarise list find count extract compare explain translate name identify outline collect verify describe show
 tell state determine calculate compute convert classify group sort rank rename replace remove delete 
 quote cite detect locate search report answer map plot tabulate measure estimate evaluate trace transcribe paraphrase condense
 highlight mark flag merge split filter select choose pick enumerate assess contrast derive document define gather 
 format order print return read total sum average match validate confirm mention note annotate test shorten expand
 recommend predict reconstruct label tag score grade pull separate combine reconcile cross-check point
 copy insert spell discuss specify save split divide draw recap
 quantify itemize itemise catalog catalogue chart sketch infer deduce fetch retrieve display present reproduce restate 
 abridge proofread characterize characterise categorize categorise pinpoint tally diff parse export 
 detail illustrate justify argue prove solve recount index subtract multiply weigh quiz grep dump lookup sum-up redact`),
  openVerbs: words(`
  analyze analyse check review fix improve change clean optimize optimise adjust examine investigate study inspect refactor
  enhance find see use teach brief rework rewrite rephrase reword simplify correct reformat give make put get turn create write add prepare produce draft generate build move fill transform propose suggest restructure reorganize reorganise revise elaborate advise`),
  handlingVerbs: words(`
  handle process do help continue go work look manage deal think consider polish tidy sort try start finish proceed run need want take
  update spend care respond reply arrange figure raise lift
  finalize finalise complete streamline modernize modernise elevate strengthen boost perfect assist support prettify edit deliver follow
  have undo redo ship decide push wrap`),
  questionWords: words(`
  what which who whom whose when where why how is are was were does do did has have had can could will would should`),
  genericNouns: words(`
  file files document documents doc docs text texts report code project data dataset app application system program repo repository
  folder directory content contents input material problem problems issue issues bug bugs error errors part parts item items page pages
  book paper work job task tasks version place places writing style quality structure layout design performance readability wording tone
  formatting language changes notes documentation codebase website site product package spreadsheet presentation slides deck draft manuscript experience standard standards level flow feel look appearance clarity wording details info
  information improvements improvement improved enhancements insights insight observations section sections paragraph paragraphs topic subject matter module numbers`),
  emptyWords: words(`
  thing things stuff something anything everything nothing whatever somewhere someone some any all bit bits lot lots kind sort way ways
  best right same again last time times maybe perhaps somehow please pls plz just really very quite more less better nicer prettier good
  nice great cool proper properly quickly soon later now then here there usual needed necessary appropriate possible ok okay thanks thank
  thx hi hello hey yes no etc so on also too well down with about know talked discussed said mentioned earlier before previous
  previously etcetera magic yourself myself ones one other others another few several many much magically done going happen happening
  working works need want like think idea mean bad wrong weird rid unnecessary useless boring ugly go look try shot hand moment minute
  keep posted informed judgement judgment accordingly happened happens needful care asap fyi btw missing remaining rest little whole
  overall absolutely totally completely usually normally always thoughts opinion opinions feedback opinion ideas input fine alright sense
  off broken enough ready new first second
  third next job dive fun junk mess thingy makeover facelift touch love life order deep thorough easy common decent solid fresh random
  news true shape make give get put take everyone everybody anybody anyone useful helpful interesting noteworthy today tomorrow yesterday`),
  functionWords: words(`
  a an the and or but if of in on at by for from to into onto with without within between among through during before after above below
  as than that this these those it its they them their he him his she her i me my we us our you your be been being am is are was were
  do does did has have had can could will would shall should may might must not don doesn didn isn aren wasn t s re ve ll d who whom
  whose which what when where why how there each every both either neither while because since until per via against only own such let
  please regarding concerning across around along toward towards upon over under up out off down whether though although unless versus
  vs according m im cannot again still yet already ever never`),
};
