// Owns the decision whether one call may run: shown, runnable, valid, safe enough, or approved. Knows no surface and no tool.
// Invariant: nothing that was not shown ever runs; whatever is not clearly allowed is refused with a reason that the model can act on.
import { errorText } from '#base/errors.ts';
import type { Refusal } from '#base/result.ts';
import { refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import type { ToolCallPart } from '#core/model/message.ts';
import type { ApprovalAnswer, Approver } from '../approver.ts';
import type { ToolVerdict } from '../hooks.ts';
import type { AnyTool, Asked, Risk, ToolContext } from '../tool.ts';
import type { TurnEvent } from '../turn-event.ts';

/** Approvals the owner gave before. `always` outlives the session. */
export interface AllowList {
  has(key: string): boolean;
  add(key: string, scope: 'session' | 'always'): void | Promise<void>;
}

export interface ToolAccess {
  readonly tools: ReadonlyMap<string, AnyTool>;
  /** Names in the frozen prompt. */
  readonly shown: ReadonlySet<string>;
  /** Names that the prompt only hints at: they run as if they were shown. */
  readonly deferred?: ReadonlySet<string>;
  /** A turn may narrow what is runnable; absent: all that is shown. */
  readonly runnable?: ReadonlySet<string>;
  /** Only tools of effect `read` run; asked anew for each call. */
  readonly readOnly?: () => boolean;
  readonly approver: Approver;
  readonly allowList: AllowList;
}

/** What may run in a turn. */
export function runnableNames({ shown, deferred = new Set(), runnable }: OfferedNames): ReadonlySet<string> {
  const all = shown.union(deferred);
  return runnable ? all.intersection(runnable) : all;
}

type OfferedNames = Pick<ToolAccess, 'shown' | 'deferred' | 'runnable'>;

/** The call that this one stands for; itself where it stands for none, or cannot be read. */
export function realCall(call: ToolCallPart, { tools, shown }: ToolAccess): ToolCallPart {
  const tool = shown.has(call.name) ? tools.get(call.name) : undefined;
  const input = tool?.standsFor && call.malformed === undefined ? tool.input.safeParse(call.arguments) : undefined;
  return input?.success ? { ...call, ...tool?.standsFor?.(input.data as never) } : call;
}

export type PermitRefusal =
  | 'unknown-tool'
  | 'tool-not-allowed'
  | 'read-only'
  | 'invalid-arguments'
  | 'forbidden'
  | 'denied'
  | 'refused';

export interface Permitted {
  readonly ok: true;
  readonly tool: AnyTool;
  readonly input: never;
}

/** Finds the tool, validates the arguments (the border: inside, input is true), and loads its work. */
export async function checkCall(call: ToolCallPart, access: ToolAccess): Promise<Permitted | Refusal<PermitRefusal>> {
  const tool = access.tools.get(call.name);
  if (!access.shown.has(call.name) && !access.deferred?.has(call.name))
    return refuse('unknown-tool', unknownTool(call.name, access));
  if (!tool) return refuse('unknown-tool', `The tool ${call.name} is not available in this session any more.`);
  if (access.runnable && !access.runnable.has(call.name)) {
    return refuse(
      'tool-not-allowed',
      `${call.name} may not run in this turn. Runnable: ${[...access.runnable].join(', ') || 'none'}.`,
    );
  }
  if (access.readOnly?.() && tool.effect !== 'read')
    return refuse('read-only', `${call.name} may change something, and only reading is allowed here.`);
  if (call.malformed !== undefined) {
    return refuse(
      'invalid-arguments',
      `The arguments of ${call.name} are not a JSON object: ${call.malformed.slice(0, 300)}`,
    );
  }
  const parsed = tool.input.safeParse(call.arguments);
  if (parsed.success) return loaded(tool, parsed.data as never);
  const issues = parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'arguments'}: ${issueText(issue)}`);
  return refuse('invalid-arguments', `Invalid arguments for ${call.name}: ${issues.join('; ')}`);
}

async function loaded(tool: AnyTool, input: never): Promise<Permitted | Refusal<PermitRefusal>> {
  try {
    return { ok: true, tool: (await tool.load?.()) ?? tool, input };
  } catch (error) {
    return refuse('unknown-tool', `The tool ${tool.name} cannot be loaded: ${errorText(error)}`);
  }
}

function unknownTool(name: string, { shown, deferred }: ToolAccess): string {
  const near = deferred ? `Nearest: ${nearest(name, [...shown, ...deferred]).join(', ')}. ` : '';
  return `There is no tool named ${JSON.stringify(name.slice(0, 80))}. ${near}Tools: ${[...shown].join(', ') || 'none'}.`;
}

/** The three that share the most pairs of letters with it. */
function nearest(name: string, names: readonly string[]): readonly string[] {
  const pairs = (text: string) =>
    new Set(Array.from(text.toLowerCase(), (_, at) => text.toLowerCase().slice(at, at + 2)));
  const wanted = pairs(name);
  const rated = names.map((one) => ({
    one,
    shared: pairs(one).intersection(wanted).size / (one.length + name.length),
  }));
  return rated
    .sort((a, b) => b.shared - a.shared)
    .slice(0, 3)
    .map(({ one }) => one);
}

export interface PermitRequest {
  readonly call: ToolCallPart;
  readonly permitted: Permitted;
  readonly verdict: ToolVerdict;
  readonly context: ToolContext;
  readonly emit: (event: TurnEvent) => void;
}

/** Weighs risk and hooks, asks where needed. Resolves to undefined when the call may run. */
export async function permitCall(
  request: PermitRequest,
  access: ToolAccess,
  signal: AbortSignal,
): Promise<Refusal<PermitRefusal> | undefined> {
  const { permitted, verdict, context } = request;
  const risk: Risk = permitted.tool.risk?.(permitted.input, context) ?? { level: 'none' };
  if (risk.level === 'never') {
    report(request, { preview: '' }, { decision: 'never', reason: risk.reason });
    return refuse('forbidden', `This is never run: ${risk.reason}.`);
  }
  if (verdict.decision === 'refuse') return refuse('refused', verdict.reason);
  if (risk.level === 'ask') return approve(request, access, risk, signal);
  if (verdict.decision === 'ask') {
    const asked = {
      level: 'ask',
      reason: verdict.reason,
      key: `hook:${request.call.name}`,
      preview: request.call.name,
    } as const;
    return approve(request, access, asked, signal);
  }
  return undefined;
}

async function approve(
  request: PermitRequest,
  access: ToolAccess,
  risk: Asked,
  signal: AbortSignal,
): Promise<Refusal<PermitRefusal> | undefined> {
  const { tool, input } = request.permitted;
  const more = async () => (await tool.preview?.(input, request.context)) ?? '';
  const answer = await askOwner({ ...request, asked: risk, more }, access, signal);
  return answer.decision === 'deny'
    ? refuse('denied', `Not run: ${answer.reason ?? 'the owner said no'} (${risk.reason}).`)
    : undefined;
}

export interface OwnerQuestion extends Pick<PermitRequest, 'call' | 'emit'> {
  readonly asked: Asked;
  /** What stands under the preview; made only when it is shown. */
  readonly more?: () => Promise<string>;
}

/** The one way to an approval: what was allowed before counts, a lasting yes is remembered, and every answer is reported. */
export async function askOwner(
  question: OwnerQuestion,
  access: Pick<ToolAccess, 'approver' | 'allowList'>,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const { asked, call } = question;
  const { reason, key, reach } = asked;
  if (access.allowList.has(key)) {
    report(question, asked, { decision: 'remembered', reason });
    return { decision: 'once' };
  }
  const more = (await question.more?.()) ?? asked.more ?? '';
  const preview = more === '' ? asked.preview : `${asked.preview}\n${more}`;
  const { callId, name: tool } = call;
  const request = { callId, tool, preview, reason, key, ...(reach ? { reach } : {}) };
  const answer = await access.approver.approve(request, signal);
  report(question, asked, { decision: answer.decision, reason: answer.reason ?? reason });
  const { decision } = answer;
  if (decision === 'session' || decision === 'always') await remember(question, access, { key, scope: decision });
  return answer;
}

/** What was approved runs, also when the approval cannot be kept for later. */
async function remember(
  { emit }: Pick<PermitRequest, 'emit'>,
  { allowList }: Pick<ToolAccess, 'allowList'>,
  { key, scope }: { readonly key: string; readonly scope: 'session' | 'always' },
): Promise<void> {
  try {
    await allowList.add(key, scope);
  } catch (error) {
    emit({ type: 'notice', text: `the approval holds for this session only: ${errorText(error)}` });
  }
}

function report(
  { call, emit }: Pick<PermitRequest, 'call' | 'emit'>,
  { preview, reach }: Pick<Asked, 'preview' | 'reach'>,
  answer: Pick<Extract<TurnEvent, { type: 'approval' }>, 'decision' | 'reason'>,
): void {
  const far = reach === undefined ? {} : { reach };
  emit({ type: 'approval', callId: call.callId, preview: preview || call.name, ...answer, ...far });
}
