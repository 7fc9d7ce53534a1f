import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import * as capture from './capture.ts';
import { commitGate, commitItems, previewCommit } from './commit.ts';
import * as dbRoutes from './db-routes.ts';
import * as denylist from './denylist.ts';
import * as rules from './intercept-rules.ts';
import { listItems } from './items.ts';
import * as review from './review.ts';
import * as wire from './schema.ts';
import * as migrations from './service.ts';
import { migrationSetup } from './setup.ts';
import * as verification from './verification.ts';

const MIB = 1024 * 1024;

export const list = operation({
  id: 'migrations.list',
  summary: 'List the most recent migrations',
  http: 'GET /admin/migrations',
  kind: 'read',
  needs: ['migration:read'],
  refuses: [],
  input: z.object({}),
  output: wire.Migrations,
  run: (ctx) => migrations.listMigrations(ctx),
});

export const setup = operation({
  id: 'migrations.setup',
  summary: 'Show what a grant for this workspace names',
  http: 'GET /admin/migrations/setup',
  kind: 'read',
  needs: ['migration:create'],
  refuses: [],
  input: z.object({}),
  output: wire.MigrationSetup,
  run: (ctx) => migrationSetup(ctx),
});

export const get = operation({
  id: 'migrations.get',
  summary: 'Get a migration',
  http: 'GET /admin/migrations/{id}',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found'],
  input: wire.MigrationRef,
  output: wire.MigrationDetail,
  run: (ctx, input) => migrations.getMigration(ctx, input),
});

export const create = operation({
  id: 'migrations.create',
  summary: 'Start a migration',
  http: 'POST /admin/migrations',
  kind: 'change',
  needs: ['migration:create'],
  refuses: [
    'static_credentials_rejected',
    'provider_probe_failed',
    'too_many_migrations',
    'plan_feature',
    'tenant_sealed',
    'audit_unavailable',
    'dependency_unavailable',
  ],
  input: wire.CreateMigration,
  output: wire.CreatedMigration,
  success: 201,
  body: { limit: 2 * MIB },
  run: (ctx, input) => migrations.createMigration(ctx, input),
});

export const cancel = operation({
  id: 'migrations.cancel',
  summary: 'Cancel a migration',
  http: 'POST /admin/migrations/{id}/cancel',
  kind: 'change',
  needs: ['migration:cancel'],
  while_inactive: true,
  refuses: ['migration_not_found', 'audit_unavailable'],
  input: wire.MigrationRef,
  output: wire.MigrationMoved,
  run: (ctx, input) => migrations.cancelMigration(ctx, input),
});

export const retry = operation({
  id: 'migrations.retry',
  summary: 'Retry a failed migration',
  http: 'POST /admin/migrations/{id}/retry',
  kind: 'change',
  needs: ['migration:create'],
  refuses: ['migration_not_found', 'conflict', 'too_many_migrations'],
  input: wire.MigrationRef,
  output: wire.MigrationMoved,
  run: (ctx, input) => migrations.retryMigration(ctx, input),
});

export const finishCapture = operation({
  id: 'migrations.finish_capture',
  summary: 'Finish the capture window of a migration',
  http: 'POST /admin/migrations/{id}/finish-capture',
  kind: 'change',
  needs: ['migration:create'],
  refuses: ['migration_not_found', 'conflict'],
  input: wire.MigrationRef,
  output: wire.MigrationMoved,
  run: (ctx, input) => capture.finishCapture(ctx, input),
});

export const items = operation({
  id: 'migrations.items',
  summary: 'List the items of a migration',
  http: 'GET /admin/migrations/{id}/items',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found'],
  input: wire.ListItems,
  output: wire.MigrationItems,
  run: (ctx, input) => listItems(ctx, input),
});

export const revealItem = operation({
  id: 'migrations.reveal_item',
  summary: 'Reveal the value of an item',
  http: 'GET /admin/migrations/{id}/items/{itemId}/value',
  kind: 'reveal',
  needs: ['migration:review'],
  refuses: ['migration_not_found', 'item_not_found', 'value_unavailable', 'tenant_sealed'],
  input: wire.RevealItem,
  output: wire.RevealedItem,
  reveal: review.revealOfItem,
  run: (ctx, input) => review.revealItem(ctx, input),
});

