// Owns which words ask for the same thing: a small table of the words in which people ask and texts answer. Data and one look-up.
import { contentStems } from '#base/text/content-stems.ts';

const GROUPS = `
remove delete prune erase forget
start begin launch open
stop quit cancel abort
cost price fee charge money dollar
show display print list
change edit modify alter update
save store keep write persist
undo rollback restore revert
fail error broken crash
allow permit approve consent may
forbid refuse deny reject block never
limit maximum most cap bound budget
default standard
setting option config configuration flag
folder directory
secret key password token credential
move import migrate
safe secure protect guard
install setup
check verify validate test
fast speed quick latency
remember memory recall
job task cron schedule
author wrote write
employ job work
buy purchase
live reside home
`;

const related = new Map<string, readonly string[]>();
for (const line of GROUPS.trim().split('\n')) {
  const stems = contentStems(line);
  for (const stem of stems)
    related.set(stem, [...(related.get(stem) ?? []), ...stems.filter((other) => other !== stem)]);
}

export function relatedStems(stem: string): readonly string[] {
  return related.get(stem) ?? [];
}
