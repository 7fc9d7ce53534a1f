import { Deleted } from '#server/kernel/fields.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import * as credentials from './credentials.ts';
import { TestedProxyCall, TestProxyCall } from './proxy-test.schema.ts';
import { testProxyCall } from './proxy-test.ts';
import * as schema from './schema.ts';
import * as tokens from './tokens.ts';

export const listCredentials = operation({
  id: 'wrap.list_credentials',
  summary: 'List wrap credentials',
  http: 'GET /wrap/credentials',
  kind: 'read',
  needs: ['secret:read'],
  refuses: [],
  input: schema.ListWrapCredentials,
  output: schema.WrapCredential.array(),
  list: 'paged',
  run: (ctx, input) => credentials.listWrapCredentials(ctx, input),
});

export const createCredential = operation({
  id: 'wrap.create_credential',
  summary: 'Escrow a provider key',
  http: 'POST /wrap/credentials',
  kind: 'change',
  needs: ['secret:create'],
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: schema.CreateWrapCredential,
  output: schema.CreatedWrapCredential,
  success: 201,
  run: (ctx, input) => credentials.createWrapCredential(ctx, input),
});

export const getCredential = operation({
  id: 'wrap.get_credential',
  summary: 'Get a wrap credential',
  http: 'GET /wrap/credentials/{secret_id}',
  kind: 'read',
  needs: ['secret:read'],
  refuses: ['not_found'],
  input: schema.WrapCredentialRef,
  output: schema.WrapCredentialDetail,
  run: (ctx, input) => credentials.getWrapCredential(ctx, input),
});

export const updateCredential = operation({
  id: 'wrap.update_credential',
  summary: 'Update a wrap credential',
  http: 'PATCH /wrap/credentials/{secret_id}',
  kind: 'change',
  needs: ['secret:update'],
  step_up: { by_verb: 'credential.move' },
  moves: { to: ['hosts'], credentials: [] },
  refuses: ['not_found', ...MOVE_REFUSALS],
  input: schema.UpdateWrapCredential,
  output: schema.WrapCredentialDetail,
  edits: { row: (tx, ctx, { secret_id }) => credentials.lockedCredential(tx, ctx, secret_id), shown_by: getCredential },
  run: (ctx, input) => credentials.updateWrapCredential(ctx, input),
});

export const deleteCredential = operation({
  id: 'wrap.delete_credential',
  summary: 'Delete a wrap credential',
  http: 'DELETE /wrap/credentials/{secret_id}',
  kind: 'change',
  needs: ['secret:delete'],
  refuses: ['not_found', 'in_use'],
  input: schema.DeleteWrapCredential,
  output: Deleted,
  run: (ctx, input) => credentials.deleteWrapCredential(ctx, input),
});

export const listTokens = operation({
  id: 'wrap.list_tokens',
  summary: 'List gateway tokens',
  http: 'GET /wrap/tokens',
  kind: 'read',
  needs: ['secret:read'],
  refuses: [],
  input: schema.ListWrapTokens,
  output: schema.WrapTokens,
  run: (ctx) => tokens.listWrapTokens(ctx),
});

export const createToken = operation({
  id: 'wrap.create_token',
  summary: 'Create a gateway token',
  http: 'POST /wrap/tokens',
  kind: 'mint',
  needs: ['secret:create', 'proxy:invoke'],
  refuses: ['not_escrowed', 'plan_limit'],
  input: schema.CreateWrapToken,
  output: schema.CreatedWrapToken,
  success: 201,
  run: (ctx, input) => tokens.createWrapToken(ctx, input),
});

export const deleteToken = operation({
  id: 'wrap.delete_token',
  summary: 'Revoke a gateway token',
  http: 'DELETE /wrap/tokens/{id}',
  kind: 'change',
  needs: ['secret:update'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.WrapTokenRef,
  output: schema.RevokedWrapToken,
  run: (ctx, input) => tokens.revokeWrapToken(ctx, input),
});

export const testCall = operation({
  id: 'wrap.test_call',
  summary: 'Try a call of the ephemeral proxy',
  http: 'POST /admin/proxy/test',
  kind: 'change',
  needs: ['proxy:invoke', 'secret:read'],
  refuses: ['rate_limited', 'dependency_unavailable'],
  input: TestProxyCall,
  output: TestedProxyCall,
  run: (ctx, input) => testProxyCall(ctx, input),
});
