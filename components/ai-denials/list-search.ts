import { parseAsString } from 'nuqs/server';

/** What the address of the list holds. */
export const denialSearch = { code: parseAsString };

/** The refused authentications of the AI planes, newest first. */
export const DENIALS = { action: 'ai_gateway.request_denied', limit: 200 } as const;
