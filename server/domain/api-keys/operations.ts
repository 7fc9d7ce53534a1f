import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import {
  ApiKey,
  ApiKeyRef,
  ApiKeyUses,
  CreateApiKey,
  CreatedApiKey,
  ListApiKeys,
  RevokedApiKey,
  RotateApiKey,
  RotatedApiKey,
  SeenVersions,
  UpdateApiKey,
} from './schema.ts';
import * as keys from './service.ts';
import { apiKeyUses } from './uses.ts';
import { versionsSeen } from './versions/service.ts';

export const list = operation({
  id: 'api_keys.list',
  summary: 'List API keys',
  http: 'GET /api-keys',
  kind: 'read',
  needs: ['api_key:list'],
  refuses: [],
  input: ListApiKeys,
  output: z.array(ApiKey),
  list: 'paged',
  run: (ctx, input) => keys.listApiKeys(ctx, input),
});

export const get = operation({
  id: 'api_keys.get',
  summary: 'Get an API key',
  http: 'GET /api-keys/{id}',
  kind: 'read',
  needs: ['api_key:read'],
  refuses: ['not_found'],
  input: ApiKeyRef,
  output: ApiKey,
  run: (ctx, input) => keys.getApiKey(ctx, input),
});

export const create = operation({
  id: 'api_keys.create',
  summary: 'Create an API key',
  http: 'POST /api-keys',
  kind: 'mint',
  needs: ['api_key:create'],
  step_up: { by_verb: ['api_key.create', 'capability.grant'] },
  refuses: ['plan_limit', 'plan_feature', 'privilege_escalation', 'forbidden', 'mfa_required', 'step_up_required'],
  input: CreateApiKey,
  output: CreatedApiKey,
  success: 201,
  run: (ctx, input) => keys.createApiKey(ctx, input),
});

export const update = operation({
  id: 'api_keys.update',
  summary: 'Update an API key',
  http: 'PATCH /api-keys/{id}',
  kind: 'change',
  needs: ['api_key:update'],
  step_up: { by_verb: ['capability.grant', 'protection.loosen'] },
  refuses: ['not_found', 'conflict', 'privilege_escalation', 'forbidden', 'mfa_required', 'step_up_required'],
  input: UpdateApiKey,
  output: ApiKey,
  edits: { row: (tx, ctx, { id }) => keys.lockedKey(tx, ctx, id), shown_by: get },
  run: (ctx, input) => keys.updateApiKey(ctx, input),
});

export const rotate = operation({
  id: 'api_keys.rotate',
  summary: 'Rotate an API key',
  http: 'POST /api-keys/{id}/rotate',
  kind: 'mint',
  needs: ['api_key:create', 'api_key:update'],
  step_up: { by_verb: ['capability.grant', 'protection.loosen'] },
  refuses: ['not_found', 'conflict', 'plan_limit', 'plan_feature', 'privilege_escalation', 'mfa_required', 'step_up_required'],
  input: RotateApiKey,
  output: RotatedApiKey,
  success: 201,
  run: (ctx, input) => keys.rotateApiKey(ctx, input),
});

export const revoke = operation({
  id: 'api_keys.revoke',
  summary: 'Revoke an API key',
  http: 'DELETE /api-keys/{id}',
  kind: 'change',
  needs: ['api_key:revoke'],
  while_inactive: true,
  refuses: ['not_found', 'role_denied'],
  input: ApiKeyRef,
  output: RevokedApiKey,
  run: (ctx, input) => keys.revokeApiKey(ctx, input),
});

export const uses = operation({
  id: 'api_keys.uses',
  summary: 'List the capabilities an API key has used',
  http: 'GET /admin/api-keys/{id}/uses',
  kind: 'read',
  needs: ['api_key:read'],
  refuses: ['not_found'],
  input: ApiKeyRef,
  output: ApiKeyUses,
  run: (ctx, input) => apiKeyUses(ctx, input),
});

export const versions = operation({
  id: 'api_keys.versions',
  summary: 'List the API versions that keys use',
  http: 'GET /admin/api-versions',
  kind: 'read',
  needs: ['api_key:list'],
  refuses: [],
  input: z.object({}),
  output: SeenVersions,
  run: (ctx) => versionsSeen(ctx),
});
