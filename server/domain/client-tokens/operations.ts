import { operation } from '#server/kernel/operation.ts';
import { listClientTokens } from './listing.ts';
import { mintClientToken } from './minting.ts';
import { revokeClientToken, revokeClientTokensOf } from './revocation.ts';
import {
  CheckClientToken,
  CheckedClientToken,
  ClientDecrypted,
  ClientDetokenized,
  ClientToken,
  ClientTokenized,
  ClientTokenRef,
  ListClientTokens,
  MintClientToken,
  MintedClientToken,
  RevokeClientTokens,
  RevokedClientToken,
  RevokedClientTokens,
  SpendOnPayload,
  SpendOnValue,
} from './schema.ts';
import { checkClientToken, spendOnSealedValue, spendOnToken, spendOnValue } from './spending.ts';

export const list = operation({
  id: 'client_tokens.list',
  summary: 'List client tokens',
  http: 'GET /client-tokens',
  kind: 'read',
  needs: { any: ['transit:read', 'vault:read'] },
  refuses: [],
  input: ListClientTokens,
  output: ClientToken.array(),
  list: 'paged',
  run: (ctx, input) => listClientTokens(ctx, input),
});

/** Needs the very capability that the token will exercise; which one, its action says. */
export const create = operation({
  id: 'client_tokens.create',
  summary: 'Mint a client token',
  http: 'POST /client-tokens',
  kind: 'mint',
  any_session: { why: 'ends within minutes and opens one value, once' },
  needs: { any: ['transit:decrypt', 'vault:detokenize', 'vault:tokenize'] },
  asks_policies: true,
  refuses: ['plan_limit', 'vault_disabled'],
  input: MintClientToken,
  output: MintedClientToken,
  success: 201,
  run: (ctx, input) => mintClientToken(ctx, input),
});

const remove = operation({
  id: 'client_tokens.delete',
  summary: 'Revoke a client token',
  http: 'DELETE /client-tokens/{id}',
  kind: 'change',
  needs: { any: ['transit:update', 'vault:update'] },
  asks_policies: true,
  while_inactive: true,
  refuses: ['not_found'],
  input: ClientTokenRef,
  output: RevokedClientToken,
  run: (ctx, input) => revokeClientToken(ctx, input),
});

export const revoke = operation({
  id: 'client_tokens.revoke',
  summary: 'Revoke all client tokens of one credential',
  http: 'POST /client-tokens/revoke',
  kind: 'change',
  needs: { any: ['transit:update', 'vault:update'] },
  asks_policies: true,
  while_inactive: true,
  refuses: [],
  input: RevokeClientTokens,
  output: RevokedClientTokens,
  run: (ctx, input) => revokeClientTokensOf(ctx, input),
});

export const check = operation({
  id: 'client_tokens.check',
  summary: 'Check a client token without spending it',
  http: 'POST /client/check',
  kind: 'read',
  needs: 'client_token',
  refuses: ['origin_not_allowed'],
  input: CheckClientToken,
  output: CheckedClientToken,
  run: (ctx, input) => checkClientToken(ctx, input),
});

export const decrypt = operation({
  id: 'client_tokens.decrypt',
  summary: 'Spend a client token to decrypt a value',
  http: 'POST /client/decrypt',
  kind: 'use',
  needs: 'client_token',
  body: { source: [] },
  refuses: [
    'client_token_payload_mismatch',
    'decrypt_failed',
    'key_version_disabled',
    'key_version_destroyed',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: SpendOnPayload,
  output: ClientDecrypted,
  run: (ctx, input) => spendOnSealedValue(ctx, input),
});

export const detokenize = operation({
  id: 'client_tokens.detokenize',
  summary: 'Spend a client token to detokenize',
  http: 'POST /client/detokenize',
  kind: 'use',
  needs: 'client_token',
  refuses: [
    'client_token_payload_mismatch',
    'not_found',
    'vault_disabled',
    'token_expired',
    'key_version_disabled',
    'key_version_destroyed',
    'plan_limit',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: SpendOnPayload,
  output: ClientDetokenized,
  run: (ctx, input) => spendOnToken(ctx, input),
});

export const tokenize = operation({
  id: 'client_tokens.tokenize',
  summary: 'Spend a client token to tokenize a value',
  http: 'POST /client/tokenize',
  kind: 'use',
  needs: 'client_token',
  refuses: [
    'origin_not_allowed',
    'vault_disabled',
    'token_space_exhausted',
    'key_version_disabled',
    'plan_limit',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: SpendOnValue,
  output: ClientTokenized,
  run: (ctx, input) => spendOnValue(ctx, input),
});

export { remove as delete };
