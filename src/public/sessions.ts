// Public entry `talaria/sessions`: store messages and find them again (api notes).
export {
  openSessions,
  type SessionMessage,
  type SessionSearchResult,
  type Sessions,
} from '#mind/sessions/open-sessions.ts';
