import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { duplicateEnvironment } from './duplicate.ts';
import { get } from './hot.ts';
import {
  CreateEnvironment,
  DuplicatedEnvironment,
  DuplicateEnvironment,
  Environment,
  EnvironmentImpact,
  EnvironmentRecord,
  EnvironmentRef,
  EnvironmentUsage,
  UpdateEnvironment,
} from './schema.ts';
import * as environments from './service.ts';
import { impactOfEnvironment, usageOfEnvironments } from './usage.ts';

export { get };

export const list = operation({
  id: 'environments.list',
  summary: 'List environments',
  http: 'GET /environments',
  kind: 'read',
  needs: ['environment:list'],
  refuses: [],
  input: z.object({}),
  output: z.array(Environment),
  list: 'whole',
  names: ['id', 'name', 'display_name', 'color', 'is_default', 'created_at'],
  run: async (ctx) => wholeList(await environments.listEnvironments(ctx)),
});

export const create = operation({
  id: 'environments.create',
  summary: 'Create an environment',
  http: 'POST /environments',
  kind: 'change',
  needs: ['environment:create'],
  refuses: ['plan_limit', 'conflict'],
  input: CreateEnvironment,
  output: EnvironmentRecord,
  success: 201,
  run: (ctx, input) => environments.createEnvironment(ctx, input),
});

export const update = operation({
  id: 'environments.update',
  summary: 'Update an environment',
  http: 'PATCH /environments/{id}',
  kind: 'change',
  needs: ['environment:update'],
  refuses: ['not_found', 'conflict'],
  input: UpdateEnvironment,
  output: EnvironmentRecord,
  edits: { row: (tx, ctx, { id }) => environments.lockedEnvironment(tx, ctx, id), shown_by: get },
  run: (ctx, input) => environments.updateEnvironment(ctx, input),
});

const remove = operation({
  id: 'environments.delete',
  summary: 'Delete an environment',
  http: 'DELETE /environments/{id}',
  kind: 'change',
  needs: ['environment:delete'],
  refuses: ['not_found', 'in_use'],
  input: EnvironmentRef,
  output: Deleted,
  run: (ctx, input) => environments.deleteEnvironment(ctx, input),
});

export const duplicate = operation({
  id: 'environments.duplicate',
  summary: 'Duplicate an environment',
  http: 'POST /admin/environments/{id}/duplicate',
  kind: 'change',
  needs: ['environment:create', 'route:update'],
  refuses: ['not_found', 'plan_limit', 'conflict'],
  input: DuplicateEnvironment,
  output: DuplicatedEnvironment,
  success: 201,
  run: (ctx, input) => duplicateEnvironment(ctx, input),
});

export const usage = operation({
  id: 'environments.usage',
  summary: 'Get the usage of each environment',
  http: 'GET /admin/environments/usage',
  kind: 'read',
  needs: ['environment:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(EnvironmentUsage),
  list: 'whole',
  run: async (ctx) => wholeList(await usageOfEnvironments(ctx)),
});

export const impact = operation({
  id: 'environments.impact',
  summary: 'Show what uses an environment',
  http: 'GET /admin/environments/{id}/impact',
  kind: 'read',
  needs: ['environment:read', 'route:list', 'secret:read', 'client:read'],
  refuses: ['not_found'],
  input: EnvironmentRef,
  output: EnvironmentImpact,
  run: (ctx, input) => impactOfEnvironment(ctx, input),
});

export { remove as delete };
