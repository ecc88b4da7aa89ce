// Owns a small everyday thesaurus: people ask with one word and had written another. Data, English, general; it knows no conversation.
// Invariant: a relation only adds weaker evidence to a word that the question holds; it never stands alone. The first word of a group
// relates to all others closely, the others to each other more loosely.
import { stemWord } from '#base/text/stem-word.ts';

const GROUPS = `
  mother mom mum mama mommy parent; father dad daddy papa parent; grandmother grandma granny nana;
  grandfather grandpa; child kid son daughter baby toddler; brother sibling bro; sister sibling sis;
  wife husband spouse partner married marry wedding; boyfriend girlfriend partner dating date relationship;
  friend buddy pal mate; family relative parent child; baby newborn infant pregnant birth;
  aunt uncle cousin nephew niece relative; dog puppy pup canine pet; cat kitten kitty feline pet;
  pet animal dog cat turtle bird hamster fish; photo picture pic image photograph snapshot;
  movie film cinema show; show series tv television episode; song music tune track album;
  band musician concert singer gig; book novel read author story; game videogame gaming play console;
  art painting paint draw drawing sketch artwork artist; dance dancing dancer choreography;
  instrument guitar piano violin drum clarinet; job work career employment occupation profession position;
  boss employer manager; company business firm startup; office workplace; colleague coworker;
  fire layoff unemployed lose; hire employ recruit; salary income pay wage; retire retirement;
  quit resign leave stop; interview application apply; promote promotion advertise marketing campaign;
  school college university class student education; study learn course class degree;
  teacher professor instructor mentor; teach coach train mentor instruct; graduate degree diploma graduation;
  exam test quiz; research investigate look study; skill ability talent; house home apartment flat place;
  move relocate relocation; room bedroom; furniture couch chair table decor;
  garden yard plant flower gardening; neighbor neighborhood community; city town village place;
  country nation homeland; farm ranch; beach ocean sea shore coast; mountain hill peak summit;
  forest wood tree nature; lake river pond water; park outdoors nature; camp camping tent campfire campsite;
  hike hiking trail trek walk; trip travel vacation holiday journey getaway tour visit;
  flight plane airport fly; car vehicle auto drive truck; bike bicycle cycling ride; train railway;
  boat ship kayak sail; road trip drive; hotel resort airbnb stay; visit went trip travel;
  food meal dish cuisine eat cook; cook cooking bake baking recipe kitchen; restaurant cafe diner eat;
  breakfast lunch dinner supper meal; dessert cake cookie pastry sweet icecream;
  drink beverage coffee tea beer wine; vegetable vegetarian vegan salad; fruit apple berry; snack treat candy;
  sport athletic game team play; soccer football; basketball hoop nba; run running race marathon jog;
  gym workout exercise fitness training; yoga meditation pilates; swim swimming pool; team squad group club;
  competition contest tournament championship match; win victory champion first prize trophy award;
  award prize medal trophy honor recognition; score point goal; coach trainer; health healthy wellness medical;
  doctor physician hospital clinic; sick ill illness disease flu; pain hurt ache injury injured;
  injury accident hurt break sprain; medicine drug medication treatment;
  therapy therapist counseling counselor; anxiety stress worry nervous anxious; depression sad down blue;
  diet weight nutrition; sleep rest nap bed; die death pass away funeral lose; surgery operation;
  allergy allergic; happy glad joy excited thrilled delighted; sad upset unhappy down; angry mad furious;
  scared afraid fear frightened; proud pride; grateful thankful appreciate gratitude;
  love adore enjoy like passion; hate dislike; tired exhausted drained; surprise shocked;
  calm relax relaxing peace peaceful destress unwind; motivate inspire inspiration encourage motivation;
  support help assist aid; advice tip suggestion suggest recommend; goal dream plan aspiration ambition;
  hobby pastime activity interest; favorite fave fav best prefer top; money cash dollar fund financial finance;
  expensive cost price pay; buy purchase get bought order shop; sell sale; store shop boutique market;
  gift present surprise give; clothes clothing outfit fashion dress shirt wear; shoe sneaker boot;
  jewelry necklace ring bracelet; tattoo ink; collect collection; donate donation charity give;
  volunteer volunteering charity help community; charity nonprofit fundraiser foundation; shelter homeless;
  computer laptop pc; phone mobile cell smartphone; internet online web website;
  software program app code programming; camera photography photo; email mail message letter;
  blog post vlog channel; video clip film record; social media instagram facebook twitter;
  start begin launch open found; finish complete end done; make create build craft; create make design build;
  fix repair; meet encounter; join attend participate sign enroll; attend participate went event;
  event festival gathering fair conference; party celebrate celebration birthday;
  celebrate celebration anniversary party; birthday anniversary; christmas holiday xmas; thanksgiving holiday;
  wedding marry ceremony; decide choose decision pick; plan planning intend schedule; realize understand learn;
  discuss chat conversation; describe explain; share show; try attempt; want wish hope; need require;
  use utilize; change transform; grow growth develop; improve better progress;
  problem issue challenge difficulty trouble; difficult hard tough challenging; easy simple;
  important key significant; big large huge; small little tiny; new recent; old ancient;
  beautiful pretty gorgeous stunning lovely; funny hilarious; strange weird odd; smart clever;
  religion faith church god spiritual; church faith pray; politics political government election;
  military army veteran soldier war; law legal lawyer; police officer cop;
  environment climate nature sustainability; weather rain snow storm; flood hurricane storm disaster;
  science scientist physics chemistry; space star planet moon; lgbtq gay lesbian transgender queer pride;
  gender transgender identity; adopt adoption; identity self; nickname name call;
  color red blue green yellow purple; size small medium large;
`;

/** How close two words of one group are. */
const CLOSE = 1;
const LOOSE = 0.6;

let table: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;

/** Related stems of a stem with their closeness (0..1]. */
export function relatedStems(stem: string): ReadonlyMap<string, number> {
  table ??= buildTable();
  return table.get(stem) ?? new Map();
}

function buildTable(): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const built = new Map<string, Map<string, number>>();
  for (const group of GROUPS.split(';')) relate(built, group.trim().split(/\s+/).map(stemWord));
  return built;
}

function relate(built: Map<string, Map<string, number>>, stems: readonly string[]): void {
  const [head] = stems;
  for (const one of stems) {
    const row = built.get(one) ?? new Map<string, number>();
    built.set(one, row);
    for (const other of stems.filter((stem) => stem !== one && stem !== '')) {
      const closeness = one === head || other === head ? CLOSE : LOOSE;
      row.set(other, Math.max(row.get(other) ?? 0, closeness));
    }
  }
}
