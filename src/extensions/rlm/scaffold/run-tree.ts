/**
 * Owns the shape of a run and its moves: its state, its nodes, its queue (notes 13.1, 13.3, 13.4).
 * It does not know calls, prompts or clocks. Invariant: the queue holds exactly the queued nodes, no node is deeper than the limit, an ended run has
 * no live node; only listed moves are made, each comes out of `drain` once; a move that is refused throws and changes nothing; back to the queue a
 * node goes a limited number of times; who fails or is cancelled takes its live descendants along.
 * Serves seed 003: the outer scaffold owns tree state, scheduling and termination.
 */
import { TalariaError } from '#base/errors.ts';

export interface RlmNode {
  readonly id: string;
  readonly parent_id: string | null;
  readonly ac_node_id: string;
  readonly depth: number;
  readonly state: NodeState;
  readonly children_ids: readonly string[];
  /** How often it went back to the queue. */
  readonly retries: number;
}

type NewNode = Pick<RlmNode, 'id' | 'ac_node_id'>;

export interface TreeLimits {
  /** 0..5; the root has depth 0. */
  readonly max_depth: number;
  /** Selections from the queue. */
  readonly max_iterations: number;
  /** Nodes that work at once; a parent that waits for its children does not count. */
  readonly max_in_flight: number;
  readonly max_retries: number;
}

export interface RlmTree {
  readonly run_id: string;
  readonly run_state: RunState;
  readonly termination_reason: TerminationReason | null;
  readonly root_id: string;
  readonly limits: TreeLimits;
  readonly iteration: number;
  readonly nodes: Readonly<Record<string, RlmNode>>;
  /** First in, first out. */
  readonly work_queue: readonly string[];
}

const ROOT = 'rlm_node_root';
const DEEPEST = 5;
const DEFAULT_TREE_LIMITS: TreeLimits = { max_depth: DEEPEST, max_iterations: 64, max_in_flight: 1, max_retries: 1 };

const MOVES_OF_NODES = {
  queued: ['preparing', 'cancelled'],
  preparing: ['context_bound', 'failed', 'cancelled'],
  context_bound: ['awaiting_hermes', 'cancelled'],
  awaiting_hermes: ['validating_response', 'blocked_retry', 'failed', 'cancelled'],
  validating_response: ['committing', 'blocked_retry', 'failed', 'cancelled'],
  blocked_retry: ['queued', 'failed', 'cancelled'],
  committing: ['decomposed', 'atomic_complete', 'summary_complete', 'synthesis_complete', 'failed', 'cancelled'],
  decomposed: [],
  atomic_complete: [],
  summary_complete: [],
  synthesis_complete: [],
  failed: [],
  cancelled: [],
} as const;
export type NodeState = keyof typeof MOVES_OF_NODES;
export const NODE_MOVES: Readonly<Record<NodeState, readonly NodeState[]>> = MOVES_OF_NODES;

export function isTerminal(state: NodeState): boolean {
  return NODE_MOVES[state].length === 0;
}

/** Taken from the queue and not yet back or done. */
const WORKING: ReadonlySet<NodeState> = new Set([
  'preparing',
  'context_bound',
  'awaiting_hermes',
  'validating_response',
  'committing',
]);

