import type { Caller } from '../domain/api-key.js';

/** Whoever can read the data folder or holds the MongoDB URI may do everything; the audit log names the way taken. */
export const COMMAND_LINE: Caller = { name: 'cli', roles: ['admin'], origin: { via: 'CLI' } };
