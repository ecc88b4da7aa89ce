// Owns the shape of the section `curator` of config.yaml: the unattended run and the models of a search. Knows no file. Each part is read
// where it is used; the whole is what `config set` and the reference know.
import { scheduleSchema } from './schedule/schedule-config.ts';
import { semanticSchema } from './search/semantic-config.ts';

export const curatorSchema = scheduleSchema.extend({
  semantic: semanticSchema.prefault({}).describe('Models of a search by meaning.'),
});
