import { type HotCtx, keyBehind } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';

/** A token as tokenize answers it (interface rule 42 §1.2). */
export type IssuedToken = {
  /** Null for a vault that stores nothing (ff1). */
  id: string | null;
  token: string;
  expires_at: Date | null;
  created_at: Date;
  card_expires_on: string | null;
  card_funding_type: null;
  card_issuing_country: null;
  /** With dedupe: equal for equal values of the vault. */
  fingerprint?: string;
  /** With dedupe: the value had this token already. */
  reused?: true;
};

export const vaultDisabled = () => new Refusal('vault_disabled', 'This vault is disabled. Enable it to use it again.');

export function overLimit(ctx: HotCtx, limit: number, used: number): Refusal {
  return new Refusal(
    'plan_limit',
    `The ${ctx.plan} plan allows ${limit} vault tokens in this space, and ${used} already ${used === 1 ? 'exists' : 'exist'}. Delete some or ${moreRoom(ctx.plan)}.`,
  );
}

/** Who made a token, as its row says it. */
export const creatorOf = ({ actor }: HotCtx) => ({
  created_by_api_key_id:
    keyBehind(actor)?.id ?? (actor.type === 'client_token' && actor.minted_by.type === 'api_key' ? actor.minted_by.id : null),
  created_by_user_id: actor.type === 'member' ? actor.id : actor.type === 'oauth_token' ? actor.user_id : null,
});

export const fingerprintOf = (valueHmac: Uint8Array): string => `hmac-sha256:${Buffer.from(valueHmac).toString('hex').slice(0, 32)}`;
