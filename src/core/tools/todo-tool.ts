// Owns the todo tool: a task list that lives in the conversation itself. The last result in the history is the list: nothing else is stored,
// so that a resumed, forked or rebuilt session has it too.
// Knows no store. Invariant: what the tool prints can be read back to the same list.

import { z } from 'zod';
import { oneLine } from '#base/text.ts';
import { summaryText } from '#core/agent/compress/summary.ts';
import { parseSummary } from '#core/agent/compress/summary-text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { lenientInput } from './registry/lenient-input.ts';

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
type Status = (typeof STATUSES)[number];

export interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: Status;
}

const item = z.object({
  id: z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string()).optional(),
  content: z.string().min(1).max(500).optional(),
  status: z.enum(STATUSES).optional(),
});

const input = lenientInput({
  todos: z.array(item).max(100).optional(),
  merge: z.boolean().describe('change items by id; else replace all').optional(),
});

type TodoInput = z.infer<typeof input>;
type GivenItem = NonNullable<TodoInput['todos']>[number];

export function createTodoTool() {
  return defineTool<TodoInput>({
    name: 'todo',
    description: 'Task list for longer work.',
    input,
    toolset: 'todo',
    effect: 'write',
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
  const status = STATUSES.find((name) => MARKS[name] === mark);
  return status && id !== undefined && content !== undefined ? [{ id, content, status }] : [];
}
