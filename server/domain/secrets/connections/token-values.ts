import type { GrantedTokens } from '#server/custody/connections/token-endpoint.ts';
import { encodeTokenSet, type TokenSet } from '#server/custody/connections/token-set.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { sealNewValue } from '../values.ts';

/** What a provider granted, as it is sealed. */
export const tokensOf = ({ access_token, refresh_token, token_type, scope }: GrantedTokens): TokenSet => ({
  access_token,
  refresh_token,
  token_type,
  scope,
});

/** When the access token ends; null if the provider didn't say. */
export const endOf = ({ expires_in }: Pick<GrantedTokens, 'expires_in'>, now: Date): Date | null =>
  expires_in === null ? null : new Date(now.getTime() + expires_in * 1_000);

/** Seals the value of an oauth2 secret. @throws Refusal tenant_sealed */
export async function sealTokenSet(ctx: Ctx, set: TokenSet) {
  const bytes = encodeTokenSet(set);
  try {
    return await sealNewValue(ctx, bytes);
  } finally {
    bytes.fill(0);
  }
}
