// Owns the English words around a command: politeness, conditions, taking back, and text that tries to steer. Data only.
import { phrases } from '../line/phrases.ts';

export const openings = phrases(`
  hey | hi | hello | yo | ok | okay | so | well | alright | all right | right | now | um | uh | uhm | hmm |
  great | cool | nice | perfect | good | oh | ah | and | then | also | quick | talaria | reflex | there |
  buddy | mate | friend | dear | sir | bot | agent | computer | thanks | thank you | sorry | morning |
  good morning | please | pls | plz | kindly | just | quickly | simply | maybe | actually | lol | yes | yeah |
  sure | can you | could you | will you | would you | can u | may you | can we | could we | can you please |
  might you | wouldst thou | are you able to | is it possible to | would it be possible to |
  do you think you could | do you think you can | you can | you could | you should | you may | you need to |
  be so kind as to | be so good as to | if you could | if you would | if you can | if possible |
  if you do not mind | when you get a chance | when you have a moment | when you have time |
  whenever you can | when you can | if it is not too much trouble | i want to | i want you to |
  i would like to | i would like you to | i would love to | i would love you to | i need to | i need you to |
  i would love it if you could | i would appreciate it if you could | i am going to need you to | i wish to |
  id like to | id like you to | it would be great if you could | it would be nice if you could |
  i was hoping you could | i was wondering if you could | i wonder if you could | let us | go ahead and |
  go and | try to | help me | help me to | do me a favor and | do me a favour and | do me a favor |
  do me a favour | time to | your job is to | your task is to | make sure to | make sure you | be sure to |
  forme | a favor | real quick | one more thing | by the way | btw | oh and |
`);

export const gerundOpenings = phrases(`
  wouldyou mind | do you mind | mind | how about | what about | try | start by | begin by |
`);

export const closings = phrases(`
  please | pls | plz | thanks | thank you | thx | ty | cheers | for me | if you can | if you could |
  if possible | if you do not mind | when you get a chance | when you have a moment | would you | will you |
  could you | can you | mate | buddy | talaria | thanks a lot | thank you very much | thank you so much |
  willya | in advance | dude | if that is ok | if that is okay | lol | haha | kindly |
`);

export const hastes = phrases(`
  now | right now | right away | real quick | quickly | asap | immediately | at once | ok | okay | yeah |
  alright| for us | quick | as well | too | once more | then |
`);

export const conditions = phrases(`
  if | unless | when | whenever | until | once | every | tomorrow | tonight | later | after | before |
  assoon as | in case | daily | hourly | weekly | otherwise | provided that | assuming |
`);

export const cancellations = phrases(`
  do not | never mind | nevermind | no wait | scratch that | cancel that | on second thought | just kidding |
  jk| or not | actually no | wait no | forget i asked | not now | hold off | not really | not |
`);

export const injections = phrases(`
  ignore all previous | ignore previous | ignore the previous | ignore the above | ignore all the |
  ignore your | disregard previous | disregard all | disregard your | disregard the above |
  forget your instructions | forget all previous | forget previous instructions |
  forget all your instructions | forget your rules | system prompt | you are now | developer mode |
  jailbreak | new instructions | override your | override all | bypass your | without asking |
  without confirmation | do not ask | no confirmation | act as if | pretend you are | pretend that you |
  asan admin | admin mode | sudo mode | safety rules | your rules | your guidelines | your restrictions |
`);

/** Contracted → spelled out; found without the apostrophe too. */
export const contractions: Readonly<Record<string, string>> = {
  "what's": 'what is',
  whats: 'what is',
  "what're": 'what are',
  "where's": 'where is',
  wheres: 'where is',
  "who's": 'who is',
  "when's": 'when is',
  "how's": 'how is',
  "why's": 'why is',
  "that's": 'that is',
  "there's": 'there is',
  "it's": 'it is',
  "here's": 'here is',
  "let's": 'let us',
  lets: 'let us',
  "don't": 'do not',
  dont: 'do not',
  "doesn't": 'does not',
  "didn't": 'did not',
  didnt: 'did not',
  "can't": 'can not',
  cant: 'can not',
  cannot: 'can not',
  "won't": 'will not',
  "wouldn't": 'would not',
  "shouldn't": 'should not',
  "isn't": 'is not',
  "aren't": 'are not',
  "wasn't": 'was not',
  "haven't": 'have not',
  "i'm": 'i am',
  im: 'i am',
  "i'd": 'i would',
  "i've": 'i have',
  "i'll": 'i will',
  "you're": 'you are',
  "you've": 'you have',
  "we've": 'we have',
  "we're": 'we are',
  "we'd": 'we would',
  "we'll": 'we will',
  "what'd": 'what did',
  "where'd": 'where did',
  "who'd": 'who did',
  "when'd": 'when did',
  "how'd": 'how did',
  "why'd": 'why did',
  gimme: 'give me',
  lemme: 'let me',
  wanna: 'want to',
  gonna: 'going to',
  dunno: 'do not know',
  u: 'you',
  r: 'are',
  ur: 'your',
  abt: 'about',
  b4: 'before',
};
