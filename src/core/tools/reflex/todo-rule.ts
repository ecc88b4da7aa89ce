// Owns the intent `todo`: the list of the todo tool, as the tool prints it, and one item put on it, done or taken off.
// Invariant: an item is named by its number or by words of just one item.
import type { JsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { readTodos, type TodoItem } from '../todo-tool.ts';
import { quoteResult } from './answers.ts';

const LIST = '((my|our|the) list|[my|our|the] (todo|todos|to-do|to-dos|to do|tasks|task) [list|lists])';
const FORMS: readonly string[] = [
  `[show|list|read|see|open|print|display] [me] [all] [my|our] (todo|todos|to-do|to-dos|tasks|task list|todo list|to-do list|open todos|open tasks)`,
  `what is [left|still] [on|in] ${LIST}`,
  `what (are my (todos|tasks)|do i [still] have to do|is left to do)`,
  '(todo|to-do) done {done:words}',
  '(todo|to-do|todo add|add todo|add a todo|new todo|add task|new task|add a task) [:] [to] {add:rest}',
  `(add|put|append) {add:words} (to|on|onto) ${LIST}`,
  `(add|put) (to|on) ${LIST} [:] {add:rest}`,
  '(mark|set|tick) [todo|task|item|number] {done:words} [off] (as done|done|as finished|as complete|complete|finished|off|as completed)',
  '(check|tick|cross) off [todo|task|item|number] {done:words}',
  '[i am|i have|i] (done with|finished with|completed|finished) {done:words}',
  '(done|finish|complete) [todo|task|item|number] {done:number}',
  `(remove|delete|drop|take|cross) {gone:words} (from|off) ${LIST}`,
  '(remove|delete|drop) (todo|task|item) [number] {gone:words}',
];

export const todoRule: ReflexRule = {
  purpose: 'memory',
  intent: 'todo',
  effect: 'home',
  examples: ['todo: call the printer', 'my todos', 'mark 1 as done'],
  match: (input) => input.fit(FORMS),

  restate({ slots: { add, done, gone } }) {
    if (add !== undefined) return `todo: ${add}`;
    if (done !== undefined) return `mark ${done} as done`;
    return gone === undefined ? 'my todos' : `remove ${gone} from my todo list`;
  },

  act(match, input, [result]) {
    if (result !== undefined) return quoteResult('todo', result);
    const { add } = match.slots;
    if (add !== undefined) return call({ todos: [{ content: add.slice(0, 500) }], merge: true });
    const named = match.slots.done ?? match.slots.gone;
    return named === undefined ? call({}) : change(named, match, input);
  },
};

function change(named: string, { slots }: ReflexMatch, { history }: ReflexInput): ReflexStep {
  const open = readTodos(history).filter(({ status }) => status !== 'cancelled');
  const found = open.filter(({ id }) => id === named.replace(/^#/, ''));
  const meant: readonly TodoItem[] =
    found.length > 0 ? found : open.filter(({ content }) => content.toLowerCase().includes(named.toLowerCase()));
  const [only, ...more] = meant;
  if (only === undefined) return { type: 'say', text: `No item of the todo list is "${named}".` };
  const verb = (id: string) => (slots.done === undefined ? `remove ${id} from my todo list` : `mark ${id} as done`);
  if (more.length > 0)
    return { type: 'ask', question: 'Which item?', choices: meant.slice(0, 4).map(({ id }) => verb(id)) };
  return call({ todos: [{ id: only.id, status: slots.done === undefined ? 'cancelled' : 'completed' }], merge: true });
}

function call(given: JsonObject): ReflexStep {
  return { type: 'call', calls: [{ name: 'todo', arguments: given }] };
}
