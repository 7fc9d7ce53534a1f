import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import type { ExecutionStatus, ExecutionTrigger } from '#server/domain/workflows/definition.shared.ts';
import type {
  BrowsedExecution,
  Execution,
  InspectedExecution,
  ListedWorkflow,
  NodeExecution,
  TestedNode,
  Workflow,
  WorkflowDraft,
  WorkflowUsage,
  WorkflowVersion,
} from '#server/domain/workflows/schema.ts';

export type Detail = z.output<typeof Workflow>;
export type Listed = z.output<typeof ListedWorkflow>;
export type Usage = z.output<typeof WorkflowUsage>;
export type Draft = z.output<typeof WorkflowDraft>;
export type Version = z.output<typeof WorkflowVersion>;
export type Run = z.output<typeof Execution>;
export type BrowsedRun = z.output<typeof BrowsedExecution>;
/** A value of any kind, or none: JSON leaves out what is undefined. */
export type StepRun = Omit<z.output<typeof NodeExecution>, 'input' | 'output'> & { input?: unknown; output?: unknown };
export type RunDetail = Omit<z.output<typeof InspectedExecution>, 'node_executions'> & { node_executions: StepRun[] };
export type Tested = Omit<z.output<typeof TestedNode>, 'output'> & { output?: unknown };

/** Whether triggers start a workflow now. */
export function stateOf({ enabled, disabled_reason, published_at }: Pick<Detail, 'enabled' | 'disabled_reason' | 'published_at'>): {
  state: State;
  label: string;
} {
  if (enabled) return { state: 'ok', label: 'Enabled' };
  if (disabled_reason === 'runaway') return { state: 'blocked', label: 'Disabled: more than 600 runs a minute' };
  if (disabled_reason === 'invalid_definition' && published_at !== null)
    return { state: 'blocked', label: 'Disabled: unreadable schedule' };
  if (disabled_reason === 'invalid_definition') return { state: 'off', label: 'Draft: not publishable' };
  return published_at === null ? { state: 'off', label: 'Draft' } : { state: 'off', label: 'Disabled' };
}

export const RUN_STATES: Record<ExecutionStatus, { state: State; label: string }> = {
  queued: { state: 'pending', label: 'Queued' },
  running: { state: 'live', label: 'Running' },
  waiting: { state: 'pending', label: 'Waiting' },
  cancelling: { state: 'pending', label: 'Canceling' },
  completed: { state: 'ok', label: 'Completed' },
  failed: { state: 'failing', label: 'Failed' },
  cancelled: { state: 'blocked', label: 'Canceled' },
};

export const STARTED_BY: Record<ExecutionTrigger, string> = {
  manual: 'By hand',
  api: 'API',
  webhook: 'Webhook',
  schedule: 'Schedule',
  proxy_event: 'Call',
  retry: 'Retry',
  test: 'Draft run',
};

/** A span of time, short: "340 ms", "2.4 s", "3 min 5 s". */
export function tookText(ms: number | null): string {
  if (ms === null) return '—';
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const PROBLEMS: Record<string, string> = {
  unresolved_reference: 'A value that the step needs was not there. Check the reference, or give it a default.',
  http_status: 'The receiver answered with an error status.',
  timeout: 'There was no answer in time.',
  network: 'The receiver could not be reached.',
  blocked_address: 'The URL leads to an address that workflows must not reach.',
  secret_unresolved: 'A secret that the step names does not exist, or has no value here.',
  secret_forbidden: 'Who saved this workflow may not use a secret that it names.',
  route_forbidden: 'The people or credentials behind this run may not call the route any more.',
  invalid_config: 'The step is not set up completely.',
  loop_limit: 'The loop has more items than it may run.',
  state_too_large: 'The run is over a limit on the size of its values or on its work. Make them smaller, or split the step.',
  recursion_blocked: 'The workflow would have started itself again.',
  operations_quota_exceeded: 'The operations of this month are used up.',
  execution_timeout: 'The run took longer than it may.',
  cancelled: 'The run was canceled.',
  worker_lost: 'The process that ran it was lost three times.',
  plan_feature: 'The plan does not include this.',
};

/** Why something failed, in words. */
export const failureOf = (code: string | null): string => (code ? (PROBLEMS[code] ?? 'The step failed.') : 'The step failed.');
