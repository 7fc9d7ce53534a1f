import type { ScimResource } from './resource.ts';
import { users } from './resources/users.ts';

/** What directories provision, by endpoint. */
export const RESOURCES: readonly ScimResource[] = [users];
