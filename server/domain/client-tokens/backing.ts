import { type Backing, backingColumn, backingFault, subjectOf } from '#server/custody/backing.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import type { PolicyCaller } from '#server/kernel/policy-callers.ts';

export type { Backing };

/** The credential that minted a client token `t`, as it is now. */
export const BACKING = backingColumn('t.minted_by_id', 't.tenant_id');

/**
 * Whether that credential still has what the token exercises. Its IP allowlist doesn't count: a client token is made for somebody else's browser, works once
 * and opens one value.
 */
export const isStillBacked = (backing: Backing | null, needs: Capability, now: Date): boolean =>
  backing !== null && backingFault(backing, { needs, people: 'end' }, { now: now.getTime(), ip: undefined }) === null;

/** What policies see of the token. */
export const boundAs = (backing: Backing | null): PolicyCaller => subjectOf(backing);
