// Owns the English words for days, weeks and months. Data only.
import type { TimeWords } from '../language.ts';
import { meanings, phrases } from '../line/phrases.ts';

export const time: TimeWords = {
  weekdays: phrases('sunday|monday|tuesday|wednesday|thursday|friday|saturday'),
  months: phrases('january|february|march|april|may|june|july|august|september|october|november|december'),
  units: meanings(`
    0 = minute | minutes | hour | hours
    1 = day | days | night | nights
    7 = week | weeks | weekend
    30 = month | months
    365 = year | years
  `),
  last: 'last past previous',
  current: 'this current',
  ago: 'ago back earlier',
  lead: 'on in during since from over around at back',
  days: meanings(`
    0 0 = today | earlier today | this morning | this afternoon | this evening | tonight | just now | a minute ago | a moment ago
    0 1 = an hour ago
    1 1 = yesterday | yesterday morning | yesterday afternoon | yesterday evening
    1 0 = last night
    2 2 = the day before yesterday
    14 1 = the other day
    7 2 = a few days ago
    4 1 = a couple of days ago | a couple days ago
    42 10 = a few weeks ago
    28 7 = a couple of weeks ago | a couple weeks ago
    10 4 = a week ago
    45 20 = a month ago
    400 300 = a year ago
    150 45 = a few months ago
    90 30 = a couple of months ago
    7 0 = this past week | the past week | the last week
    5 0 = the last few days | the past few days
    14 0 = these days
    8 1 = the weekend | over the weekend
  `),
  vague: phrases(`
    recently|lately|[the] last time|earlier|before|previously|a (while|bit) (ago|back)|some time ago|in the past|so far|ever|back then|at some point|some time|sometime|a while ago|not long ago|already|together|[the] previous time|most recently|
    [in|during|from] (our|the|my|a) (last|previous|earlier|latest|other|first|prior) (session|conversation|chat|talk|discussion|call|meeting)|last session|(the|one) time before|just before|once
  `),
};