const DECIDES = ['migration_not_found', 'item_not_found', 'item_not_pending', 'tenant_sealed', 'audit_unavailable'] as const;

export const approveItem = operation({
  id: 'migrations.approve_item',
  summary: 'Approve an item',
  http: 'POST /admin/migrations/{id}/items/{itemId}/approve',
  kind: 'reveal',
  needs: ['migration:review'],
  refuses: [...DECIDES, 'value_unavailable', 'name_conflict'],
  input: wire.ApproveItem,
  output: wire.DecidedItem,
  reveal: review.approvalOfItem,
  run: (ctx, input) => review.approveItem(ctx, input),
});

export const rejectItem = operation({
  id: 'migrations.reject_item',
  summary: 'Reject an item',
  http: 'POST /admin/migrations/{id}/items/{itemId}/reject',
  kind: 'reveal',
  needs: ['migration:review'],
  refuses: DECIDES,
  input: wire.RejectItem,
  output: wire.DecidedItem,
  reveal: review.rejectionOfItem,
  run: (ctx, input) => review.rejectOne(ctx, input),
});

export const approveItems = operation({
  id: 'migrations.approve_items',
  summary: 'Approve several items',
  http: 'POST /admin/migrations/{id}/items/approve',
  kind: 'reveal',
  needs: ['migration:review'],
  refuses: [...DECIDES, 'value_unavailable', 'name_conflict'],
  input: wire.ApproveItems,
  output: wire.DecidedItems,
  reveal: review.approvalOfItems,
  run: (ctx, input) => review.approveItems(ctx, input),
});

export const rejectItems = operation({
  id: 'migrations.reject_items',
  summary: 'Reject several items',
  http: 'POST /admin/migrations/{id}/items/reject',
  kind: 'reveal',
  needs: ['migration:review'],
  refuses: DECIDES,
  input: wire.RejectItems,
  output: wire.DecidedItems,
  reveal: review.rejectionOfItems,
  run: (ctx, input) => review.rejectItems(ctx, input),
});

export const unapproveItem = operation({
  id: 'migrations.unapprove_item',
  summary: 'Take back the approval of an item',
  http: 'POST /admin/migrations/{id}/items/{itemId}/unapprove',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  refuses: ['migration_not_found', 'item_not_found', 'item_not_pending', 'reveal_role_denied'],
  input: wire.ItemRef,
  output: wire.DecidedItem,
  run: (ctx, input) => review.unapproveItem(ctx, input),
});

export const commit = operation({
  id: 'migrations.commit',
  summary: 'Commit approved items as secrets',
  http: 'POST /admin/migrations/{id}/commit',
  kind: 'reveal',
  needs: ['migration:commit'],
  refuses: [...DECIDES, 'commit_conflict', 'plan_limit', 'conflict'],
  input: wire.CommitItems,
  output: wire.Committed,
  reveal: commitGate,
  run: (ctx, input) => commitItems(ctx, input),
});

export const preview = operation({
  id: 'migrations.commit_preview',
  summary: 'Show what a commit of all approved items would do',
  http: 'GET /admin/migrations/{id}/commit',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found'],
  input: wire.MigrationRef,
  output: wire.CommitPreview,
  run: (ctx, input) => previewCommit(ctx, input),
});

export const getDenylist = operation({
  id: 'migrations.denylist.get',
  summary: 'Get the denylist of migrations',
  http: 'GET /admin/migrations/denylist',
  kind: 'read',
  needs: ['migration:read'],
  refuses: [],
  input: z.object({}),
  output: wire.Denylist,
  run: (ctx) => denylist.getDenylist(ctx),
});

