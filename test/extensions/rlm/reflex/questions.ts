// Questions over documents of this repository, each with words that its answer must hold; a quote answers when it holds those words. Twenty
// were in sight when the rules were made; the fifteen others were written afterwards and first measured with the rules as they are.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface DocumentQuestion {
  readonly document: string;
  readonly question: string;
  /** Stands in the document, white space folded. */
  readonly answer: string;
}

const ROOT = join(import.meta.dirname, '../../../..');

/** The page of another extension goes with that extension. */
function askable(questions: readonly DocumentQuestion[]): readonly DocumentQuestion[] {
  return questions.filter(({ document }) => existsSync(join(ROOT, document)));
}

const row = (document: string, question: string, answer: string): DocumentQuestion => ({ document, question, answer });

export const DOCUMENT_QUESTIONS = askable([
  row('docs/guide/approvals.md', 'What happens in a script where nobody can answer an approval?', 'it does not run'),
  row('docs/guide/approvals.md', 'How do I take an always back?', 'talaria permissions'),
  row(
    'docs/guide/approvals.md',
    'Which commands run under no setting, not even --yes?',
    'Some commands run under no setting',
  ),
  row('docs/guide/models.md', 'Where does a GGUF file go?', 'models` folder'),
  row('docs/guide/models.md', 'What answers when there is no model?', 'Without any model `reflex/1` answers'),
  row(
    'docs/guide/models.md',
    'What happens when I name a model that nobody offers?',
    'is refused with the nearest names, exit code 3',
  ),
  row(
    'docs/guide/memory-and-recall.md',
    'What is the difference between MEMORY.md and USER.md?',
    '`MEMORY.md` is about the work, `USER.md` about you',
  ),
  row(
    'docs/guide/memory-and-recall.md',
    'After how many turns is the conversation looked through for facts?',
    'After ten of your turns',
  ),
  row('docs/guide/memory-and-recall.md', 'Which setting turns all reviews off?', 'learning.enabled: false'),
  row('docs/guide/curator.md', 'How many seconds does a verify command have?', 'have 300 seconds'),
  row('docs/guide/curator.md', 'How many uses are needed for a verdict?', 'Under five uses there is no verdict'),
  row(
    'docs/guide/curator.md',
    'When is a skill left alone because it is too large?',
    'over 100,000 the skill is left alone',
  ),
  row('docs/decisions/0004-node-sqlite.md', 'Why was better-sqlite3 not chosen?', 'a compiled addon'),
  row('docs/decisions/0004-node-sqlite.md', 'Which version of SQLite comes with Node 24?', 'SQLite 3.53'),
  row('docs/decisions/0005-frozen-prompt.md', 'How many cache marks are set at most?', 'At most four cache marks'),
  row(
    'docs/decisions/0005-frozen-prompt.md',
    'Which two events may rewrite the prompt?',
    'a compression, and a change between structured and text tool calling',
  ),
  row('docs/decisions/0012-names.md', 'What does bloodstain mean?', 'the mark of a dead author'),
  row('docs/decisions/0012-names.md', 'Which file names are forbidden?', 'utils, helpers, common'),
  row(
    'docs/decisions/0016-forks-leave-no-messages.md',
    'What happens to the messages of a review?',
    'They are thrown away',
  ),
  row(
    'docs/decisions/0016-forks-leave-no-messages.md',
    'When should the decision be revisited?',
    'Somebody has to audit',
  ),
]);

export const LATER_QUESTIONS = askable([
  row(
    'docs/guide/long-conversations.md',
    'At which share of the window is a conversation compressed in the middle of a turn?',
    '85 %',
  ),
  row(
    'docs/guide/long-conversations.md',
    'Are messages deleted when the conversation is compressed?',
    'Nothing is deleted',
  ),
  row(
    'docs/guide/long-conversations.md',
    'How many of the first messages stay as they are?',
    'the first three messages',
  ),
  row('docs/guide/long-conversations.md', 'What is the smallest window that works?', 'Windows from 8K tokens up work'),
  row('docs/guide/moving-in.md', 'Are API keys imported from hermes-agent?', 'only with `--keys`'),
  row('docs/guide/moving-in.md', 'What is the exit code when something could not be read?', 'exit code is 1'),
  row('docs/guide/moving-in.md', 'What happens to things that are already here?', 'What is here already wins'),
  row(
    'docs/decisions/0008-deterministic-evidence-gate.md',
    'Why was a judge model rejected?',
    'expensive, unstable, open to persuasion',
  ),
  row(
    'docs/decisions/0008-deterministic-evidence-gate.md',
    'What can the gate not judge?',
    'It cannot judge paraphrase',
  ),
  row(
    'docs/decisions/0008-deterministic-evidence-gate.md',
    'Which word do surfaces say instead of verified?',
    'Surfaces say "cited"',
  ),
  row(
    'docs/decisions/0013-tools-read-messages.md',
    'Who is given a ModelClient?',
    'a `ModelClient` is given to nobody on that floor but the turn',
  ),
  row('docs/decisions/0015-recall-ranks.md', 'Which ranking function scores the candidates?', 'BM25'),
  row('docs/decisions/0015-recall-ranks.md', 'Why were embeddings not used?', 'a model for every message'),
  row(
    'docs/guide/skills-and-learning.md',
    'What does answering always do to a new skill?',
    'new skills of reviews are written without a question',
  ),
  row('docs/guide/skills-and-learning.md', 'Which command shows the learning demo?', 'npm run demo:learning'),
]);
