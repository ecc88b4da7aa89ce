// Owns which tools a prompt shows whole and which it only hints at, and the two tools that stand for those: `tool_search` finds them, `tool_call`
// runs one, as if it had been called by its own name. Knows no tool. Invariants: nothing outside of the selection is found or run; the same
// selection and window give the same prompt.
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import { ellipsize, estimateTokens } from '#base/text.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { lenientInput } from './tool-cards.ts';
import { functionSchema, type KeptSchemas, type ToolSelection } from './tool-registry.ts';

/** `auto`: what is rare always, what others bring when all of it would take too much of the prompt; `always`: both. */
export type DeferMode = 'auto' | 'never' | 'always';

export interface ShownTools extends ToolSelection {
  /** They run too, without being shown. */
  readonly deferred: readonly AnyTool[];
}

/** Schemas of others' tools that are shown may take so much of the prompt. */
const MOST_TOKENS = 4_000;
const MOST_SHARE = 0.05;

/** `window`: tokens that the model reads at once; `named`: toolsets that somebody named: what is rare in them is shown. */
export function deferTools(
  selection: ToolSelection,
  { mode, window, named }: { readonly mode: DeferMode; readonly window: number; readonly named: readonly string[] },
  kept?: KeptSchemas,
): ShownTools {
  const brought = selection.tools.filter(({ defer }) => defer === 'when-many');
  const size = brought.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(functionSchema(tool, kept))), 0);
  const isMuch = mode === 'always' || size > Math.min(MOST_TOKENS, window * MOST_SHARE);
  const isOut = ({ defer, toolset }: AnyTool) =>
    mode !== 'never' && (defer === 'when-many' ? isMuch : defer === 'rare' && !named.includes(toolset));
  const deferred = selection.tools.filter(isOut);
  if (deferred.length === 0) return { ...selection, deferred };
  const tools = [...selection.tools.filter((tool) => !isOut(tool)), searchTool(deferred, kept), callTool];
  tools.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { ...selection, tools, schemas: tools.map((tool) => functionSchema(tool, kept)), deferred };
}

const HINT = 'Find more tools by words, for tool_call: ';
/** Characters of one group in the hint, and of all. */
const GROUP = 160;
const ALL_GROUPS = 1_200;

/** `delegate_task; github (40): create_issue, …` */
function hintOf(tools: readonly AnyTool[]): string {
  const groups = Object.entries(Object.groupBy(tools, ({ toolset }) => toolset)).map(([name, group = []]) => {
    const start = `mcp__${name.replace(/^mcp-/, '').replaceAll('-', '_')}__`;
    const names = group.map((tool) => (tool.name.startsWith(start) ? tool.name.slice(start.length) : tool.name));
    return group.length === 1 ? names.join() : ellipsize(`${name} (${group.length}): ${names.join(', ')}`, GROUP);
  });
  return ellipsize(groups.join('; '), ALL_GROUPS);
}

const searchInput = z.object({
  query: z.string(),
  limit: z.int().min(1).max(8).default(4).meta({ hidden: true }),
});

function searchTool(tools: readonly AnyTool[], kept?: KeptSchemas): AnyTool {
  return defineTool({
    name: 'tool_search',
    description: `${HINT}${hintOf(tools)}`,
    input: searchInput,
    toolset: 'tools',
    effect: 'read',
    run: async ({ query, limit }) => {
      const found = rank(tools, query).slice(0, limit);
      // Names, descriptions and schemas of servers are their words.
      const origin = found.every(({ defer }) => defer === 'rare') ? 'observed' : 'foreign';
      const text = found.map((tool) => JSON.stringify(functionSchema(tool, kept))).join('\n');
      return found.length > 0 ? { text, origin } : { text: `No tool fits. There are ${hintOf(tools)}` };
    },
  });
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** By the words that a tool's name and description have of the question; those of its name, and the rarer ones, count more. */
function rank(tools: readonly AnyTool[], query: string): readonly AnyTool[] {
  const asked = [...new Set(wordsOf(query))];
  const known = tools.map((tool) => ({ tool, name: wordsOf(tool.name), about: wordsOf(tool.description) }));
  const has = (words: readonly string[], word: string) =>
    words.some(
      (one) => one === word || (word.length > 3 && one.startsWith(word)) || (one.length > 3 && word.startsWith(one)),
    );
  const weights = asked.map((word) => {
    const count = known.filter(({ name, about }) => has(name, word) || has(about, word)).length;
    return count === 0 ? 0 : Math.log(1 + known.length / count);
  });
  const rated = known.map(({ tool, name, about }) => ({
    tool,
    score: asked.reduce((sum, word, at) => {
      const worth = has(name, word) ? 3 : has(about, word) ? 1 : 0;
      return sum + worth * (weights[at] ?? 0);
    }, 0),
  }));
  return rated
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

const callInput = lenientInput({ name: z.string(), arguments: z.looseObject({}).optional() });

/** It never runs itself: the turn makes the call that it stands for. */
const callTool = defineTool<z.infer<typeof callInput>>({
  name: 'tool_call',
  description: 'Run a tool of tool_search.',
  input: callInput,
  toolset: 'tools',
  effect: 'read',
  standsFor: ({ name, arguments: given = {} }) => ({ name, arguments: given as JsonObject }),
  run: async ({ name }) => ({ text: `There is no tool ${name} to run.`, isError: true, origin: 'observed' }),
});
