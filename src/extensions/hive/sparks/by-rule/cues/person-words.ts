// Owns words for what somebody is by trade. English. Data only.

/** A pattern of one word, singular or plural. */
export const PERSON_WORDS =
  '(?:engineer|developer|designer|auditor|researcher|lawyer|attorney|writer|editor|teacher|scientist|specialist|consultant|architect|analyst|programmer|cryptographer|journalist|photographer|translator|interpreter|doctor|physician|nurse|therapist|accountant|bookkeeper|economist|biologist|physicist|chemist|mathematician|statistician|musician|composer|chef|baker|farmer|gardener|carpenter|electrician|plumber|mechanic|expert|investor|marketer|recruiter|administrator|sysadmin|pentester|tester|coach|tutor|mentor|librarian|historian|linguist|psychologist|sociologist|geologist|geographer|cartographer|botanist|veterinarian|dentist|pharmacist|pilot|producer|illustrator|animator|artist|painter|sculptor|machinist|welder|technician|surveyor|operator|maintainer|strategist|negotiator|notary|maker|builder|hacker|judge|professor|paramedic|broker|banker|investigator|detective|counsell?or|curator|conductor|singer|dancer|violinist|pianist|guitarist|drummer|beekeeper|coder|geneticist|immunologist|meteorologist|astronomer)s?';

/** Groups that speak for the one who belongs to them. */
export const GROUP_WORDS =
  '(?:team|company|start-?up|lab|group|org|organi[sz]ation|project|studio|firm|agency|department|club|business|shop|ngo|non-?profit|foundation|collective|co-?op|crew|family|user|owner|human|principal|agent|people)';
