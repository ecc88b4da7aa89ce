// Owns what is wrong with outside data in words for a person: the text of one issue of a schema. Knows no schema and no field.
// Invariants: pure; a text that the schema itself gives is kept; nothing of the data is repeated, since it may be a secret.

/** What zod tells about one fault; of other fields each kind has its own. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

type Facts = Readonly<Record<string, unknown>>;

/** zod's own wording begins so; anything else was written for this field. */
const GENERIC = /^(?:Invalid |Too (?:small|big)|Unrecognized key)/;

/** `must be a number`, `must be one of on, off`. */
export function issueText(issue: SchemaIssue): string {
  if (!GENERIC.test(issue.message)) return issue.message;
  const facts = issue as unknown as Facts;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[String(facts.expected)] ?? `a ${facts.expected}`}`;
    case 'invalid_value':
      return `must be ${choice(facts.values)}`;
    case 'unrecognized_keys':
      return `there is no ${listOf(facts.keys).join(', ')} here`;
    case 'too_small':
      return `must ${bound(facts, facts.inclusive === false ? 'more than' : 'at least', facts.minimum)}`;
    case 'too_big':
      return `must ${bound(facts, facts.inclusive === false ? 'less than' : 'at most', facts.maximum)}`;
    case 'invalid_union':
      return unionText(facts.errors);
    case 'invalid_key':
      return issueText(listOf(facts.issues)[0] as SchemaIssue);
    case 'invalid_format':
      return facts.format === 'regex' ? 'is not written as it has to be' : `must be a ${facts.format}`;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of names with values',
  nonoptional: 'given',
};

function choice(values: unknown): string {
  const all = listOf(values);
  return all.length === 1 ? String(all[0]) : `one of ${all.join(', ')}`;
}

function bound({ origin }: Facts, word: string, limit: unknown): string {
  if (origin === 'string') return limit === 1 ? 'not be empty' : `have ${word} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `have ${word} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `be ${word} ${limit}`;
}

/** What each form of a union asks for. */
function unionText(errors: unknown): string {
  const forms = listOf(errors).flatMap((issues) => listOf(issues).slice(0, 1)) as readonly SchemaIssue[];
  const texts = new Set(forms.map((form) => issueText(form).replace(/^must be /, '')));
  return texts.size === 0 ? 'is not of a form that is known here' : `must be ${[...texts].join(', or ')}`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
