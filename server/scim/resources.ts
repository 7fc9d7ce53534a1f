import type { ScimResource } from './resource.ts';
import { oauthClients } from './resources/oauth-clients.ts';
import { users } from './resources/users.ts';

/** What directories provision, by endpoint. */
export const RESOURCES: readonly ScimResource[] = [users, oauthClients];
