// Owns the German words by which a request is read; they count only when a request shows that it is German or mixed. Data only.
import { type Lexicon, wordSet as words } from './lexicon.ts';

/** One of these is enough to read German words too; none of them is an English word. */
export const GERMAN_SIGNS = words(`
  der das und ist nicht bitte mit ein eine einen einer einem für auf dem des im zum zur vom laut alle allen mal wer wann wie wo welche
  welcher welches welchen wieviele wieso warum kannst könntest können mach mache machen gib liste nenne zeig fasse fass schreibe wir ihr
  ich uns mir dir noch bis aus bei nach oder auch sich sind wurde wurden werden haben besprochen schau guck hilf übersetze erkläre finde
  vergleiche zähle extrahiere prüfe danke üblich übliche wieder den dich darum daran darüber davon usw`);

export const GERMAN: Lexicon = {
  clearVerbs: words(`
  fasse fass zusammenfassen zusammen liste auflisten nenne nennen nenn zähle zähl zählen vergleiche vergleich vergleichen übersetze
  übersetz übersetzen erkläre erklär erklären finde finden suche suchen extrahiere extrahieren schreibe schreib schreiben
  beschreibe beschreiben zeige zeig zeigen gib geben sag berechne berechnen rechne bestimme bestimmen ermittle ermitteln erstelle
  erstellen zitiere zitieren ordne ordnen sortiere sortieren formuliere formulieren kürze kürzen markiere markieren gliedere stelle
  sammle sammeln wandle ersetze lösche definiere`),
  openVerbs: words(`
  prüfe prüf prüfen verbessere verbesser verbessern ändere ändern untersuche untersuchen analysiere analysieren überarbeite
  überarbeiten korrigiere optimiere optimieren fixen checken helfen hilf`),
  handlingVerbs: words(`
  mach mache machen schau schaue schauen drüberschauen anschauen reinschauen guck gucken kümmere kümmern bearbeite bearbeiten erledige
  erledigen übernehmen übernimm anpassen ergänze ergänzen tu tun räum räume aufräumen brauche brauch möchte hätte lege`),
  questionWords: words(`
  wer wen wem wessen was welche welcher welches welchen welchem wann wo wohin woher wie wieviel wieviele warum wieso weshalb wozu womit
  worin wodurch ist sind war waren hat haben gibt kann können wird werden darf muss soll steht`),
  genericNouns: words(`
  datei dateien dokument dokumente text texte bericht code projekt daten system ordner inhalt material problem probleme fehler teil teile
  seite seiten arbeit aufgabe aufgaben stil qualität struktur vertrag unterlagen sachen dinge`),
  emptyWords: words(`
  sache sachen ding dinge zeug etwas was irgendwas irgendwie alles nichts mal eben kurz schnell bitte danke einfach nur sehr ganz mehr
  weniger besser schöner hübscher gut schön toll richtig ordentlich üblich übliche übliches übliche übliche gleiche selbe selben gleichen
  letztes letzte wieder nochmal noch weiter hier da dort drauf drüber rein raus draus dran damit darum daran darüber darin los fertig
  besprochen gesagt vorher vorhin gestern früher immer passt gewünscht nötig nötige nötigen möglich machbar bisschen paar rest einmal findest denkst meinst hältst dazu`),
  functionWords: words(`
  der die das den dem des ein eine einen einer einem eines und oder aber wenn dass ob von vom in im an am auf aus bei mit nach seit zu zum
  zur für über unter vor hinter neben zwischen durch gegen ohne um bis laut gemäß wegen während ich du er sie es wir ihr mich dich ihn uns
  euch mir dir ihm ihnen mein dein sein unser euer dieser diese dieses diesen jener jede jeder jedes alle allen aller nicht kein keine auch
  so als wie man sich hat haben hatte ist sind war waren wird werden wurde wurden kann kannst können könntest soll sollen sollte muss
  müssen darf dürfen mag bist bin habe hast wer wen wem wann wo was warum wieso welche welcher welches ja nein doch schon dann denn`),
};

/** German words that point at what the request does not name. */
export const GERMAN_PRONOUNS = words('das es dies diese dieses ihn ihm ihnen davon daraus draus damit daran');
