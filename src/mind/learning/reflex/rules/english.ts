// Owns the English forms and fixed texts of the rules about skills and procedures. Knows no logic. Another language is another file of
// the same shape.

export const forms = {
  repeat: [
    '(do|repeat|redo|replay|rerun|run) [again] (what|the same [thing] as|the steps that|whatever|everything) (we|i|you) did [again] (for|with|on|about|to|when we did) {topic:topic}',
    '(do|repeat|redo|replay) [it|that] [again] (like|as|the way|just like) (we|i|you) did (for|with|on|about|to) {topic:topic}',
    '(do|repeat|redo|replay) the same [thing|steps] [as] [again] (we|i|you) did (for|with|on|about|to) {topic:topic}',
  ],
  learn: [
    '(learn|remember) [how to do] (this|that|what we did|these steps|those steps|the last steps) [as] [a] [skill] [called|named] [{name:quoted}]',
    '(learn|remember) [how to do] (this|that|what we did|these steps|those steps|the last steps) (as|under|as a skill called|as a skill named|as the skill|as skill) {name:word}',
    '(save|keep|store|record|turn) (this|that|what we did|these steps|those steps|it) [in|into|as] (a skill|a procedure|skill|procedure) [(called|named) {name:word}]',
    '(make|create|write) [me] (a skill|a procedure) [out of|from|of] [this|that|what we did|these steps|it] [(called|named) {name:word}]',
    '/learn [{name:word}]',
  ],
  list: [
    '(what|which) skills (are there|are here|do you have|do we have|do you know|exist|have you [got]|can you do|have we [got])',
    '(list|show|enumerate) [me] [all] [of] [the|my|our|your] skills [you have|there are|we have]',
    '(what|which) (procedures|recipes) (are there|do you (know|have)|do we have)',
    '[the|my|our|your] skills',
  ],
  show: [
    '(show|read|view|open|display|print|describe) [me] [the|my|our] (skill|procedure) {name:word}',
    '(show|read|view|open|display|print) [me] [the|my|our] {name:word} (skill|procedure)',
    'what (does|is) [in] [the] (skill|procedure) {name:word} [do|say|contain]',
    'how does [the] (skill|procedure) {name:word} (work|go)',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const NAME = '[`"\']?(?<name>[a-z0-9][a-z0-9._-]{0,63})[`"\']?';
/** What may stand between the verb and the name of a skill that is to be made. */
const MEANT =
  '(?:\\s+(?:me|us|how to do|how we did|this|that|it|what (?:we|you|i) did|(?:these|those|the last|the) steps|in|into|as|an?|the|my|our|new))*';
const SOURCE = '(?:\\s+(?:out of|from|of)\\s+(?:this|that|it|what (?:we|you|i) did|(?:these|those|the) steps))?';
const SKILL = '(?:skill|procedure)';
const SHOW = '(?:show|read|view|open|display|print|describe)\\s+(?:me\\s+)?(?:the\\s+|my\\s+|our\\s+)?';

/** Patterns over the line without manners; `name` is a skill's, `with` its values. */
export const patterns = {
  /** Ways to name what is to be learned: any word counts, also an everyday one. */
  learnNamed: [
    new RegExp(
      `^(?:learn|remember|save|keep|store|record|turn|make|create|write)${MEANT}\\s+${SKILL}${SOURCE}\\s+(?:called|named)\\s+${NAME}$`,
      'i',
    ),
    new RegExp(
      `^(?:learn|remember|save|keep|store|record)${MEANT}\\s+as\\s+(?:an?\\s+|the\\s+|my\\s+)?${SKILL}\\s+${NAME}$`,
      'i',
    ),
    new RegExp(`^learn${MEANT}\\s+as\\s+${NAME}$`, 'i'),
  ],
  /** Behind `as` they are no names. */
  noName:
    /^(?:an?|the|my|our|skill|procedure|well|usual|before|soon|fast|now|too|again|today|later|please|then|also|always|follows)$/i,
  showNamed: [
    new RegExp(`^${SHOW}${SKILL}\\s+(?:called\\s+|named\\s+)?${NAME}$`, 'i'),
    new RegExp(`^what\\s+(?:does|is)\\s+(?:in\\s+)?(?:the\\s+)?${SKILL}\\s+${NAME}(?:\\s+(?:do|say|contain))?$`, 'i'),
  ],
  /** Said with the word skill: any name counts. */
  namedSkill:
    /^(?:do|replay|repeat|redo|apply|follow|use|run)\s+(?:the\s+|my\s+|our\s+)?(?:skill|procedure|recipe)\s+[`"']?(?<name>[a-z0-9][a-z0-9._-]{0,63})[`"']?(?:\s+(?:with|using|where)\s+(?<with>.+))?$/i,
  plainSkill:
    /^(?:do|replay|repeat|redo|apply|follow)\s+[`"']?(?<name>[a-z0-9][a-z0-9._-]{1,63})[`"']?(?:\s+(?:with|using|where)\s+(?<with>.+))?$/i,
  nameFirst: /^[`"']?(?<name>[a-z0-9][a-z0-9._-]{1,63})[`"']?\s+(?<with>[a-z][\w-]*=.+)$/i,
  also: /^(?:no\b[\s,.;:–-]*)?(?:(?:and|then|but|please|ok|you should|next time)[\s,]+)*(?:also|additionally)[\s,]+(?:(?:run|do|execute|call)\s+)?(?<command>.+)$/i,
  tooRun:
    /^(?:no\b[\s,.;:–-]*)?(?:(?:and|then|but|please|ok)[\s,]+)*(?:run|do|execute)\s+(?<command>.+?)\s+(?:too|as well)[.!]?$/i,
  skip: /^(?:no\b[\s,.;:–-]*)?(?:(?:and|but|please|next time)[\s,]+)*(?:skip|drop|leave out|remove|omit)\s+(?:the\s+)?step\s+(?:number\s+)?(?<step>\d{1,2})(?:\s+(?:next time|from now on|in future))?[.!]?$/i,
  instead:
    /^(?:no\b[\s,.;:–-]*)?(?:(?:and|but|please|next time)[\s,]+)*instead of\s+(?<old>.+?)[\s,]+(?:please\s+)?(?:run|use|do|execute|call)\s+(?<command>.+)$/i,
  insteadAfter:
    /^(?:no\b[\s,.;:–-]*)?(?:(?:and|but|please|next time)[\s,]+)*(?:run|use|do|execute|call)\s+(?<command>.+?)\s+instead of\s+(?<old>.+)$/i,
  /** Behind a command: where it goes. */
  position:
    /[\s,]+(?:(?<first>first|at the (?:start|beginning))|(?<side>before|after)\s+step\s+(?<step>\d{1,2})|(?:at the end|afterwards|last|too|as well|next time|from now on))[.!]?$/i,
  condition: /\b(?:if|when|whenever|unless|until|once|in case|every|tomorrow|later)\b/i,
} as const;

export const texts = {
  noSteps: 'The skill {} has no steps that I can replay.',
  notByRule: 'Step {} of {} is for a reader, not for a rule. Nothing was run:',
  needs: 'The skill {} needs {}.',
  replay: 'Replay {}?',
  replayed: 'Replayed {}: {} of {} steps.',
  stopped: 'Stopped: step {} of {} failed.',
  notFound: 'I find nothing that we did for "{}".',
  noTrace: 'Nothing was done in this conversation that could be kept: a skill needs two steps that worked.',
  learned: 'Kept as the skill {}:',
  waits: 'It waits for your yes: /pending accept {} keeps the skill {}:',
  patchWaits: 'It waits for your yes: /pending accept {} changes the skill {}:',
  notLearned: 'Not kept.',
  holdsSecret: 'Not kept: what we did holds a secret, and a skill holds none. This part does:',
  patched: 'Patched the skill {}:',
  skipped: 'Patched the skill {}: step {} is out.',
  notPatched: 'The skill {} was not changed.',
  noReplay: 'No skill was replayed right before this: nothing was changed.',
  noStep: 'The skill {} has no such step.',
  writes: 'This {}: {}\nRun exactly that, and add it to the skill {}?',
  noSkills: 'There are no skills yet.',
} as const;

export function fill(template: string, ...values: readonly (string | number)[]): string {
  return values.reduce<string>((text, value) => text.replace('{}', () => String(value)), template);
}
