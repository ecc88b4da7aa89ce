// Owns the words of the flush before a compression (seed 001 ch 13): a user message, since the system prompt stays as it is.
// A constant: a test pins its bytes. Knows no conversation.

export const FLUSH_PROMPT = `[System: The session is being compressed. Save anything worth remembering...]
Older messages are about to be replaced by a summary. In this one answer, call the memory tool for what must stay true in later conversations and is not in your memory yet: facts about the owner and their preferences (target user), environments, decisions and solutions (target memory). No task progress, no secrets.
Each call needs evidence: [{"quote": "words copied exactly", "message": 12}], two words or more of that message or all of it. If there is nothing, answer "Nothing to keep."`;
