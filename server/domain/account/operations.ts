import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import {
  Account,
  ChangeSlug,
  DeletedWorkspaces,
  DeleteWorkspace,
  Plan,
  RestoreWorkspace,
  UpdateAccount,
  UpdateWorkspaceSettings,
  Usage,
  WorkspaceDeleted,
  WorkspaceRestored,
  WorkspaceSettings,
} from './schema.ts';
import * as account from './service.ts';

export const get = operation({
  id: 'account.get',
  summary: 'Get the workspace',
  http: 'GET /account',
  kind: 'read',
  needs: ['account:read'],
  refuses: ['not_found'],
  input: z.object({}),
  output: Account,
  run: (ctx) => account.getAccount(ctx),
});

export const update = operation({
  id: 'account.update',
  summary: 'Rename the workspace',
  http: 'PATCH /account',
  kind: 'change',
  needs: ['account:update'],
  refuses: ['not_found'],
  input: UpdateAccount,
  output: Account,
  edits: { row: (tx, ctx) => account.lockedAccount(tx, ctx), shown_by: get },
  run: (ctx, input) => account.updateAccount(ctx, input),
});

export const usage = operation({
  id: 'account.usage',
  summary: 'Get usage and plan limits',
  http: 'GET /account/usage',
  kind: 'read',
  needs: ['account:read'],
  refuses: ['not_found'],
  input: z.object({}),
  output: Usage,
  run: (ctx, _, families) => account.getUsage(ctx, families),
});

export const plan = operation({
  id: 'account.plan',
  summary: 'Get effective limits and features',
  http: 'GET /admin/plan',
  kind: 'read',
  needs: ['account:read'],
  refuses: ['not_found'],
  input: z.object({}),
  output: Plan,
  run: (ctx) => account.getPlan(ctx),
});

export const settings = operation({
  id: 'account.settings',
  summary: 'Get workspace settings',
  http: 'GET /admin/settings',
  kind: 'read',
  needs: ['account:read'],
  refuses: ['not_found'],
  input: z.object({}),
  output: WorkspaceSettings,
  run: (ctx) => account.getSettings(ctx),
});

export const updateSettings = operation({
  id: 'account.update_settings',
  summary: 'Update workspace settings',
  http: 'PATCH /admin/settings',
  kind: 'change',
  needs: ['settings:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'role_denied', 'mfa_required', 'step_up_required'],
  input: UpdateWorkspaceSettings,
  output: WorkspaceSettings,
  run: (ctx, input) => account.updateSettings(ctx, input),
});

export const changeSlug = operation({
  id: 'account.change_slug',
  summary: 'Change the slug of the workspace',
  http: 'POST /admin/settings/slug',
  kind: 'change',
  needs: ['tenant:change_slug'],
  step_up: 'tenant.slug',
  refuses: ['not_found', 'conflict'],
  input: ChangeSlug,
  output: Account,
  run: (ctx, input) => account.changeSlug(ctx, input),
});

export const remove = operation({
  id: 'account.delete',
  summary: 'Delete the workspace',
  http: 'POST /admin/settings/delete',
  kind: 'change',
  needs: ['tenant:delete'],
  while_inactive: true,
  step_up: 'tenant.delete',
  refuses: ['not_found'],
  input: DeleteWorkspace,
  output: WorkspaceDeleted,
  run: (ctx, input) => account.deleteWorkspace(ctx, input),
});

export const deletedWorkspaces = operation({
  id: 'account.deleted',
  summary: 'List deleted workspaces that you can restore',
  http: 'GET /auth/workspaces/deleted',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: z.object({}),
  output: DeletedWorkspaces,
  run: (ctx) => account.deletedWorkspaces(ctx),
});

export const restore = operation({
  id: 'account.restore',
  summary: 'Restore a deleted workspace',
  http: 'POST /auth/workspaces/{id}/restore',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['not_found', 'session_scope_mismatch', 'forbidden'],
  input: RestoreWorkspace,
  output: WorkspaceRestored,
  run: (ctx, input) => account.restoreWorkspace(ctx, input),
});
