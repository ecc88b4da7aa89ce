// Owns numbers, units, times and months in words, as data: six languages and their usual short forms. Knows no claim.
// Invariant: all keys are lower case without accents (as `plainWord` writes them); the word for one is in no list, since it is an article too.

/** `word=value`, several words of one value divided by `/`. */
const NUMBERS = `
zero=0 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve/dozen=12 thirteen=13 fourteen=14 fifteen=15 sixteen=16
seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty/fourty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90
null=0 zwei/zwo=2 drei=3 vier=4 funf/fuenf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwolf/zwoelf/dutzend=12 dreizehn=13 vierzehn=14
funfzehn/fuenfzehn=15 sechzehn=16 siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20 dreißig/dreissig=30 vierzig=40 funfzig/fuenfzig=50 sechzig=60
siebzig=70 achtzig=80 neunzig=90
cero=0 dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce/docena=12 trece=13 catorce=14 quince=15 dieciseis=16
diecisiete=17 dieciocho=18 diecinueve=19 veinte=20 veintiuno/veintiun=21 veintidos=22 veintitres=23 veinticuatro=24 veinticinco=25 veintiseis=26
veintisiete=27 veintiocho=28 veintinueve=29 treinta=30 cuarenta=40 cincuenta=50 sesenta=60 setenta=70 ochenta=80 noventa=90
deux=2 trois=3 quatre=4 cinq=5 sept=7 huit=8 neuf=9 dix=10 onze=11 douze/douzaine=12 treize=13 quatorze=14 quinze=15 seize=16 vingt/vingts=20
trente=30 quarante=40 cinquante=50 soixante=60 septante=70 octante/huitante=80 nonante=90
ноль/нуль=0 два/две/двух/двум/двумя/двое=2 три/трех/трем/тремя/трое=3 четыре/четырех/четырем=4 пять/пяти/пятью=5 шесть/шести/шестью=6
семь/семи/семью=7 восемь/восьми=8 девять/девяти=9 десять/десяти=10 одиннадцать/одиннадцати=11 двенадцать/двенадцати/дюжина=12
тринадцать/тринадцати=13 четырнадцать/четырнадцати=14 пятнадцать/пятнадцати=15 шестнадцать/шестнадцати=16 семнадцать/семнадцати=17
восемнадцать/восемнадцати=18 девятнадцать/девятнадцати=19 двадцать/двадцати=20 тридцать/тридцати=30 сорок/сорока=40 пятьдесят/пятидесяти=50
шестьдесят/шестидесяти=60 семьдесят/семидесяти=70 восемьдесят/восьмидесяти=80 девяносто/девяноста=90 сто/ста=100 двести=200 триста=300
четыреста=400 пятьсот=500 шестьсот=600 семьсот=700 восемьсот=800 девятьсот=900
второго=2 третьего=3 четвертого=4 пятого=5 шестого=6 седьмого=7 восьмого=8 девятого=9 десятого=10 одиннадцатого=11 двенадцатого=12
cien/ciento=100 doscientos/doscientas=200 trescientos/trescientas=300 cuatrocientos/cuatrocientas=400 quinientos/quinientas=500
seiscientos/seiscientas=600 setecientos/setecientas=700 ochocientos/ochocientas=800 novecientos/novecientas=900`;

/** Multiply what stands before them. */
const SCALES = `
hundred/hundert/cent/cents=100 thousand/tausend/tsd/mil/mille/тысяча/тысячи/тысяч/тыс=1000 k=1000
million/millions/millionen/mio/millon/millones/миллион/миллиона/миллионов/млн=1000000
billion/billions/milliarde/milliarden/mrd/milliard/milliards/миллиард/миллиарда/миллиардов/млрд=1000000000`;

/** The first word of a row names the unit. */
const UNITS = `ms millisecond milliseconds msec millisekunde millisekunden milisegundos millisecondes миллисекунд мс ミリ秒
s sec secs second seconds sekunde sekunden segundo segundos seconde secondes секунда секунды секунд сек с秒 秒
min mins minute minutes minuten minuto minutos минута минуты минут минуту мин 分 分間
h hr hrs hour hours stunde stunden std hora horas heure heures час часа часов ч 時間
d day days tag tage tagen dia dias jour jours день дня дней 日 日間
week weeks wk woche wochen semana semanas semaine semaines неделя недели недель неделю 週 週間
month months monat monate monaten mes meses mois месяц месяца месяцев ヶ月 か月 カ月
year years yr yrs jahr jahre jahren ano anos an ans annee annees год года лет 年 年間
b byte bytes octet octets байт バイト
kb kilobyte kilobytes ko кб
mb megabyte megabytes meg megs mega megas мб мегабайт メガ メガバイト
gb gigabyte gigabytes gig gigs giga gigas гб гигабайт гигов гига гиг ギガ ギガバイト
tb terabyte terabytes тб терабайт テラ テラバイト
kib
mib
gib
tib
bit bits бит
kbps
mbps mbit мбит
gbps gbit
hz
khz
mhz
ghz
% percent pct prozent porciento pourcent процент процента процентов パーセント
$ usd dollar dollars dolar dolares доллар доллара долларов ドル
€ eur euro euros евро ユーロ
£ gbp pound pounds pfund libras livres
¥ yen jpy 円
₽ rub рубль рубля рублей руб
px pixel pixels
mm millimeter millimetre millimetres миллиметр мм
cm centimeter centimetre centimetres centimetros zentimeter см センチ
m meter meters metre metres metros метр метра метров
km kilometer kilometers kilometre kilometres kilometros километр километра километров км キロメートル
t tonne tonnes ton tons tonnen tonelada toneladas тонна тонны тонн トン
kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramos килограмм кг キログラム
g gram grams gramm gramme grammes gramos грамм гр グラム
l liter liters litre litres litro litros литр литра литров リットル
ml milliliter milliliters millilitre millilitres mililitros мл ミリリットル
mi mile miles meile meilen milla millas
lb lbs
°c celsius grad
°f fahrenheit
w watt watts
kw
kwh
v volt volts
rpm
fps`;

