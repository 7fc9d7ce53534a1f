import { z } from 'zod';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import * as copies from './copies.ts';
import * as drafts from './drafts.ts';
import { revealHook, revealOfHook, rotateHook } from './hooks.ts';
import { revealOfNodeTest, testNode as runNode } from './node-tests.ts';
import * as runs from './runs.ts';
import * as schema from './schema.ts';
import * as workflows from './service.ts';
import { lockedWorkflow } from './store.ts';
import { operationsOfMonth, usageOfWorkflows } from './usage.ts';

/** What writing a definition may be refused for, beyond the definition itself. */
const WRITING = ['forbidden', 'role_denied', 'tenant_sealed'] as const;
/** What starting a run may be refused for. */
const STARTING = ['not_found', 'invalid_definition', 'forbidden', 'role_denied', 'rate_limit_exceeded', 'tenant_sealed'] as const;

export const list = operation({
  id: 'workflows.list',
  summary: 'List workflows',
  http: 'GET /workflows',
  kind: 'read',
  needs: ['workflow:list'],
  refuses: [],
  input: schema.ListWorkflows,
  output: z.array(schema.ListedWorkflow),
  list: 'paged',
  run: (ctx, input) => workflows.listWorkflows(ctx, input),
});

export const create = operation({
  id: 'workflows.create',
  summary: 'Create a workflow',
  http: 'POST /workflows',
  kind: 'change',
  needs: ['workflow:create'],
  refuses: ['plan_limit', ...WRITING],
  input: schema.CreateWorkflow,
  output: schema.Workflow,
  success: 201,
  run: (ctx, input) => workflows.createWorkflow(ctx, input),
});

export const validate = operation({
  id: 'workflows.validate',
  summary: 'Check a definition',
  http: 'POST /workflows/validate',
  kind: 'read',
  needs: ['workflow:create'],
  refuses: [],
  input: schema.ValidateWorkflow,
  output: schema.Problems,
  run: (ctx, input) => workflows.validateWorkflow(ctx, input),
});

export const get = operation({
  id: 'workflows.get',
  summary: 'Get a workflow',
  http: 'GET /workflows/{id}',
  kind: 'read',
  needs: ['workflow:read'],
  refuses: ['not_found'],
  input: schema.WorkflowRef,
  output: schema.Workflow,
  run: (ctx, input) => workflows.getWorkflow(ctx, input),
});

export const update = operation({
  id: 'workflows.update',
  summary: 'Update a workflow',
  http: 'PATCH /workflows/{id}',
  kind: 'change',
  needs: ['workflow:update'],
  refuses: ['not_found', 'invalid_definition', ...WRITING],
  input: schema.UpdateWorkflow,
  output: schema.Workflow,
  edits: { row: (tx, ctx, { id }) => lockedWorkflow(tx, ctx, id), shown_by: get },
  run: (ctx, input) => workflows.updateWorkflow(ctx, input),
});

const remove = operation({
  id: 'workflows.delete',
  summary: 'Delete a workflow',
  http: 'DELETE /workflows/{id}',
  kind: 'change',
  needs: ['workflow:delete'],
  refuses: ['not_found'],
  input: schema.WorkflowRef,
  output: schema.DeletedWorkflow,
  run: (ctx, input) => workflows.deleteWorkflow(ctx, input),
});

export const execute = operation({
  id: 'workflows.execute',
  summary: 'Run a workflow',
  http: 'POST /workflows/{id}/execute',
  kind: 'change',
  needs: ['workflow:execute'],
  refuses: STARTING,
  input: schema.ExecuteWorkflow,
  output: schema.QueuedExecution,
  success: 202,
  run: (ctx, input) => runs.executeWorkflow(ctx, input),
});

export const executions = operation({
  id: 'workflows.executions',
  summary: 'List the runs of a workflow',
  http: 'GET /workflows/{id}/executions',
  kind: 'read',
  needs: ['workflow:read'],
  refuses: ['not_found'],
  input: schema.ListExecutions,
  output: z.array(schema.Execution),
  list: 'paged',
  run: (ctx, input) => runs.listExecutions(ctx, input),
});