const MOVES_OF_RUNS = {
  initialized: ['guarding', 'cancelled'],
  guarding: ['scheduling', 'failed', 'cancelled'],
  scheduling: ['running_node', 'synthesizing', 'completed', 'cancelled'],
  running_node: ['scheduling', 'synthesizing', 'failed', 'cancelled'],
  synthesizing: ['scheduling', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const;
export type RunState = keyof typeof MOVES_OF_RUNS;
export const RUN_MOVES: Readonly<Record<RunState, readonly RunState[]>> = MOVES_OF_RUNS;

/** The state in which each reason ends a run. */
export const END_OF = {
  dry_run_ready: 'completed',
  root_atomic_completed: 'completed',
  parent_synthesis_completed: 'completed',
  work_queue_exhausted: 'completed',
  max_depth_reached: 'failed',
  max_iterations_reached: 'failed',
  node_failed: 'failed',
  guardrail_failed: 'failed',
  cancelled: 'cancelled',
} as const;
export type TerminationReason = keyof typeof END_OF;
export type EndState = (typeof END_OF)[TerminationReason];

export function hasEnded(state: RunState): state is EndState {
  return RUN_MOVES[state].length === 0;
}

/** Why a move is made, in the words of whoever makes it. */
export interface Cause {
  readonly decision: string;
  readonly reason: string;
  readonly causal_parent_event_id?: string | null;
}

export interface Transition {
  readonly iteration: number;
  readonly subject: 'run' | 'node';
  readonly subject_id: string;
  readonly from_state: RunState | NodeState;
  readonly to_state: RunState | NodeState;
  readonly decision: string;
  readonly reason: string;
  readonly causal_parent_event_id: string | null;
}

/** May be given children. */
const OPEN: readonly NodeState[] = ['context_bound', 'committing', 'decomposed'];

/** From where a run cannot fail at once, the listed moves on the way. */
const WAY_TO_FAILED: Readonly<Partial<Record<RunState, RunState>>> = {
  initialized: 'guarding',
  scheduling: 'running_node',
};

type Written = { -readonly [Key in Exclude<keyof RlmTree, 'nodes'>]: RlmTree[Key] } & {
  readonly nodes: Record<string, RlmNode>;
};

export class RunTree {
  readonly #tree: Written;
  #made: Transition[] = [];

  constructor(run_id: string, limits: Partial<TreeLimits> = {}) {
    const kept = { ...DEFAULT_TREE_LIMITS, ...limits };
    refuse(kept.max_depth > DEEPEST && 'tree-limit-invalid', `max_depth is ${DEEPEST} at most`);
    const head = { run_id, run_state: 'initialized', termination_reason: null, root_id: ROOT } as const;
    this.#tree = { ...head, limits: kept, iteration: 0, nodes: {}, work_queue: [ROOT] };
    this.#write(newNode({ id: ROOT, ac_node_id: 'rlm_ac_root' }, null));
  }

  /** As it is now: the next move changes it. */
  get now(): RlmTree {
    return this.#tree;
  }

  /** The moves since the last time. */
  drain(): readonly Transition[] {
    return this.#made.splice(0);
  }

  find(id: string): RlmNode | undefined {
    return Object.hasOwn(this.#tree.nodes, id) ? this.#tree.nodes[id] : undefined;
  }

  node(id: string): RlmNode {
    const node = this.find(id);
    refuse(node === undefined && 'node-unknown', `there is no node ${id}`);
    return node as RlmNode;
  }

  move(id: string, to: NodeState, cause: Cause): void {
    const node = this.node(id);
    refuse(this.#wrongMove(node, to), `${id} does not go from ${node.state} to ${to}`);
    this.#set(node, to, cause);
    if (to === 'cancelled' || to === 'failed') this.#cancel(this.#below(id), cause);
  }

  #wrongMove(node: RlmNode, to: NodeState): string | null {
    const { run_state, limits } = this.#tree;
    if (hasEnded(run_state)) return 'run-ended';
    if (!NODE_MOVES[node.state].includes(to)) return 'move-not-allowed';
    if (to === 'cancelled') return null;
    if (run_state === 'initialized' || run_state === 'guarding') return 'run-not-started';
    if (to === 'preparing') return 'take-from-queue';
    if (to === 'queued' && node.retries >= limits.max_retries) return 'retries-exhausted';
    // The parent is asked after its children: what it is asked holds their results.
    const hasLiveChild = node.children_ids.some((id) => !isTerminal(this.node(id).state));
    return to === 'awaiting_hermes' && hasLiveChild ? 'children-alive' : null;
  }

  /** Whoever calls has checked the move. */
  #set(node: RlmNode, to: NodeState, cause: Cause): void {
    const tree = this.#tree;
    if (node.state === 'queued') tree.work_queue = tree.work_queue.filter((id) => id !== node.id);
    if (to === 'queued') tree.work_queue = [...tree.work_queue, node.id];
    this.#write({ ...node, state: to, retries: node.retries + (to === 'queued' ? 1 : 0) });
    this.#record({ subject: 'node', subject_id: node.id, from_state: node.state, to_state: to }, cause);
  }

  #cancel(ids: readonly string[], cause: Cause): void {
    for (const node of ids.map((id) => this.node(id))) if (!isTerminal(node.state)) this.#set(node, 'cancelled', cause);
  }

  #below(id: string): readonly string[] {
    const found: string[] = [];
    const open = [...this.node(id).children_ids];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      found.push(next);
      open.push(...this.node(next).children_ids);
    }
    return found;
  }

  #write(node: RlmNode): void {
    this.#tree.nodes[node.id] = node;
  }

  #record(
    move: Pick<Transition, 'subject' | 'subject_id' | 'from_state' | 'to_state'>,
    { decision, reason, causal_parent_event_id = null }: Cause,
  ): void {
    this.#made.push({ iteration: this.#tree.iteration, ...move, decision, reason, causal_parent_event_id });
  }

  moveRun(to: RunState, cause: Cause): void {
    const { run_state } = this.#tree;
    refuse(hasEnded(to) && 'end-needs-reason', 'a run ends by `end` with its reason');
    refuse(!RUN_MOVES[run_state].includes(to) && 'move-not-allowed', `a run does not go from ${run_state} to ${to}`);
    refuse(run_state !== 'scheduling' && this.#inFlight() > 0 && 'nodes-in-flight', 'a node is still at work');
    this.#setRun(to, cause);
  }

  /** Whoever calls has checked the move. */
  #setRun(to: RunState, cause: Cause): void {
    const tree = this.#tree;
    this.#record({ subject: 'run', subject_id: tree.run_id, from_state: tree.run_state, to_state: to }, cause);
    tree.run_state = to;
  }

  /** Nodes at work; a parent that was given children waits for them, bound to its context, and does not count. */
  #inFlight(): number {
    const waits = (node: RlmNode) => node.state === 'context_bound' && node.children_ids.length > 0;
    return Object.values(this.#tree.nodes).filter((node) => WORKING.has(node.state) && !waits(node)).length;
  }

  /** Cancelled from any state; completed when nothing is left to do, or when nothing was begun. */
  end(reason: TerminationReason, cause: Cause): void {
    const tree = this.#tree;
    const { run_state, iteration } = tree;
    const end = END_OF[reason];
    refuse(hasEnded(run_state) && 'run-ended', `the run is ${run_state}`);
    if (end === 'completed') {
      refuse(!RUN_MOVES[run_state].includes(end) && 'move-not-allowed', `a run does not complete from ${run_state}`);
      const isDone =
        reason === 'dry_run_ready'
          ? iteration === 0
          : Object.values(tree.nodes).every((node) => isTerminal(node.state));
      refuse(!isDone && 'not-converged', 'there is work left');
    } else {
      const between = WAY_TO_FAILED[run_state];
      if (end === 'failed' && between !== undefined) this.#setRun(between, cause);
      this.#cancel(Object.keys(tree.nodes), cause);
    }
    this.#setRun(end, cause);
    tree.termination_reason = reason;
  }

  /** The first of the queue; null: the iterations are used up, and the run has failed with `max_iterations_reached`. */
  takeNext(cause: Cause): string | null {
    const tree = this.#tree;
    const isOpen = tree.run_state === 'scheduling' || tree.run_state === 'running_node';
    refuse(!isOpen && 'run-not-scheduling', `the run is ${tree.run_state}`);
    const [id] = tree.work_queue;
    refuse(id === undefined && 'queue-empty', 'no node waits');
    refuse(this.#inFlight() >= tree.limits.max_in_flight && 'in-flight-limit', 'as many nodes work as may');
    if (tree.iteration >= tree.limits.max_iterations) {
      this.end('max_iterations_reached', { ...cause, reason: 'max_iterations_reached' });
      return null;
    }
    tree.iteration += 1;
    if (tree.run_state === 'scheduling') this.#setRun('running_node', cause);
    const node = this.node(`${id}`);
    this.#set(node, 'preparing', cause);
    return node.id;
  }

  addChildren(parent_id: string, children: readonly NewNode[]): void {
    const parent = this.node(parent_id);
    refuse(this.#wrongGrowth(parent, children), `${parent_id} cannot take these children`);
    const ids = children.map(({ id }) => id);
    this.#write({ ...parent, children_ids: [...parent.children_ids, ...ids] });
    for (const child of children) this.#write(newNode(child, parent));
    this.#tree.work_queue = [...this.#tree.work_queue, ...ids];
  }

  #wrongGrowth(parent: RlmNode, children: readonly NewNode[]): string | null {
    if (hasEnded(this.#tree.run_state)) return 'run-ended';
    if (!OPEN.includes(parent.state)) return 'parent-not-open';
    if (parent.depth + 1 > this.#tree.limits.max_depth) return 'max_depth_reached';
    if (children.length === 0) return 'no-children';
    const ids = new Set(children.map(({ id }) => id));
    const isFresh = ids.size === children.length && [...ids].every((id) => this.find(id) === undefined);
    return isFresh ? null : 'node-exists';
  }
}

function newNode({ id, ac_node_id }: NewNode, parent: RlmNode | null): RlmNode {
  const place = { parent_id: parent?.id ?? null, ac_node_id, depth: parent === null ? 0 : parent.depth + 1 };
  return { id, ...place, state: 'queued', children_ids: [], retries: 0 };
}

/** `why`: false or null: nothing is wrong. */
function refuse(why: string | false | null, detail: string): void {
  if (why !== false && why !== null)
    throw new TalariaError(`The run's tree refused a move: ${why}: ${detail}.`, { code: 'rlm-tree-broken' });
}
