import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { CreatedScimCredential, CreateScimCredential, ScimCredential, ScimCredentialRef, ScimRequest, ScimStatus } from './schema.ts';
import * as scim from './service.ts';

export const status = operation({
  id: 'scim_credentials.status',
  summary: 'Get the SCIM base URL and availability',
  http: 'GET /admin/scim',
  kind: 'read',
  needs: ['scim_credential:list'],
  refuses: [],
  input: z.object({}),
  output: ScimStatus,
  run: (ctx) => scim.scimStatus(ctx),
});

export const list = operation({
  id: 'scim_credentials.list',
  summary: 'List SCIM credentials',
  http: 'GET /admin/scim/credentials',
  kind: 'read',
  needs: ['scim_credential:list'],
  refuses: ['operator_custody_blocked'],
  input: z.object({}),
  output: z.array(ScimCredential),
  list: 'whole',
  run: async (ctx) => wholeList(await scim.listCredentials(ctx)),
});

export const create = operation({
  id: 'scim_credentials.create',
  summary: 'Create a SCIM credential',
  http: 'POST /admin/scim/credentials',
  kind: 'mint',
  needs: ['scim_credential:create'],
  step_up: 'scim.credential',
  refuses: ['scim_plan_required', 'conflict', 'operator_custody_blocked'],
  input: CreateScimCredential,
  output: CreatedScimCredential,
  success: 201,
  run: (ctx, input) => scim.createCredential(ctx, input),
});

const remove = operation({
  id: 'scim_credentials.delete',
  summary: 'Revoke a SCIM credential',
  http: 'DELETE /admin/scim/credentials/{id}',
  kind: 'change',
  needs: ['scim_credential:revoke'],
  while_inactive: true,
  refuses: ['not_found', 'operator_custody_blocked'],
  input: ScimCredentialRef,
  output: Deleted,
  run: (ctx, input) => scim.revokeCredential(ctx, input),
});

export const requests = operation({
  id: 'scim_credentials.requests',
  summary: 'List the latest SCIM calls',
  http: 'GET /admin/scim/requests',
  kind: 'read',
  needs: ['scim_credential:list'],
  refuses: [],
  input: z.object({}),
  output: z.array(ScimRequest),
  list: 'whole',
  run: async (ctx) => wholeList(await scim.latestCalls(ctx)),
});

export { remove as delete };