const MONTHS = `january jan januar janner enero janvier январь января 1月
february feb februar febrero fevrier февраль февраля 2月
march mar marz maerz marzo mars март марта 3月
april apr abril avril апрель апреля 4月
may mai mayo май мая 5月
june jun juni junio juin июнь июня 6月
july jul juli julio juillet июль июля 7月
august aug agosto aout август августа 8月
september sep sept septiembre septembre сентябрь сентября 9月
october oct oktober okt octubre octobre октябрь октября 10月
november nov noviembre novembre ноябрь ноября 11月
december dec dezember dez diciembre decembre декабрь декабря 12月`;

/** Minutes beside an hour in words; `{h}` is the hour in digits, as the pattern finds it. [pattern, hours added, minutes] */
export const SPOKEN_TIMES: readonly (readonly [pattern: RegExp, hours: number, minutes: number])[] = [
  [/\bquarter (?:past|after) (\d{1,2})\b/g, 0, 15],
  [/\bhalf past (\d{1,2})\b/g, 0, 30],
  [/\bquarter (?:to|before|of|till) (\d{1,2})\b/g, -1, 45],
  [/\bviertel (?:nach|uber) (\d{1,2})\b/g, 0, 15],
  [/\bviertel vor (\d{1,2})\b/g, -1, 45],
  [/\bdreiviertel (\d{1,2})\b/g, -1, 45],
  [/\bhalb (\d{1,2})\b/g, -1, 30],
  [/\bhalf (\d{1,2})\b/g, 0, 30],
  [/\b(\d{1,2}) y cuarto\b/g, 0, 15],
  [/\b(\d{1,2}) y media\b/g, 0, 30],
  [/\b(\d{1,2}) menos cuarto\b/g, -1, 45],
  [/\b(\d{1,2}) ?h(?:eures?)? et quart\b/g, 0, 15],
  [/\b(\d{1,2}) ?h(?:eures?)? et demie?\b/g, 0, 30],
  [/\b(\d{1,2}) ?h(?:eures?)? moins le quart\b/g, -1, 45],
  [/(?<!\p{L})половин\p{L} (\d{1,2})\b/gu, -1, 30],
  [/(?<!\p{L})четверть (\d{1,2})\b/gu, -1, 15],
  [/(?<!\p{L})без четверти (\d{1,2})\b/gu, -1, 45],
  [/(\d{1,2})時半/g, 0, 30],
];

/** An hour, and minutes perhaps, said with a word of time between or behind them. */
export const CLOCK_TIMES: readonly RegExp[] = [
  /(?<![\d.:])(\d{1,2})[:.h](\d{2})(?![\d:]|\.\d)/g,
  /(?<![\d.:])(\d{1,2}) ?(?:h|uhr|heures|часов|часа|час) (\d{1,2})(?!\d)/g,
  /(?<![\d.:])(\d{1,2})時(\d{1,2})分/g,
  /(?<![\d.:])(\d{1,2}) ?(?:a\.?m\.?|p\.?m\.?|uhr|o'?clock|h|heures?|時|点)(?![\p{L}\d])/gu,
  /(?:\bat|\bum|a las|a la|\bà|\ba|\bв) (\d{1,2})(?![\d:.%])/g,
];

function table(text: string): ReadonlyMap<string, number> {
  return new Map(
    text
      .trim()
      .split(/\s+/)
      .flatMap((pair) => {
        const [words = '', value] = pair.split('=');
        return words.split('/').map((word) => [word, Number(value)] as const);
      }),
  );
}

function rows(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\n').flatMap((row) => {
      const [name = '', ...more] = row.split(' ');
      return [name, ...more].map((word) => [word, name] as const);
    }),
  );
}

export const NUMBER_WORDS = table(NUMBERS);
export const SCALE_WORDS = table(SCALES);
export const UNIT_NAMES = rows(UNITS);
/** Word → `1` to `12`. */
export const MONTH_NAMES: ReadonlyMap<string, string> = new Map(
  MONTHS.split('\n').flatMap((row, index) => row.split(' ').map((word) => [word, String(index + 1)] as const)),
);
