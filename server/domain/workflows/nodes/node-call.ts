import { digest } from '#server/crypto/tokens.ts';
import type { Authority } from '#server/domain/authorities/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { isExact } from '#server/kernel/lossless-json.ts';
import type { Pace } from '#server/platform/http-out/request-out.ts';
import type { ExecutionError, WorkflowNode } from '../definition.shared.ts';
import { asText } from '../expressions/filters.shared.ts';
import { type Meter, TooLarge } from '../expressions/meter.shared.ts';
import { type Scope, SyntaxProblem } from '../expressions/reference.shared.ts';
import { evaluateValue, Unresolved } from '../expressions/template.shared.ts';

/** One run of a node, as its type sees it. */
export type NodeCall = {
  place: { tenant_id: string; sandbox: boolean };
  /** The run it belongs to; null for the test of a single node. */
  execution: { id: string; workflow_id: string; chain: readonly string[] } | { id: null; workflow_id: string; chain: readonly string[] };
  /** All of whom must be allowed to call a route that it calls. */
  authorities: readonly Authority[];
  plan: Ctx['plan'];
  /** The workflow's environment; null for the default one. */
  environment: string | null;
  /** The row of this run; another one for each test of a node. */
  runId: string;
  node: WorkflowNode;
  config: Record<string, unknown>;
  /** What flows into it. */
  input: unknown;
  scope: Scope;
  /** What the evaluation of all its texts may take. */
  meter: Meter;
  /** 1 for the first. */
  attempt: number;
  /** The same for every attempt, so that a receiver can recognise a repetition. */
  idempotencyKey: string;
  now: Date;
  signal: AbortSignal;
  /** Counts what a request has in flight, beside its body of so many bytes; undefined where nothing is counted. */
  pace?: ((sent: number) => Pace) | undefined;
  /** In the test of a single node, messages go to whoever tests. */
  own?: { email: string | null; phone: string | null };
};

export type NodeFault = { code: ExecutionError; message: string };
export type RetryReason = 'timeout' | 'network' | '5xx' | '429';

export type NodeResult =
  /** `input` is what is shown of what went in, without secrets; absent: what flowed in. */
  | { status: 'succeeded'; output: unknown; handles: string[]; input?: unknown; truncated?: boolean }
  /** `retry`: why trying again may help. */
  | {
      status: 'failed';
      fault: NodeFault;
      output?: unknown;
      input?: unknown;
      truncated?: boolean;
      retry?: { reason: RetryReason; afterMs: number };
    }
  | { status: 'waiting'; until: Date; input?: unknown; output: unknown }
  | { status: 'looping'; items: unknown[]; input: unknown };

export type NodeKind = (call: NodeCall) => NodeResult | Promise<NodeResult>;

export const hash = (text: string): string => digest(text).toString('hex');

/** The value of a template. @throws Unresolved, TooLarge, SyntaxProblem: `faultOf` says what they mean */
export const evaluated = ({ scope, meter }: NodeCall, value: unknown, strict = false): unknown =>
  evaluateValue(value, { scope, hash, meter, strict });

/** The same written as text, which is charged too. @throws Unresolved, TooLarge, SyntaxProblem */
export const evaluatedText = (call: NodeCall, value: unknown, strict = false): string => asText(evaluated(call, value, strict), call.meter);

export const succeeded = (
  output: unknown,
  handles: string[] = ['out'],
  more: { input?: unknown; truncated?: boolean } = {},
): NodeResult => ({
  ...{ status: 'succeeded', output, handles },
  ...more,
});
export const failed = (
  code: ExecutionError,
  message: string,
  more: Omit<Extract<NodeResult, { status: 'failed' }>, 'status' | 'fault'> = {},
): NodeResult => ({
  ...{ status: 'failed', fault: { code, message } },
  ...more,
});

/** Says why a config can't be used with these values. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

/** What the errors of expressions and configs mean; null for faults of ours. */
export function faultOf(error: unknown): NodeFault | null {
  if (error instanceof Unresolved) return { code: 'unresolved_reference', message: error.message };
  if (error instanceof TooLarge) return { code: 'state_too_large', message: error.message };
  if (error instanceof SyntaxProblem || error instanceof InvalidConfig) return { code: 'invalid_config', message: error.message };
  return null;
}

export const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'string'
      ? value
      : typeof value === 'object' && !isExact(value)
        ? JSON.stringify(value)
        : String(value);
