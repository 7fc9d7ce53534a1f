import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import {
  CreatedOAuthClient,
  CreateOAuthClient,
  ListOAuthClients,
  OAuthClient,
  OAuthClientDetail,
  OAuthClientRef,
  OAuthGrant,
  OAuthGrantRef,
  RevokedOAuthClient,
  RotatedOAuthClientSecret,
  RotateOAuthClientSecret,
  UpdateOAuthClient,
} from './schema.ts';
import * as clients from './service.ts';

export const list = operation({
  id: 'oauth_clients.list',
  summary: 'List OAuth clients',
  http: 'GET /oauth-clients',
  kind: 'read',
  needs: ['oauth_client:list'],
  oauth_only: true,
  refuses: [],
  input: ListOAuthClients,
  output: z.array(OAuthClient),
  list: 'whole',
  run: async (ctx, input) => wholeList(await clients.listClients(ctx, input)),
});

export const get = operation({
  id: 'oauth_clients.get',
  summary: 'Get an OAuth client',
  http: 'GET /oauth-clients/{id}',
  kind: 'read',
  needs: ['oauth_client:read'],
  oauth_only: true,
  refuses: ['not_found'],
  input: OAuthClientRef,
  output: OAuthClientDetail,
  run: (ctx, input) => clients.getClient(ctx, input),
});

export const create = operation({
  id: 'oauth_clients.create',
  summary: 'Create an OAuth client',
  http: 'POST /oauth-clients',
  kind: 'mint',
  needs: ['oauth_client:create'],
  oauth_only: true,
  step_up: 'oauth.client',
  refuses: ['plan_limit', 'privilege_escalation', 'mfa_required', 'step_up_required'],
  input: CreateOAuthClient,
  output: CreatedOAuthClient,
  success: 201,
  advises: true,
  run: (ctx, input) => clients.createClient(ctx, input),
});

export const update = operation({
  id: 'oauth_clients.update',
  summary: 'Update an OAuth client',
  http: 'PATCH /oauth-clients/{id}',
  kind: 'change',
  needs: ['oauth_client:update'],
  oauth_only: true,
  step_up: { by_verb: 'oauth.client' },
  refuses: ['not_found', 'conflict', 'privilege_escalation', 'system_client_protected', 'mfa_required', 'step_up_required'],
  input: UpdateOAuthClient,
  output: OAuthClientDetail,
  edits: { row: (tx, ctx, { id }) => clients.lockedClient(tx, ctx, id), shown_by: get },
  run: (ctx, input) => clients.updateClient(ctx, input),
});

export const rotateSecret = operation({
  id: 'oauth_clients.rotate_secret',
  summary: 'Rotate the secret of an OAuth client',
  http: 'POST /oauth-clients/{id}/rotate-secret',
  kind: 'mint',
  needs: ['oauth_client:rotate'],
  oauth_only: true,
  step_up: 'oauth.client',
  refuses: ['not_found', 'conflict', 'privilege_escalation', 'system_client_protected', 'mfa_required', 'step_up_required'],
  input: RotateOAuthClientSecret,
  output: RotatedOAuthClientSecret,
  advises: true,
  run: (ctx, input) => clients.rotateSecret(ctx, input),
});

export const revoke = operation({
  id: 'oauth_clients.revoke',
  summary: 'Revoke an OAuth client',
  http: 'DELETE /oauth-clients/{id}',
  kind: 'change',
  needs: ['oauth_client:revoke'],
  oauth_only: true,
  while_inactive: true,
  refuses: ['not_found', 'conflict', 'system_client_protected'],
  input: OAuthClientRef,
  output: RevokedOAuthClient,
  run: (ctx, input) => clients.revokeClient(ctx, input),
});

export const listGrants = operation({
  id: 'oauth_clients.list_grants',
  summary: 'List the grants of an OAuth client',
  http: 'GET /oauth-clients/{id}/grants',
  kind: 'read',
  needs: ['oauth_client:read'],
  oauth_only: true,
  refuses: ['not_found'],
  input: OAuthClientRef,
  output: z.array(OAuthGrant),
  list: 'whole',
  run: async (ctx, input) => wholeList(await clients.listGrants(ctx, input)),
});

export const revokeGrant = operation({
  id: 'oauth_clients.revoke_grant',
  summary: 'Revoke a grant of an OAuth client',
  http: 'DELETE /oauth-clients/{id}/grants/{grant_id}',
  kind: 'change',
  needs: ['oauth_client:update'],
  oauth_only: true,
  while_inactive: true,
  refuses: ['not_found'],
  input: OAuthGrantRef,
  output: Deleted,
  run: (ctx, input) => clients.revokeGrant(ctx, input),
});
