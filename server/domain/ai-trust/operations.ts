import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { testToken } from './dry-run.ts';
import * as schema from './schema.ts';
import * as bindings from './service.ts';

export const list = operation({
  id: 'ai_oidc_bindings.list',
  summary: 'List OIDC bindings',
  http: 'GET /ai-gateway/oidc-bindings',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: schema.ListAiOidcBindings,
  output: z.array(schema.AiOidcBinding),
  list: 'paged',
  run: (ctx, input) => bindings.listBindings(ctx, input),
});

export const create = operation({
  id: 'ai_oidc_bindings.create',
  summary: 'Create an OIDC binding',
  http: 'POST /ai-gateway/oidc-bindings',
  kind: 'change',
  trusts: true,
  needs: { all: ['ai_gateway:create', 'ai_gateway:mint'] },
  refuses: ['conflict'],
  input: schema.CreateAiOidcBinding,
  output: schema.AiOidcBinding,
  success: 201,
  run: (ctx, input) => bindings.createBinding(ctx, input),
});

export const test = operation({
  id: 'ai_oidc_bindings.test',
  summary: 'Test an identity token',
  http: 'POST /ai-gateway/oidc-bindings/test',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['rate_limit_exceeded'],
  input: schema.TestAiOidcToken,
  output: schema.AiOidcTestResult,
  run: (ctx, input) => testToken(ctx, input),
});

export const get = operation({
  id: 'ai_oidc_bindings.get',
  summary: 'Get an OIDC binding',
  http: 'GET /ai-gateway/oidc-bindings/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: schema.AiOidcBindingRef,
  output: schema.AiOidcBinding,
  run: (ctx, input) => bindings.getBinding(ctx, input),
});

export const update = operation({
  id: 'ai_oidc_bindings.update',
  summary: 'Update an OIDC binding',
  http: 'PATCH /ai-gateway/oidc-bindings/{id}',
  kind: 'change',
  needs: { all: ['ai_gateway:update', 'ai_gateway:mint'] },
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: schema.UpdateAiOidcBinding,
  output: schema.AiOidcBinding,
  edits: { row: (tx, ctx, { id }) => bindings.lockedBinding(tx, ctx, id), shown_by: get },
  run: (ctx, input) => bindings.updateBinding(ctx, input),
});

const remove = operation({
  id: 'ai_oidc_bindings.delete',
  summary: 'Delete an OIDC binding',
  http: 'DELETE /ai-gateway/oidc-bindings/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.AiOidcBindingRef,
  output: Deleted,
  run: (ctx, input) => bindings.deleteBinding(ctx, input),
});

export { remove as delete };
