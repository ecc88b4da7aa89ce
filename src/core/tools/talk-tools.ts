// Owns the tools that need nothing but the conversation: todo, a task list that lives in the last result of its own (nothing else is stored, so
// that a resumed, forked or rebuilt session has it too), and clarify, a question to the owner. Know no store and no surface.
// Invariant: what todo prints can be read back to the same list; where nobody can answer, the model is told so at once and goes on.
import type { z } from 'zod';
import { ellipsize, oneLine } from '#base/text.ts';
import { parseSummary, summaryText } from '#core/agent/compress/summary.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { CLARIFY, TODO } from './tool-cards.ts';

type TodoInput = z.infer<typeof TODO.input>;
type GivenItem = NonNullable<TodoInput['todos']>[number];
type Status = NonNullable<GivenItem['status']>;

export interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: Status;
}

export function createTodoTool() {
  return defineTool<TodoInput>({
    ...TODO,
    summary: ({ todos }) => (todos ? `todo (${todos.length})` : 'todo'),
    run: async ({ todos, merge }, context) => {
      const before = readTodos(context.history());
      if (todos === undefined) return { text: renderTodos(before) };
      return updateTodos(merge ? before : [], todos);
    },
  });
}

function updateTodos(before: readonly TodoItem[], given: readonly GivenItem[]): ToolOutput {
  const items = new Map(before.map((todo) => [todo.id, todo]));
  for (const [i, change] of given.entries()) {
    const id = oneLine(change.id ?? freeId(items));
    const old = items.get(id);
    const content = change.content ?? old?.content;
    if (content === undefined)
      return {
        text: `todos.${i}: there is no item ${id} to change, and a new one needs content; nothing was changed`,
        isError: true,
      };
    items.set(id, { id, content: oneLine(content), status: change.status ?? old?.status ?? 'pending' });
  }
  return { text: renderTodos([...items.values()]) };
}

function freeId(items: ReadonlyMap<string, TodoItem>): string {
  let number = items.size + 1;
  while (items.has(String(number))) number += 1;
  return String(number);
}

const MARKS: Readonly<Record<Status, string>> = { pending: ' ', in_progress: '>', completed: 'x', cancelled: '-' };

function renderTodos(items: readonly TodoItem[]): string {
  if (items.length === 0) return '(the list is empty)';
  return items.map(({ id, content, status }) => `[${MARKS[status]}] ${id.replaceAll(' ', '_')}: ${content}`).join('\n');
}

const LINE = /^\[([ >x-])\] (\S+): (.+)$/;

/** The list as the last successful result of the tool in these messages shows it, or the summary that a compression put in its place. */
export function readTodos(messages: ReturnType<ToolContext['history']>): readonly TodoItem[] {
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i];
    const part = message?.role === 'tool' ? message.parts[0] : undefined;
    const kept = message && parseSummary(summaryText(message) ?? '')?.sections.Tasks;
    if (kept) return kept.flatMap(parseLine);
    if (part?.name === 'todo' && !part.isError) return part.text.split('\n').flatMap(parseLine);
  }
  return [];
}

function parseLine(line: string): readonly TodoItem[] {
  const [, mark, id, content] = LINE.exec(line) ?? [];
  const status = (Object.keys(MARKS) as Status[]).find((name) => MARKS[name] === mark);
  return status && id !== undefined && content !== undefined ? [{ id, content, status }] : [];
}

export function createClarifyTool() {
  return defineTool<z.infer<typeof CLARIFY.input>>({
    ...CLARIFY,
    summary: ({ question }) => `ask: ${ellipsize(question, 100)}`,
    run: async ({ question, choices = [] }, { asker }, signal) => {
      signal.throwIfAborted();
      const answer = await asker.ask({ question, choices }, signal);
      return answer.ok ? { text: `The user answered: ${answer.value}` } : { text: answer.detail, isError: true };
    },
  });
}
