import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { Account, Plan, UpdateAccount, UpdateWorkspaceSettings, Usage, WorkspaceSettings } from './schema.ts';
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
  refuses: ['not_found'],
  input: UpdateWorkspaceSettings,
  output: WorkspaceSettings,
  run: (ctx, input) => account.updateSettings(ctx, input),
});