export const putDenylist = operation({
  id: 'migrations.denylist.put',
  summary: 'Replace the denylist of migrations',
  http: 'PUT /admin/migrations/denylist',
  kind: 'change',
  needs: ['migration:create'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['mfa_required', 'step_up_required', 'dependency_unavailable'],
  input: wire.PutDenylist,
  output: wire.DenylistSaved,
  run: (ctx, input) => denylist.putDenylist(ctx, input),
});

export const getVerification = operation({
  id: 'migrations.verification.get',
  summary: 'Show whether the source is still read',
  http: 'GET /admin/migrations/{id}/verification-events',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found'],
  input: wire.MigrationRef,
  output: wire.Verification,
  run: (ctx, input) => verification.getVerification(ctx, input),
});

export const confirmClean = operation({
  id: 'migrations.verification.confirm',
  summary: 'Confirm that nothing reads the source any more',
  http: 'POST /admin/migrations/{id}/verification-events',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  refuses: ['migration_not_found', 'item_not_found', 'reveal_role_denied'],
  input: wire.ConfirmClean,
  output: wire.MadeId,
  success: 201,
  run: (ctx, input) => verification.confirmClean(ctx, input),
});

export const listRules = operation({
  id: 'migrations.intercept_rules.list',
  summary: 'List the intercept rules of a migration',
  http: 'GET /admin/migrations/{id}/intercept-rules',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found'],
  input: wire.MigrationRef,
  output: wire.InterceptRules,
  run: (ctx, input) => rules.listRules(ctx, input),
});

export const getRule = operation({
  id: 'migrations.intercept_rules.get',
  summary: 'Get an intercept rule',
  http: 'GET /admin/migrations/{id}/intercept-rules/{ruleId}',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found', 'not_found'],
  input: wire.RuleRef,
  output: wire.InterceptRule,
  run: (ctx, input) => rules.getRule(ctx, input),
});

export const createRule = operation({
  id: 'migrations.intercept_rules.create',
  summary: 'Create an intercept rule',
  http: 'POST /admin/migrations/{id}/intercept-rules',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  refuses: ['migration_not_found', 'conflict', 'reveal_role_denied'],
  input: wire.CreateRule,
  output: wire.InterceptRule,
  success: 201,
  run: (ctx, input) => rules.createRule(ctx, input),
});

export const updateRule = operation({
  id: 'migrations.intercept_rules.update',
  summary: 'Update an intercept rule',
  http: 'PATCH /admin/migrations/{id}/intercept-rules/{ruleId}',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  refuses: ['migration_not_found', 'not_found', 'conflict', 'reveal_role_denied'],
  input: wire.UpdateRule,
  output: wire.InterceptRule,
  edits: { row: (tx, ctx, input) => rules.lockedRule(tx, ctx, input), shown_by: getRule },
  run: (ctx, input) => rules.updateRule(ctx, input),
});

export const deleteRule = operation({
  id: 'migrations.intercept_rules.delete',
  summary: 'Delete an intercept rule',
  http: 'DELETE /admin/migrations/{id}/intercept-rules/{ruleId}',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  refuses: ['migration_not_found', 'not_found', 'reveal_role_denied'],
  input: wire.RuleRef,
  output: Deleted,
  run: (ctx, input) => rules.deleteRule(ctx, input),
});

export const listDbRoutes = operation({
  id: 'migrations.db_routes.list',
  summary: 'List the database proxy routes of a migration',
  http: 'GET /admin/migrations/{id}/db-proxy-routes',
  kind: 'read',
  needs: ['migration:read'],
  refuses: ['migration_not_found'],
  input: wire.MigrationRef,
  output: wire.DbRoutes,
  run: (ctx, input) => dbRoutes.listDbRoutes(ctx, input),
});

export const createDbRoute = operation({
  id: 'migrations.db_routes.create',
  summary: 'Create a database proxy route',
  http: 'POST /admin/migrations/{id}/db-proxy-routes',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  feature: 'byo_agent',
  refuses: ['migration_not_found', 'conflict', 'port_in_use', 'plan_feature', 'reveal_role_denied', 'audit_unavailable'],
  input: wire.CreateDbRoute,
  output: wire.MadeId,
  success: 201,
  run: (ctx, input) => dbRoutes.createDbRoute(ctx, input),
});

export const deleteDbRoute = operation({
  id: 'migrations.db_routes.delete',
  summary: 'Delete a database proxy route',
  http: 'DELETE /admin/migrations/{id}/db-proxy-routes/{routeId}',
  kind: 'change',
  needs: ['migration:create'],
  step_up: 'secret.migration',
  refuses: ['migration_not_found', 'not_found', 'reveal_role_denied', 'audit_unavailable'],
  input: wire.DbRouteRef,
  output: Deleted,
  run: (ctx, input) => dbRoutes.deleteDbRoute(ctx, input),
});