export const getExecution = operation({
  id: 'workflows.get_execution',
  summary: 'Get a run',
  http: 'GET /workflows/executions/{id}',
  kind: 'read',
  needs: ['workflow:read', 'workflow:read_execution_data'],
  refuses: ['not_found', 'tenant_sealed'],
  input: schema.ExecutionRef,
  output: schema.ExecutionDetail,
  run: (ctx, input) => runs.getExecution(ctx, input),
});

export const cancel = operation({
  id: 'workflows.cancel',
  summary: 'Cancel a run',
  http: 'POST /workflows/executions/{id}/cancel',
  kind: 'change',
  needs: ['workflow:cancel'],
  refuses: ['not_found', 'not_cancellable'],
  input: schema.ExecutionRef,
  output: schema.EndedExecution,
  run: (ctx, input) => runs.cancelExecution(ctx, input),
});

export const retry = operation({
  id: 'workflows.retry',
  summary: 'Retry a run',
  http: 'POST /workflows/executions/{id}/retry',
  kind: 'change',
  needs: ['workflow:execute'],
  refuses: [...STARTING, 'conflict'],
  input: schema.RetryExecution,
  output: schema.RetriedExecution,
  success: 202,
  run: (ctx, input) => runs.retryExecution(ctx, input),
});

export const run = operation({
  id: 'workflows.run',
  summary: 'Run a workflow or its draft',
  http: 'POST /admin/workflows/{id}/run',
  kind: 'change',
  needs: ['workflow:execute'],
  refuses: STARTING,
  input: schema.RunWorkflow,
  output: schema.QueuedExecution,
  success: 202,
  run: (ctx, input) => runs.runWorkflow(ctx, input),
});

export const draft = operation({
  id: 'workflows.draft',
  summary: 'Get the draft of a workflow',
  http: 'GET /admin/workflows/{id}/draft',
  kind: 'read',
  needs: ['workflow:read'],
  refuses: ['not_found'],
  input: schema.WorkflowRef,
  output: schema.WorkflowDraft,
  run: (ctx, input) => drafts.getDraft(ctx, input),
});

export const saveDraft = operation({
  id: 'workflows.save_draft',
  summary: 'Save the draft of a workflow',
  http: 'PUT /admin/workflows/{id}/draft',
  kind: 'change',
  needs: ['workflow:update'],
  refuses: ['not_found', 'conflict', ...WRITING],
  input: schema.SaveDraft,
  output: schema.WorkflowDraft,
  run: (ctx, input) => drafts.saveDraft(ctx, input),
});

export const publish = operation({
  id: 'workflows.publish',
  summary: 'Publish a workflow',
  http: 'POST /admin/workflows/{id}/publish',
  kind: 'change',
  needs: ['workflow:update'],
  refuses: ['not_found', 'conflict', 'invalid_definition', ...WRITING],
  input: schema.PublishWorkflow,
  output: schema.Workflow,
  run: (ctx, input) => drafts.publishWorkflow(ctx, input),
});

export const versions = operation({
  id: 'workflows.versions',
  summary: 'List the versions of a workflow',
  http: 'GET /admin/workflows/{id}/versions',
  kind: 'read',
  needs: ['workflow:read'],
  refuses: ['not_found'],
  input: schema.WorkflowVersions,
  output: z.array(schema.WorkflowVersion),
  list: 'paged',
  run: (ctx, input) => drafts.listVersions(ctx, input),
});

export const restore = operation({
  id: 'workflows.restore',
  summary: 'Restore a version of a workflow as its draft',
  http: 'POST /admin/workflows/{id}/versions/{n}/restore',
  kind: 'change',
  needs: ['workflow:update'],
  refuses: ['not_found', ...WRITING],
  input: schema.VersionRef,
  output: schema.WorkflowDraft,
  run: (ctx, input) => drafts.restoreVersion(ctx, input),
});

export const duplicate = operation({
  id: 'workflows.duplicate',
  summary: 'Duplicate a workflow',
  http: 'POST /admin/workflows/{id}/duplicate',
  kind: 'change',
  needs: ['workflow:create'],
  refuses: ['not_found', 'plan_limit', ...WRITING],
  input: schema.WorkflowRef,
  output: schema.Workflow,
  success: 201,
  run: (ctx, input) => copies.duplicateWorkflow(ctx, input),
});

