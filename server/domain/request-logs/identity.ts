import { denyingPolicy } from '#server/domain/policies/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { IDENTITY_FIELDS } from './schema.ts';
import type { LogFields } from './store.ts';

/** Whether this caller sees who called: addresses, matched clients, user agents (interface rule 13 §2.1). */
export const mayReadIdentity = async (ctx: Ctx): Promise<boolean> =>
  ctx.actor.capabilities.has('log:read_identity') && !(await denyingPolicy(ctx, 'log:read_identity'));

/** What an answer says when it left the identity tier out. */
export const redactedMark = (identity: boolean): { _redacted?: string[] } => (identity ? {} : { _redacted: ['identity'] });

/** Without the right the members are absent: a null would say "nobody matched". */
export function forReader<T extends LogFields>(row: T, identity: boolean): Omit<T, (typeof IDENTITY_FIELDS)[number]> & Partial<T> {
  if (identity) return row;
  const rest: Partial<T> = { ...row };
  for (const field of IDENTITY_FIELDS) delete rest[field];
  return rest as Omit<T, (typeof IDENTITY_FIELDS)[number]> & Partial<T>;
}
