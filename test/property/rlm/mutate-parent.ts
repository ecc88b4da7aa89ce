/** Changes a parent as a careless or lying model would: other ids, other words, other places, other shapes. */
import { type Case, type Dice, factClaim, type Json, type JsonMap, reference } from './random-parent.ts';

const KEYS = [
  'fact_id',
  'fact_ids',
  'supports_fact_id',
  'supports_fact_ids',
  'supported_fact_ids',
  'chunk_id',
  'evidence_chunk_id',
  'source_chunk_id',
  'text',
  'statement',
  'claim',
  'summary',
  'quoted_evidence',
  'retained_facts',
  'observed_facts',
  'facts',
  'retained_evidence',
  'observed_evidence',
  'claims',
  'details',
  'answer',
  'conclusions',
  'result',
  'evidence_references',
  'residual_gaps',
  '__proto__',
  'constructor',
  'toString',
];
const LIES = ['It holds 777 items.', 'Nobody knows.', 'not', 'FACT:XX-99-999 is proven.', '777', ' ', ''];

/** Changes `parent` in one place. */
export function mutate(parent: JsonMap, drawn: Case, dice: Dice): void {
  const [holder, key] = drawPlace(parent, dice);
  const value = (holder as JsonMap)[key] as Json | undefined;
  if (value === undefined) {
    if (!Array.isArray(holder)) put(holder, dice.pick(KEYS), drawValue(drawn, dice));
    else holder.push(drawValue(drawn, dice));
    return;
  }
  switch (dice.roll(7)) {
    case 0:
      put(holder, key, drawValue(drawn, dice));
      break;
    case 1:
      remove(holder, key);
      break;
    case 2:
      put(holder, Array.isArray(holder) ? key : dice.pick(KEYS), structuredClone(value));
      break;
    case 3:
      if (Array.isArray(holder)) holder.push(drawValue(drawn, dice));
      else put(holder, dice.pick(KEYS), drawValue(drawn, dice));
      break;
    case 4:
      put(holder, key, dice.roll(2) === 0 ? [value] : { [dice.pick(KEYS)]: value });
      break;
    default:
      if (typeof value === 'string') put(holder, key, reword(value, drawn, dice));
  }
}

/** A random value inside, as its holder and its key; deeper ones as likely as flat ones. */
function drawPlace(parent: JsonMap, dice: Dice): readonly [JsonMap | Json[], string] {
  let holder = dice.roll(6) === 0 ? parent : claimPart(parent, dice);
  for (;;) {
    const keys: readonly string[] = Object.keys(holder);
    if (keys.length === 0) return [holder, '0'];
    const key: string = dice.pick(keys);
    const value: Json | undefined = (holder as JsonMap)[key];
    if (typeof value !== 'object' || value === null || dice.roll(5) === 0) return [holder, key];
    holder = value;
  }
}

/** Where claims are; the parent when there is no such part any more. */
function claimPart(parent: JsonMap, dice: Dice): JsonMap | Json[] {
  const part = parent[dice.pick(['result', 'evidence_references'])];
  return typeof part === 'object' && part !== null ? part : parent;
}

function drawValue({ retained, omitted }: Case, dice: Dice): Json {
  const fact = dice.pick([...retained, ...omitted]);
  const lie = dice.pick(omitted);
  const values: readonly Json[] = [
    fact.fact_id,
    fact.chunk_id,
    fact.text,
    lie.fact_id,
    lie.chunk_id,
    lie.text,
    factClaim(fact),
    factClaim(lie),
    reference(lie),
    [reference(fact)],
    [factClaim(lie)],
    [lie.text],
    [fact.fact_id],
    { claim: lie.text },
    dice.pick(LIES),
    null,
    5,
    true,
    [],
    {},
    [[]],
    [5],
    { ...factClaim(fact), evidence_chunk_id: null },
  ];
  return structuredClone(dice.pick(values));
}

function reword(text: string, { omitted }: Case, dice: Dice): string {
  const at = dice.roll(text.length + 1);
  switch (dice.roll(9)) {
    case 0:
      return text.toUpperCase();
    case 1:
      return ` “${text}”\n`;
    case 2:
      return text.slice(at);
    case 3:
      return text.slice(0, at);
    case 4:
      return `${text} ${dice.pick(omitted).text}`;
    case 5:
      return text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10));
    case 6:
      return `${text.slice(0, at)} ${dice.pick(LIES)} ${text.slice(at)}`;
    case 7:
      return text.replace(' ', '  ');
    default:
      return text.slice(0, at) + dice.pick(['x', '0', ' ', '.', '"']) + text.slice(at);
  }
}

function put(holder: JsonMap | Json[], key: string, value: Json): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function remove(holder: JsonMap | Json[], key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}
