// Owns the checks of each skill in their order, and who gets a slot (curator notes 8.2, 8.4). Pure. Invariant: at most `max_skills` entries
// are planned; of ours, the slots go to skills that could be written first, and what is left shows protected ones in a dry run.
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import type { PreparedUpdate } from '../block/prepare-update.ts';
import { parseSkillHeader } from '../header/parse-skill-header.ts';
import type { SkillCounts } from '../report/evidence.ts';
import { type DrillGate, gateAfterApply } from '../verify/drill-gate.ts';
import type { AutoRunRequest } from './auto-run-request.ts';
import { leadOf, type PlanEntry, type PlanningSkill, prepareEntry, skipped } from './planned-skill.ts';
import type { RunFlags } from './run-flags.ts';
import type { SelectedSkill } from './select-skills.ts';
import { policyReason } from './write-policy.ts';

export interface EntryQuestion {
  readonly request: AutoRunRequest;
  readonly flags: RunFlags;
  readonly skills: ReadonlyMap<string, PlanningSkill>;
  readonly gate: DrillGate;
  readonly order: readonly SelectedSkill[];
}

export interface PlannedEntry {
  readonly entry: PlanEntry;
  /** null for an entry that was refused before its text was looked at. */
  readonly update: PreparedUpdate | null;
}

export function planEntries(question: EntryQuestion, options: CompatOptions): readonly PlannedEntry[] {
  const planner = new EntryPlanner(question, options);
  return options.compat === 'upstream' ? planner.sliceThenCheck() : planner.checkThenSlice();
}

/** Lives for one plan: after one write the drill gate closes for the rest. */
class EntryPlanner {
  readonly #question: EntryQuestion;
  readonly #options: CompatOptions;
  readonly #writing: boolean;
  #gate: DrillGate;

  constructor(question: EntryQuestion, options: CompatOptions) {
    const { apply, approve } = question.flags.policy;
    this.#question = question;
    this.#options = options;
    this.#writing = apply && approve;
    this.#gate = question.gate;
  }

  sliceThenCheck(): readonly PlannedEntry[] {
    const { order, flags } = this.#question;
    return order.slice(0, flags.limits.maxSkills).map((selected) => this.#refuse(selected) ?? this.#prepare(selected));
  }

  checkThenSlice(): readonly PlannedEntry[] {
    const { order, flags } = this.#question;
    const kept = new Map<SelectedSkill, PlannedEntry>();
    const protectedOnes: SelectedSkill[] = [];
    let slots = flags.limits.maxSkills;
    for (const selected of order) {
      if (slots === 0) break;
      const refused = this.#refuse(selected);
      if (refused === undefined && this.#isProtected(selected)) protectedOnes.push(selected);
      else slots -= keep(kept, selected, refused ?? this.#prepare(selected));
    }
    for (const selected of protectedOnes) {
      if (slots === 0) break;
      slots -= keep(kept, selected, this.#prepare(selected));
    }
    return order.flatMap((selected) => kept.get(selected) ?? []);
  }

  /** Checks 1 to 6. */
  #refuse(selected: SelectedSkill): PlannedEntry | undefined {
    const skill = this.#skillOf(selected);
    const reason = this.#refusalReason(skill);
    if (reason === null) return undefined;
    return { entry: skipped(leadOf(selected.tally.skill_name, skill, selected.selection), reason), update: null };
  }

  #refusalReason(skill: PlanningSkill | undefined): string | null {
    if (skill === undefined) return 'skill-file-not-found';
    if (skill.refusal) return skill.refusal;
    if (parseSkillHeader(skill.text, this.#options)?.pinned === true) return 'pinned-skill';
    return this.#writing ? policyReason(skill.name, skill.source, this.#question.flags.policy) : null;
  }

  #isProtected(selected: SelectedSkill): boolean {
    const skill = this.#skillOf(selected);
    return skill !== undefined && policyReason(skill.name, skill.source, this.#question.flags.policy) !== null;
  }

  /** Checks 7 and 8. */
  #prepare(selected: SelectedSkill): PlannedEntry {
    const skill = this.#skillOf(selected);
    if (skill === undefined) throw new TypeError('a skill without a file is refused before');
    const { request, flags } = this.#question;
    const { days, variants } = flags.limits;
    const lead = leadOf(selected.tally.skill_name, skill, selected.selection);
    const evidence = evidenceOf(request, selected);
    const prepared = prepareEntry({ lead, skill, variants, days, now: request.now, evidence }, this.#options);
    if (prepared.entry.status === 'skipped' || !this.#writing || !this.#gate.require) return prepared;
    if (!this.#gate.allowed) {
      return { ...prepared, entry: skipped(prepared.entry, 'restore-drill-required', this.#gate) };
    }
    this.#gate = gateAfterApply(this.#gate);
    return prepared;
  }

  #skillOf(selected: SelectedSkill): PlanningSkill | undefined {
    return this.#question.skills.get(selected.tally.skill_name);
  }
}

/** How many slots it took. */
function keep(kept: Map<SelectedSkill, PlannedEntry>, selected: SelectedSkill, planned: PlannedEntry): number {
  kept.set(selected, planned);
  return planned.entry.status === 'planned' ? 1 : 0;
}

/** A report for one skill counts the same rows as the skill's line in the whole report. */
function evidenceOf({ reports, reportOf, report }: AutoRunRequest, { tally }: SelectedSkill) {
  const given =
    reports !== undefined && Object.hasOwn(reports, tally.skill_name) ? reports[tally.skill_name] : undefined;
  const own = given ?? reportOf?.(tally.skill_name);
  if (own !== undefined) return { summary: own.summary, rows: own.skill_evidence };
  const summary: SkillCounts = {
    tool_events: tally.event_count,
    skill_events: tally.event_count,
    error_events: tally.errors ?? 0,
  };
  return { summary, rows: (report.skill_evidence ?? []).filter((row) => row.skill_name === tally.skill_name) };
}
