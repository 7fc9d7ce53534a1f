import { z } from 'zod';
import { atLeastOne, Deleted, flag, isoTime, label, pathId, queryInt, text, time, uuid } from '#server/kernel/fields.ts';
import { listQuery, pageQuery } from '#server/kernel/page.ts';
import {
  type Definition,
  EXECUTION_STATUSES,
  EXECUTION_TRIGGERS,
  hardProblem,
  isRecord,
  NODE_STATUSES,
  TRIGGER_TYPES,
} from './definition.shared.ts';

// The wire of interface rule 62 §2 and §6. A definition is any JSON that passes the hard checks; whether it may be live is judged by the service.

const MOST_INPUT = 256 * 1024;

/** A JSON object as it was given: every name is a member, and numbers keep their digits. */
const anyObject = () =>
  z
    .unknown()
    .refine(isRecord, 'must be an object')
    .transform((given) => given as Record<string, unknown>)
    .meta({ type: 'object', additionalProperties: true });
const definition = () =>
  z
    .unknown()
    .refine(isRecord, 'must be an object')
    .superRefine((given, check) => {
      const problem = isRecord(given) ? hardProblem(given) : null;
      if (problem) check.addIssue({ code: 'custom', message: `${problem.path === '' ? '' : `${problem.path} `}${problem.message}` });
    })
    .transform((given) => given as Definition & Record<string, unknown>)
    .meta({ type: 'object', additionalProperties: true });
const shownObject = () => z.custom<Record<string, unknown>>(isRecord).meta({ type: 'object', additionalProperties: true });
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value) ?? '').length;
const input = () => z.unknown().refine((given) => given === undefined || bytesOf(given) <= MOST_INPUT, 'must be at most 256 KiB');

const fields = {
  name: label(200),
  definition: definition(),
  description: text(1_000),
  trigger_config: anyObject(),
  environment: z.string().min(1).max(63).nullable(),
  enabled: z.boolean(),
  timeout_seconds: z.int().min(1).max(3_600).nullable(),
};
const { name, definition: shape, ...others } = fields;

export const CreateWorkflow = z.object({ name, definition: shape, ...z.object(others).partial().shape });
export const UpdateWorkflow = atLeastOne(z.object({ id: pathId(), ...z.object(fields).partial().shape }));
export const WorkflowRef = z.object({ id: pathId() });
export const ValidateWorkflow = z.object({ definition: shape });
export const ListWorkflows = listQuery({
  sorts: ['created_at', 'updated_at', 'name'],
  sort: 'created_at',
  order: 'desc',
  filters: {
    q: z.string().max(100).optional(),
    enabled: flag().optional(),
    trigger_type: z.enum(TRIGGER_TYPES).optional(),
  },
});

const count = () =>
  z
    .union([z.bigint().transform(Number), z.number()])
    .pipe(z.number())
    .meta({ type: 'integer' });

export const Workflow = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    definition: shownObject(),
    environment: z.string().nullable(),
    enabled: z.boolean(),
    disabled_reason: z.enum(['manual', 'runaway', 'invalid_definition']).nullable(),
    trigger_type: z.enum(TRIGGER_TYPES).nullable(),
    version: z.int(),
    sandbox: z.boolean(),
    timeout_seconds: z.int().nullable(),
    published_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'Workflow' });
/** Null: left out, for the page has too many bytes already. */
const listedDefinition = () => shownObject().nullable();
export const ListedWorkflow = Workflow.extend({ definition: listedDefinition(), run_count: count() }).meta({ id: 'ListedWorkflow' });
export const DeletedWorkflow = Deleted.extend({ id: z.uuid() }).meta({ id: 'DeletedWorkflow' });

export const Problems = z
  .object({
    valid: z.boolean(),
    problems: z.object({ node_id: z.string().nullable(), severity: z.enum(['error', 'warning']), message: z.string() }).array(),
  })
  .meta({ id: 'WorkflowProblems' });

export const ExecuteWorkflow = z.object({ id: pathId(), input: input().optional() });
export const QueuedExecution = z
  .object({ id: z.uuid(), workflow_id: z.uuid(), status: z.literal('queued') })
  .meta({ id: 'QueuedWorkflowExecution' });

const spanOf = {
  status: z.enum(EXECUTION_STATUSES).optional(),
  trigger_type: z.enum(EXECUTION_TRIGGERS).optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
};
export const ListExecutions = z.object({ id: pathId(), ...pageQuery, ...spanOf });
export const BrowseExecutions = z.object({ ...pageQuery, workflow_id: uuid().optional(), ...spanOf });

export const Execution = z
  .object({
    id: z.uuid(),
    workflow_id: z.uuid(),
    status: z.enum(EXECUTION_STATUSES),
    trigger_type: z.enum(EXECUTION_TRIGGERS),
    triggered_by: z.object({ type: z.string(), id: z.string().nullable(), label: z.string() }),
    started_at: time().nullable(),
    completed_at: time().nullable(),
    execution_time_ms: z.int().nullable(),
    operations: z.int(),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    workflow_version: z.int().nullable(),
    retry_of: z.uuid().nullable(),
    sandbox: z.boolean(),
    created_at: time(),
  })
  .meta({ id: 'WorkflowExecution' });
