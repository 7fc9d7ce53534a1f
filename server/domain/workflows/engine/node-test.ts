import { allOf, authorityOf } from '#server/domain/authorities/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { notFound } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { configOf, type Definition, isRecord } from '../definition.shared.ts';
import { newMeter } from '../expressions/meter.shared.ts';
import { runNode } from '../nodes/kinds.ts';
import { faultOf, type NodeCall, type NodeResult, textOf } from '../nodes/node-call.ts';
import { isOver, OVER } from './json-size.ts';
import { kept } from './values.ts';

export type NodeTest = {
  workflow: { id: string; environment: string | null };
  definition: Definition;
  node_id: string;
  /** What the node before it gave. */
  input?: unknown;
  /** Outputs of other nodes by their id, for references. */
  context?: Record<string, unknown>;
  /** Where email and sms go instead of to their recipients: the tester's own verified ones. */
  own: { email: string | null; phone: string | null };
};

export type NodeTestResult = {
  status: 'succeeded' | 'failed';
  output: unknown;
  duration_ms: number;
  error: { code: string; message: string } | null;
  /** What was sent, secrets masked; null for nodes that send nothing. */
  request: { method: string; url: string; headers: Record<string, string>; body: string | null } | null;
};

const PATIENCE_MS = 60_000;

/** Runs one node outside of any execution, with real effects. Nothing is stored. @throws Refusal not_found when there is no such node */
export async function testNode(
  ctx: Ctx,
  { workflow, definition, node_id, input = null, context = {}, own }: NodeTest,
): Promise<NodeTestResult> {
  const node = definition.nodes.find(({ id }) => id === node_id);
  if (!node) throw notFound();
  const outputs = new Map(Object.entries(context).map(([id, output]) => [id === 'trigger' ? 'trigger-node' : id, output]));
  const call: NodeCall = {
    place: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox },
    execution: { id: null, workflow_id: workflow.id, chain: [] },
    authorities: allOf(authorityOf(ctx)),
    plan: ctx.plan,
    ...{ environment: workflow.environment, node, config: configOf(node), input, own },
    scope: (id) => outputs.get(id),
    meter: newMeter(),
    runId: newId(),
    attempt: 1,
    idempotencyKey: `wf_test_${newId()}_${node.id}_0`,
    now: ctx.now,
    signal: AbortSignal.timeout(PATIENCE_MS),
  };
  const began = performance.now();
  const result = await resultOf(call);
  const duration_ms = Math.round(performance.now() - began);
  // Cut as the output of a run would be.
  const request = 'input' in result ? requestOf(kept(result.input).value) : null;
  if (result.status === 'failed') return { status: 'failed', output: kept(result.output).value, duration_ms, error: result.fault, request };
  const { value: output, size } = kept(result.status === 'looping' ? { items: result.items } : result.output);
  if (isOver(size)) return { status: 'failed', output, duration_ms, error: { code: 'state_too_large', message: OVER }, request };
  return { status: 'succeeded', output, duration_ms, error: null, request };
}

async function resultOf(call: NodeCall): Promise<NodeResult> {
  try {
    return (await runNode(call)) ?? { status: 'succeeded', output: call.input, handles: [] };
  } catch (error) {
    const fault =
      faultOf(error) ?? (call.signal.aborted ? ({ code: 'timeout', message: 'The node took longer than a minute.' } as const) : null);
    if (!fault) throw error;
    return { status: 'failed', fault };
  }
}

function requestOf(input: unknown): NodeTestResult['request'] {
  if (!isRecord(input) || typeof input.url !== 'string') return null;
  const { method, url, headers, body } = input;
  return {
    method: textOf(method),
    url,
    headers: isRecord(headers) ? (headers as Record<string, string>) : {},
    body: body === undefined ? null : textOf(body),
  };
}
