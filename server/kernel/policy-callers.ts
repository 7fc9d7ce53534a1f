import type { MemberRole } from './role-matrix.ts';

/** What tenant policies see of a caller (interface rule 24 §6). */
export type PolicyCaller = {
  role?: MemberRole | undefined;
  user_id?: string | null | undefined;
  api_key_id?: string | null | undefined;
  key_role_ids?: readonly string[] | undefined;
  oauth_client_id?: string | null | undefined;
};

/** Everybody whom a call is made for. What binds one of them binds the call, so there is always one. */
export type PolicyCallers = readonly [PolicyCaller, ...PolicyCaller[]];

/** A caller that no policy can name: only rules for everybody bind it. */
export const UNNAMED: PolicyCallers = [{}];

/**
 * What limits per caller count a policy caller by: a key, its tokens and what they minted count as the key, an application as itself, for each person it acts
 * for. Null for a caller that no policy can name.
 */
export function countedAs({ api_key_id, oauth_client_id, user_id }: PolicyCaller): string | null {
  if (api_key_id) return api_key_id;
  if (oauth_client_id) return user_id ? `${oauth_client_id}:${user_id}` : oauth_client_id;
  return user_id ?? null;
}
