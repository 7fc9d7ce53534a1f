import { aiAttacks } from './ai-attacks.ts';
import { apiAttacks } from './api-attacks.ts';
import { bodyAttacks } from './body-attacks.ts';
import type { HostileRequest } from './flood.ts';
import { samlAttacks } from './saml-attacks.ts';
import type { Workspaces } from './workspaces.ts';

/** What an attacker sets up, and what they send then: the nth request. To add one, put it into the list of its file. */
export type Attack = { name: string; prepare: (scene: Workspaces) => Promise<(n: number) => HostileRequest> };

export const attacks: readonly Attack[] = [...samlAttacks, ...bodyAttacks, ...aiAttacks, ...apiAttacks];