export const NodeExecution = z
  .object({
    id: z.uuid(),
    node_id: z.string(),
    node_name: z.string(),
    node_type: z.string(),
    status: z.enum(NODE_STATUSES),
    attempt: z.int(),
    iteration: z.int().nullable(),
    /** The iterations it is in, outermost first, as `outer:2/inner:0`; empty outside of loops. */
    path: z.string(),
    handles: z.string().array(),
    started_at: time().nullable(),
    completed_at: time().nullable(),
    duration_ms: z.int().nullable(),
    input: z.unknown(),
    output: z.unknown(),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    truncated: z.boolean(),
  })
  .meta({ id: 'WorkflowNodeExecution' });
export const ExecutionDetail = Execution.extend({ node_executions: NodeExecution.array() }).meta({ id: 'WorkflowExecutionDetail' });
export const BrowsedExecution = Execution.extend({ workflow_name: z.string() }).meta({ id: 'BrowsedWorkflowExecution' });
/** A run as its page shows it: with the definition that ran. */
export const InspectedExecution = ExecutionDetail.extend({
  workflow_name: z.string(),
  definition: shownObject(),
  chain: z.uuid().array(),
}).meta({ id: 'InspectedWorkflowExecution' });
export const ExecutionRef = z.object({ id: pathId() });
export const EndedExecution = z
  .object({ id: z.uuid(), status: z.enum(['cancelled', 'cancelling']) })
  .meta({ id: 'CancelledWorkflowExecution' });
export const RetryExecution = z.object({ id: pathId(), from: z.enum(['start', 'failed_node']).default('failed_node') });
export const RetriedExecution = QueuedExecution.extend({ retry_of: z.uuid() }).meta({ id: 'RetriedWorkflowExecution' });

/** A version a person picked: the saved draft, or a number. */
const versionNumber = () => queryInt(1, 1_000_000_000);
export const RunWorkflow = z.object({
  id: pathId(),
  input: input().optional(),
  version: z.union([z.literal('draft'), versionNumber()]).optional(),
});
export const SaveDraft = z.object({ id: pathId(), definition: shape, base_version: z.int().min(0) });
const Person = z.object({ id: z.uuid(), name: z.string() }).nullable();
/** What the editor opens: the draft, or the live definition when there is none. `base_version` goes back with the next save. */
export const WorkflowDraft = z
  .object({
    definition: shownObject(),
    base_version: z.int(),
    version: z.int(),
    is_draft: z.boolean(),
    saved_by: Person,
    saved_at: time().nullable(),
    ...Problems.shape,
  })
  .meta({ id: 'WorkflowDraft' });
export const PublishWorkflow = z.object({ id: pathId(), base_version: z.int().min(0).optional(), note: text(500).optional() });
export const WorkflowVersions = z.object({ id: pathId(), ...pageQuery });
export const WorkflowVersion = z
  .object({
    version: z.int(),
    definition: listedDefinition(),
    note: z.string().nullable(),
    created_by: Person,
    created_at: time(),
    live: z.boolean(),
  })
  .meta({ id: 'WorkflowVersion' });
export const VersionRef = z.object({ id: pathId(), n: pathId() });

/** What leaves with an export: names of secrets, never their values. */
export const WorkflowExport = z
  .object({
    kind: z.literal('workflow'),
    name: z.string(),
    description: z.string().nullable(),
    environment: z.string().nullable(),
    timeout_seconds: z.int().nullable(),
    definition: shownObject(),
    secrets: z.string().array(),
  })
  .meta({ id: 'WorkflowExport' });
export const ImportWorkflow = z.object({
  name: name.optional(),
  /** A secret that the definition names, and the name to use instead. */
  secrets: z.record(z.string().max(128), z.string().min(1).max(128)).optional(),
  workflow: z.object({
    name: z.string(),
    description: text(1_000).optional(),
    environment: z.string().max(63).nullable().optional(),
    timeout_seconds: fields.timeout_seconds.optional(),
    definition: shape,
  }),
});

export const RevealedHook = z.object({ url: z.string(), method: z.string() }).meta({ id: 'WorkflowWebhookUrl' });
export const RotatedHook = z.object({ id: z.uuid(), rotated_at: time() }).meta({ id: 'RotatedWorkflowWebhookUrl' });

export const TestNode = z.object({
  id: pathId(),
  node_id: pathId(),
  input: input().optional(),
  context: anyObject().optional(),
  useLastRun: z.boolean().optional(),
});
export const TestedNode = z
  .object({
    status: z.enum(['succeeded', 'failed']),
    output: z.unknown(),
    duration_ms: z.int(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    request: z
      .object({ method: z.string(), url: z.string(), headers: z.record(z.string(), z.string()), body: z.string().nullable() })
      .nullable(),
  })
  .meta({ id: 'TestedWorkflowNode' });

export const WorkflowUsageQuery = z.object({});
/** The last run and the last seven days of each workflow, for the list of the dashboard. */
export const WorkflowUsage = z
  .object({
    id: z.uuid(),
    last_status: z.enum(EXECUTION_STATUSES).nullable(),
    last_execution_id: z.uuid().nullable(),
    last_at: time().nullable(),
    days: z.object({ day: z.string(), completed: z.int(), failed: z.int() }).array(),
    dropped: count(),
    created_by: Person,
  })
  .meta({ id: 'WorkflowUsage' });
export const WorkflowOperations = z
  .object({ used: z.int(), limit: z.int().nullable(), forecast: z.int(), period_start: time(), period_end: time() })
  .meta({ id: 'WorkflowOperations' });
