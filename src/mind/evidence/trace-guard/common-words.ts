// Owns the everyday English words that begin sentences, steps and headings: capitalised there, they are no names. Data.
// Invariant: looked up by stem; a word that is missing only makes the gate stricter.
import { porterStem } from '#base/text/porter-stem.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';

const WORDS = `
  accept access account accurate action activate actual add address adjust advice agree ahead aim alert align allow already also alternative
  although always amount analyze analyse announce answer anyone anything anyway apart appear append apply approach appropriate approve argument
  around arrange article aside assign assist assistant assume attach attempt automatic available average avoid aware back background backup bad
  balance base basic batch begin behavior behaviour believe belong best better beyond big bind block body both branch break brief bring
  browse buffer bug build bundle button buy cache calculate call cancel capture card care carry case cat catch category cause caution certain
  chain change channel chapter character chart chat check choose chunk city clarify class clean cleanup clear click client clone close cloud
  code collect color colour column combine come command comment commit common communicate company compare compile complete compute concern
  concise conclude condition configure config confirm connect consider consistent constraint contact contain content context continue contract control
  convert cook copy correct cost count country cover create credential cross current custom customer cut daily dark dash data database date day
  deal debug decide declare default define delete deliver demo depend deploy deployment describe description design desktop destroy detail detect determine
  develop device different direct directory disable disk display do document documentation domain double download draft draw drive drop due duplicate
  each early easy edit editor effect either element else email emit empty enable encode encounter end endpoint engine enjoy ensure enter
  entire entry environment error escape especially establish estimate evaluate even event eventually every everyone everything evidence exact
  examine example except exclude execute exist exit expand expect expensive explain explicit explore export expose express extend external extra
  extract fact fail failure fall false family fast favorite favourite feature feel fetch few field figure file fill filter final finally find fine finish
  first fix flag flow flush focus folder follow food force foreign forget form format former forward frame free frequent fresh friend full
  function further future game garden gather general generate get give global go goal good grant great greet group grow guide habit half
  handle happen happy hard hardware have head header heading health hear heavy hello help hence hide high highlight history hit hobby hold home
  hope host hour house however human idea identify idle ignore image immediate implement import important improve include incorrect increase
  indeed indent independent index indicate individual info inform information initial initialize input insert inside inspect install instance instead
  instruction integrate intend interest interface internal into introduce invalid inspect invoke involve issue item iterate job join journal judge
  jump keep key kill kind know label language large last late later latest launch layer layout lead learn leave length less lesson let letter level
  library light likely like limit line link list listen little live load local locate location lock log login long look loop lose lot love low machine
  mail main maintain major make manage manual many map mark master match matter max maximum maybe mean measure meet member memory mention
  menu merge message method middle migrate mind minimal minimum minor minute miss mistake mode model modify module moment monitor month morning
  most mount move much multiple music must mute name navigate near necessary need nest network never new next nice night none normal normally
  note nothing notice notify now number object observe obtain occasional occur offer office offline often okay old once one online open operate
  option optional order organize original other otherwise outcome output outside overall override overview own owner pack package page pair
  parallel parameter parent parse part partial particular pass password past paste patch path pattern pause pay people perform perhaps period permission
  permit person personal phase phone photo pick picture piece pin ping pipe pitfall place plain plan play please plus point policy poll pop populate
  port possible post practice prefer preference prefix prepare prerequisite present press prevent preview previous primary print prior private probably
  problem procedure proceed process produce product profile program progress project prompt proper property propose protect prove provide public
  publish pull purge purpose push put quality query question queue quick quiet quit quote raise random range rate rather raw reach react
  read ready real realize reason reboot rebuild receive recent recipe recommend record recover recovery redirect reduce refer reference refresh
  refuse regular reject relate release reload rely remain remember remind remote remove rename render repair repeat replace reply report
  repository request require requirement rerun reset resolve resource respond response rest restart restore restrict result resume retain retry return reuse
  revert review revise rewrite right role roll rollback root rotate round route row rule run safe same sample save say scale scan schedule
  schema scope screen script scroll search second section secure see seem select self send sentence separate sequence series serve server service
  session set setting setup several shall share shell ship short show shut shutdown side sign signal similar simple simply since single site size skill skip
  sleep slow small smart so software solution solve someone something sometimes soon sort sound source space special specific specify speed split stable
  stack stage staging standard start startup state statement status stay step still stop storage store straight strategy stream strict string strip strong
  structure study style subject submit subscribe success suggest suggestion suitable summarize summary supply support suppose sure switch
  sync system table tag tail take talk target task teach team tell template temporary term test text thank therefore thing think third thorough
  threshold throw thus tidy time timeout tip title today together token tomorrow tool top topic total touch trace track traffic train transfer transform
  translate travel treat tree trial trick trigger trim trouble troubleshoot true truncate trust try tune turn twice type typical unable under undo
  uninstall unique unit unless unlock unpack unset until unused update upgrade upload upon usage use user usual valid validate value variable
  variant various verbose verify version very via video view virtual visible visit volume vote wait wake walk want warn warning wash watch way weak wear web website week
  weekly welcome well when whenever where whether while whole wide width window wipe wish within without wonder word work workaround worker
  workflow world worry write wrong year yes yesterday yet zero zone monthly hourly yearly weekend afternoon evening breakfast lunch dinner
  dog daughter son wife husband mother father brother sister child parent partner birthday allergy vegetarian vegan
`;

const stems: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/).map(stemWord));

export function isCommonWord(word: string): boolean {
  const lower = word.toLowerCase().replaceAll("'", '');
  const stem = stemWord(lower);
  return stems.has(stem) || stems.has(porterStem(lower)) || isStopStem(stem);
}
