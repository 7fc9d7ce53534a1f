import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { testBindings } from './dry-run.ts';
import {
  CreateTrustBinding,
  TestTrustBindings,
  TrustBinding,
  TrustBindingRef,
  TrustBindingsOf,
  TrustBindingsTest,
  UpdateTrustBinding,
} from './schema.ts';
import * as bindings from './service.ts';

export const list = operation({
  id: 'trust_bindings.list',
  summary: 'List trust bindings',
  http: 'GET /oauth-clients/{id}/trust-bindings',
  kind: 'read',
  oauth_only: true,
  needs: ['oauth_client:read'],
  refuses: ['not_found'],
  input: TrustBindingsOf,
  output: z.array(TrustBinding),
  list: 'whole',
  run: async (ctx, input) => wholeList(await bindings.listBindings(ctx, input)),
});

export const get = operation({
  id: 'trust_bindings.get',
  summary: 'Get a trust binding',
  http: 'GET /oauth-clients/{id}/trust-bindings/{binding_id}',
  kind: 'read',
  oauth_only: true,
  needs: ['oauth_client:read'],
  refuses: ['not_found'],
  input: TrustBindingRef,
  output: TrustBinding,
  run: (ctx, input) => bindings.getBinding(ctx, input),
});

export const create = operation({
  id: 'trust_bindings.create',
  summary: 'Create a trust binding',
  http: 'POST /oauth-clients/{id}/trust-bindings',
  kind: 'change',
  oauth_only: true,
  needs: ['oauth_client:update'],
  step_up: 'oauth.client',
  refuses: ['not_found', 'conflict', 'privilege_escalation', 'system_client_protected'],
  input: CreateTrustBinding,
  output: TrustBinding,
  success: 201,
  run: (ctx, input) => bindings.createBinding(ctx, input),
});

/** Ending trust, and what it is called, must not wait for anybody to find their second factor. */
const UNCONFIRMED = new Set(['id', 'binding_id', 'name']);

export const update = operation({
  id: 'trust_bindings.update',
  summary: 'Update a trust binding',
  http: 'PATCH /oauth-clients/{id}/trust-bindings/{binding_id}',
  kind: 'change',
  oauth_only: true,
  needs: ['oauth_client:update'],
  step_up: (input) =>
    Object.entries(input).some(([name, value]) => value !== undefined && !UNCONFIRMED.has(name) && !(name === 'enabled' && value === false))
      ? 'oauth.client'
      : undefined,
  refuses: ['not_found', 'conflict', 'privilege_escalation', 'system_client_protected'],
  input: UpdateTrustBinding,
  output: TrustBinding,
  edits: { row: (tx, ctx, input) => bindings.lockedBinding(tx, ctx, input), shown_by: get },
  run: (ctx, input) => bindings.updateBinding(ctx, input),
});

const remove = operation({
  id: 'trust_bindings.delete',
  summary: 'Delete a trust binding',
  http: 'DELETE /oauth-clients/{id}/trust-bindings/{binding_id}',
  kind: 'change',
  oauth_only: true,
  needs: ['oauth_client:update'],
  while_inactive: true,
  refuses: ['not_found'],
  input: TrustBindingRef,
  output: Deleted,
  run: (ctx, input) => bindings.deleteBinding(ctx, input),
});

export const test = operation({
  id: 'trust_bindings.test',
  summary: 'Test a workload token',
  http: 'POST /oauth-clients/{id}/trust-bindings/test',
  kind: 'read',
  oauth_only: true,
  needs: ['oauth_client:update'],
  refuses: ['not_found', 'rate_limit_exceeded'],
  input: TestTrustBindings,
  output: TrustBindingsTest,
  run: (ctx, input) => testBindings(ctx, input),
});

export { remove as delete };
