import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import * as policies from './management.ts';
import { previewPolicy } from './preview.ts';
import {
  CreatePolicy,
  Policy,
  PolicyCandidates,
  PolicyDenial,
  PolicyPreview,
  PolicyRef,
  PolicyTest,
  PreviewPolicy,
  TestPolicies,
  UpdatePolicy,
} from './schema.ts';
import { testPolicies } from './test-as.ts';

export const list = operation({
  id: 'policies.list',
  summary: 'List policies',
  http: 'GET /admin/policies',
  kind: 'read',
  needs: ['policy:list'],
  refuses: [],
  input: z.object({}),
  output: z.array(Policy),
  list: 'whole',
  run: async (ctx) => wholeList(await policies.listPolicies(ctx)),
});

export const get = operation({
  id: 'policies.get',
  summary: 'Get a policy',
  http: 'GET /admin/policies/{id}',
  kind: 'read',
  needs: ['policy:list'],
  refuses: ['not_found'],
  input: PolicyRef,
  output: Policy,
  run: (ctx, input) => policies.getPolicy(ctx, input),
});

export const create = operation({
  id: 'policies.create',
  summary: 'Create a policy',
  http: 'POST /admin/policies',
  kind: 'change',
  needs: ['policy:create'],
  step_up: 'policy.change',
  refuses: ['conflict'],
  input: CreatePolicy,
  output: Policy,
  success: 201,
  run: (ctx, input) => policies.createPolicy(ctx, input),
});

export const update = operation({
  id: 'policies.update',
  summary: 'Update a policy',
  http: 'PATCH /admin/policies/{id}',
  kind: 'change',
  needs: ['policy:update'],
  step_up: 'policy.change',
  refuses: ['not_found', 'conflict'],
  input: UpdatePolicy,
  output: Policy,
  edits: { row: (tx, ctx, { id }) => policies.lockedPolicy(tx, ctx, id), shown_by: get },
  run: (ctx, input) => policies.updatePolicy(ctx, input),
});

const remove = operation({
  id: 'policies.delete',
  summary: 'Delete a policy',
  http: 'DELETE /admin/policies/{id}',
  kind: 'change',
  needs: ['policy:delete'],
  step_up: 'policy.change',
  refuses: ['not_found'],
  input: PolicyRef,
  output: Deleted,
  run: (ctx, input) => policies.deletePolicy(ctx, input),
});

export const denials = operation({
  id: 'policies.denials',
  summary: 'List who a policy denied',
  http: 'GET /admin/policies/{id}/denials',
  kind: 'read',
  needs: ['policy:list'],
  refuses: ['not_found'],
  input: PolicyRef,
  output: z.array(PolicyDenial),
  list: 'whole',
  run: async (ctx, input) => wholeList(await policies.denialsOf(ctx, input)),
});

export const candidates = operation({
  id: 'policies.candidates',
  summary: 'List whom a policy can name',
  http: 'GET /admin/policies/candidates',
  kind: 'read',
  needs: ['policy:list', 'member:list', 'api_key:list'],
  refuses: [],
  input: z.object({}),
  output: PolicyCandidates,
  run: (ctx) => policies.policyCandidates(ctx),
});

export const test = operation({
  id: 'policies.test',
  summary: 'Test what somebody may do',
  http: 'POST /admin/policies/test',
  kind: 'read',
  needs: ['policy:list', 'member:list', 'api_key:list'],
  refuses: [],
  input: TestPolicies,
  output: PolicyTest,
  run: testPolicies,
});

export const preview = operation({
  id: 'policies.preview',
  summary: 'Preview what a policy would deny',
  http: 'POST /admin/policies/preview',
  kind: 'read',
  needs: ['policy:list', 'member:list', 'api_key:list'],
  refuses: [],
  input: PreviewPolicy,
  output: PolicyPreview,
  run: (ctx, input) => previewPolicy(ctx, input),
});

export { remove as delete };