const exported = operation({
  id: 'workflows.export',
  summary: 'Export a workflow',
  http: 'GET /admin/workflows/{id}/export',
  kind: 'read',
  needs: ['workflow:read'],
  refuses: ['not_found'],
  input: schema.WorkflowRef,
  output: schema.WorkflowExport,
  run: (ctx, input) => copies.exportWorkflow(ctx, input),
});

const imported = operation({
  id: 'workflows.import',
  summary: 'Import a workflow',
  http: 'POST /admin/workflows/import',
  kind: 'change',
  needs: ['workflow:create'],
  refuses: ['plan_limit', ...WRITING],
  input: schema.ImportWorkflow,
  output: schema.Workflow,
  success: 201,
  run: (ctx, input) => copies.importWorkflow(ctx, input),
});

export const browseExecutions = operation({
  id: 'workflows.browse_executions',
  summary: 'Browse the runs of all workflows',
  http: 'GET /admin/workflow-executions',
  kind: 'read',
  needs: ['workflow:read'],
  refuses: [],
  input: schema.BrowseExecutions,
  output: z.array(schema.BrowsedExecution),
  list: 'paged',
  run: (ctx, input) => runs.browseExecutions(ctx, input),
});

export const inspectExecution = operation({
  id: 'workflows.inspect_execution',
  summary: 'Get a run with the definition that ran',
  http: 'GET /admin/workflow-executions/{id}',
  kind: 'read',
  needs: ['workflow:read', 'workflow:read_execution_data'],
  refuses: ['not_found', 'tenant_sealed'],
  input: schema.ExecutionRef,
  output: schema.InspectedExecution,
  run: (ctx, input) => runs.inspectExecution(ctx, input),
});

export const usage = operation({
  id: 'workflows.usage',
  summary: 'Get the last seven days of each workflow',
  http: 'GET /admin/workflow-usage',
  kind: 'read',
  needs: ['workflow:list'],
  refuses: [],
  input: schema.WorkflowUsageQuery,
  output: z.array(schema.WorkflowUsage),
  list: 'whole',
  run: (ctx) => usageOfWorkflows(ctx),
});

export const operationsUsed = operation({
  id: 'workflows.operations',
  summary: 'Get the operations of this month',
  http: 'GET /admin/workflow-operations',
  kind: 'read',
  needs: ['workflow:list'],
  refuses: [],
  input: schema.WorkflowUsageQuery,
  output: schema.WorkflowOperations,
  run: (ctx) => operationsOfMonth(ctx),
});

export const webhookUrl = operation({
  id: 'workflows.webhook_url',
  summary: 'Reveal the webhook URL of a workflow',
  http: 'GET /admin/workflows/{id}/webhook-url',
  kind: 'reveal',
  needs: ['workflow:reveal_webhook_url'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: schema.WorkflowRef,
  output: schema.RevealedHook,
  reveal: revealOfHook,
  run: (ctx, input) => revealHook(ctx, input),
});

export const rotateWebhookUrl = operation({
  id: 'workflows.rotate_webhook_url',
  summary: 'Rotate the webhook URL of a workflow',
  http: 'POST /admin/workflows/{id}/webhook-url/rotate',
  kind: 'change',
  needs: ['workflow:update'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: schema.WorkflowRef,
  output: schema.RotatedHook,
  run: (ctx, input) => rotateHook(ctx, input),
});

const nodeTest = {
  id: 'workflows.test_node',
  summary: 'Test a step of a workflow',
  http: 'POST /admin/workflows/{id}/nodes/{node_id}/test',
  refuses: ['not_found', 'forbidden', 'role_denied', 'rate_limit_exceeded', 'tenant_sealed'],
  input: schema.TestNode,
  output: schema.TestedNode,
} as const;
const plainNodeTest = operation({
  ...nodeTest,
  kind: 'change',
  needs: ['workflow:update'],
  run: (ctx, input) => runNode(ctx, input, { credentialed: false }),
});
/** A step that sends no secret is an ordinary change; any other passes the gate of reveals. */
export const testNode = operation({
  ...nodeTest,
  kind: 'reveal',
  needs: ['workflow:test_credentialed'],
  reveal: revealOfNodeTest(plainNodeTest as AnyOperation),
  run: (ctx, input) => runNode(ctx, input, { credentialed: true }),
});

export { exported as export, imported as import, remove as delete };
