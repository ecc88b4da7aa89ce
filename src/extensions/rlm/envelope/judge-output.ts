/**
 * Owns the rules of a reply that no shape can say (notes 15.2): echoed ids, verdict of the mode, gaps, evidence inside the context,
 * exactly one artifact of the mode. It does not judge claims; TraceGuard does. Invariant: pure; every problem is named.
 */
import type { Artifact, Decomposition } from './artifact-schema.ts';
import type { Asked } from './asked.ts';
import { ARTIFACT_OF, FINAL_VERDICTS, VERDICTS_OF } from './call-mode.ts';
import { type EnvelopeProblem, problem } from './envelope-problem.ts';
import type { HermesOutput } from './output-schema.ts';

export function judgeOutput(output: HermesOutput, asked: Asked): readonly EnvelopeProblem[] {
  return [
    ...echoProblems(output, asked),
    ...verdictProblems(output),
    ...evidenceProblems(output, asked),
    ...artifactProblems(output, asked),
  ];
}

function echoProblems(output: HermesOutput, asked: Asked): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  if (output.mode !== asked.mode) problems.push(problem('mode_mismatch', 'mode', `asked was ${asked.mode}`));
  for (const field of ['rlm_node_id', 'ac_node_id'] as const) {
    if (output[field] !== asked[field])
      problems.push(problem('node_id_mismatch', field, 'the reply is of another node'));
  }
  return problems;
}

function verdictProblems(output: HermesOutput): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  if (!VERDICTS_OF[output.mode].includes(output.verdict)) {
    problems.push(problem('verdict_not_allowed', 'verdict', `${output.mode} does not end as ${output.verdict}`));
  }
  if (FINAL_VERDICTS.includes(output.verdict) && output.residual_gaps.length > 0) {
    problems.push(problem('gaps_with_final_verdict', 'residual_gaps', `${output.verdict} leaves no gaps`));
  }
  return problems;
}

function evidenceProblems({ evidence_references }: HermesOutput, asked: Asked): readonly EnvelopeProblem[] {
  return evidence_references.flatMap(({ chunk_id, start_line, end_line }, at) => {
    const path = `evidence_references.${at}`;
    const problems = outside([chunk_id], asked, `${path}.chunk_id`);
    if (start_line === null || end_line === null || start_line <= end_line) return problems;
    return [...problems, problem('out_of_range', `${path}.end_line`, 'ends before it begins')];
  });
}

function outside(ids: readonly string[], asked: Asked, path: string): readonly EnvelopeProblem[] {
  return ids.every((id) => asked.evidence_ids.includes(id))
    ? []
    : [problem('evidence_outside_context', path, 'this was not supplied')];
}

function artifactProblems(output: HermesOutput, asked: Asked): readonly EnvelopeProblem[] {
  const wanted = ARTIFACT_OF[output.mode];
  const problems = output.artifacts.flatMap((artifact, at) => {
    const path = `artifacts.${at}`;
    if (artifact.type !== wanted) return [problem('artifact_not_allowed', path, `${output.mode} gives a ${wanted}`)];
    return judgeArtifact(artifact, { output, asked, path });
  });
  const found = output.artifacts.filter((artifact) => artifact.type === wanted).length;
  if (found > 1) problems.push(problem('artifact_not_allowed', 'artifacts', `one ${wanted} and no more`));
  const gaveUp = output.verdict === 'failed' || output.verdict === 'retryable';
  if (found === 0 && !gaveUp)
    problems.push(problem('artifact_missing', 'artifacts', `${output.mode} gives a ${wanted}`));
  return problems;
}

interface Ground {
  readonly output: HermesOutput;
  readonly asked: Asked;
  readonly path: string;
}

function judgeArtifact(artifact: Artifact, { output, asked, path }: Ground): readonly EnvelopeProblem[] {
  switch (artifact.type) {
    case 'decomposition':
      return judgeDecomposition(artifact, output, path);
    case 'atomic_execution':
      return artifact.claims.flatMap((claim, at) => outside(citedBy(claim), asked, `${path}.claims.${at}`));
    case 'chunk_summary':
      return outside(artifact.source_chunk_ids, asked, `${path}.source_chunk_ids`);
    case 'parent_synthesis': {
      const known = artifact.child_result_ids.every((id) => asked.child_result_ids.includes(id));
      return known ? [] : [problem('child_outside_context', `${path}.child_result_ids`, 'this child was not supplied')];
    }
  }
}

/** A claim that cites nothing is as bad as one that cites something else. */
function citedBy(claim: {
  readonly evidence_chunk_ids?: readonly string[] | undefined;
  readonly chunk_id?: string | null | undefined;
  readonly evidence_chunk_id?: string | null | undefined;
}): readonly string[] {
  const cited = [...(claim.evidence_chunk_ids ?? []), claim.chunk_id ?? [], claim.evidence_chunk_id ?? []].flat();
  return cited.length === 0 ? [''] : cited;
}

const FEWEST = 2;
const MOST = 5;

function judgeDecomposition(
  artifact: Decomposition,
  { verdict }: HermesOutput,
  path: string,
): readonly EnvelopeProblem[] {
  const children = artifact.proposed_child_acs;
  const problems: EnvelopeProblem[] = [];
  if ((verdict === 'atomic' && !artifact.is_atomic) || (verdict === 'decomposed' && artifact.is_atomic)) {
    problems.push(problem('decomposition_verdict_mismatch', `${path}.is_atomic`, `the verdict is ${verdict}`));
  }
  if (artifact.is_atomic) return [...problems, ...judgeAtomic(artifact, path)];
  const at = `${path}.proposed_child_acs`;
  if (children.length < FEWEST) problems.push(problem('insufficient_children', at, `at least ${FEWEST} children`));
  if (children.length > MOST) problems.push(problem('too_many_children', at, `at most ${MOST} children`));
  for (const [index, child] of children.entries()) {
    if (child.depends_on.some((other) => other >= index))
      problems.push(problem('depends_on_later_sibling', `${at}.${index}.depends_on`, 'only on earlier ones'));
  }
  return problems;
}

function judgeAtomic(artifact: Decomposition, path: string): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  if ((artifact.atomic_rationale ?? '').trim() === '')
    problems.push(problem('missing_field', `${path}.atomic_rationale`, 'says why it is atomic'));
  if (artifact.proposed_child_acs.length > 0)
    problems.push(problem('too_many_children', `${path}.proposed_child_acs`, 'what is atomic has no children'));
  return problems;
}
