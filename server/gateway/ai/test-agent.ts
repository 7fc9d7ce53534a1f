import { request } from 'node:http';
import { parsedJson } from '#server/ai/json.ts';
import { errorMessage } from '#server/ai/providers/serve.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { inputTokens, outputTokens, sumOf } from '#server/ai/usage/usage.ts';
import { randomBase62 } from '#server/crypto/random.ts';
import { AgentTestOrder, type AgentTestReport } from '#server/domain/ai-gateways/agent-test.schema.ts';
import { type Call, newCall } from '../core/call.ts';
import type { GatewayResponse } from '../core/gateway-response.ts';
import { enterWorkspace } from '../core/limits.ts';
import { inspectHead } from '../core/listener.ts';
import type { Order } from '../core/orders.ts';
import { Pipeline } from '../core/pipeline.ts';
import { definePlane } from '../core/plane.ts';
import type { Runtime } from '../core/runtime.ts';
import { asAiRefusal } from '../governance/envelope.ts';
import { usd } from '../governance/ledger/verdict.ts';
import { type AiCall, newAiState } from './ai-call.ts';
import { inspect } from './phases/inspect.ts';
import { aiPhases, aiPlaneHooks } from './plane.ts';

/** Identifies a test inside this process. Headers that start with x-svc- never leave it. */
const TEST_HEADER = 'x-svc-agent-test';
const MOST_OUTPUT = 16;

type Waiting = { order: AgentTestOrder; call: AiCall | null };

/**
 * Tests of agents from the dashboard (interface rule 50 §5.7): a real request through the real phases, with a principal that stands for no token. It is charged
 * to the agent.
 */
export function agentTests(runtime: Runtime, baseHost: string): Order {
  const waiting = new Map<string, Waiting>();
  const { authenticate: _, limit: __, inspect: ___, ...phases } = aiPhases;
  const byCall = new WeakMap<Call, AgentTestOrder>();
  const plane = definePlane({
    ...aiPlaneHooks,
    phases: {
      inspect,
      authenticate: (call: AiCall) => stand(call, byCall.get(call as Call)),
      limit: (call: AiCall) => {
        const crowded = enterWorkspace(call, runtime);
        return crowded && asAiRefusal(crowded);
      },
      ...phases,
    },
  });
  const pipeline = new Pipeline(plane, runtime);
  return {
    async take(order: unknown, socketPath: string) {
      const parsed = AgentTestOrder.safeParse(order);
      if (!parsed.success) return { status: 400, body: {} };
      const { data } = parsed;
      // Includes what the person saved a moment ago, on whichever node.
      await runtime.snapshots.refresh(data.tenant_id);
      const entry = runtime.snapshots.byId(data.tenant_id);
      const agent = (data.space === 'test' ? entry?.test : entry?.live)?.ai.agentsById.get(data.agent_id);
      if (!entry || !agent) return { status: 404, body: {} };
      const nonce = randomBase62(32);
      const test: Waiting = { order: data, call: null };
      waiting.set(nonce, test);
      try {
        const host = `${data.space === 'test' ? 'sandbox-' : ''}${entry.row.slug}.${baseHost}`;
        const sent = { ...(data.model === undefined ? {} : { model: data.model }), messages: [{ role: 'user', content: data.message }] };
        const received = await send(socketPath, `/v1/ai/${agent.slug}/v1/chat/completions`, host, nonce, JSON.stringify(sent));
        return { status: 200, body: reportOf(test.call, plane.phaseNames, received) };
      } finally {
        waiting.delete(nonce);
      }
    },
    serves(req, res: GatewayResponse) {
      const nonce = req.headers[TEST_HEADER];
      const found = typeof nonce === 'string' ? waiting.get(nonce) : undefined;
      if (!found) return false;
      const { order } = found;
      const entry = runtime.snapshots.byId(order.tenant_id);
      const head = inspectHead(req);
      if (!entry || !head.ok) {
        res.writeHead(400).end();
        return true;
      }
      const [snapshot, otherSpace] = order.space === 'test' ? [entry.test, entry.live] : [entry.live, entry.test];
      const { target, host } = head;
      const { request_id: requestId, source_address: sourceAddress } = order;
      const call = newCall({
        planeName: 'ai',
        state: newAiState(),
        req,
        res,
        requestId,
        snapshot,
        otherSpace,
        target,
        sourceAddress,
        host,
      });
      found.call = call;
      byCall.set(call as Call, order);
      pipeline.serve(call as Call);
      return true;
    },
  };
}

/** The principal of a test: it may what the agent may, and asks for little. */
function stand(call: AiCall, order: AgentTestOrder | undefined) {
  const { ai, tenant, space } = call.snapshot;
  const agent = order && ai.agentsById.get(order.agent_id);
  if (!order || !agent) return asAiRefusal({ code: 'missing_auth', message: 'The test has no agent.' });
  call.admitted = true;
  call.state.principal = {
    tenantId: tenant.id,
    space,
    token: {
      id: order.request_id,
      name: null,
      kind: 'agent',
      prefix: '',
      scope: { max_tokens_per_call: MOST_OUTPUT, operations: ['chat'] },
      gatewayId: agent.gateway_id,
      agentId: agent.id,
      expiresAt: Number.POSITIVE_INFINITY,
      createdBy: null,
      subjects: order.callers,
      origin: 'test',
      window: null,
      allows: null,
    },
    gateway: ai.gatewaysById.get(agent.gateway_id) ?? null,
    agent,
    user: null,
  };
  return undefined;
}

type Received = { status: number; body: string } | null;

function send(socketPath: string, path: string, host: string, nonce: string, body: string): Promise<Received> {
  return new Promise((resolve) => {
    const headers = {
      host,
      [TEST_HEADER]: nonce,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const req = request({ socketPath, agent: false, method: 'POST', path, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', () => resolve(null));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    req.on('error', () => resolve(null));
    req.end(body);
  });
}

const SHOWN = 1_000;

function reportOf(call: AiCall | null, names: readonly string[], received: Received): AgentTestReport {
  const status = received?.status ?? 0;
  const ok = status >= 200 && status < 300;
  const charges = call?.state.charges ?? [];
  const used = charges.length === 0 ? null : charges.map(({ usage }) => usage).reduce(sumOf);
  const priced = charges.length > 0 && charges.every(({ nano }) => nano !== null);
  const parsed = parsedJson(received?.body ?? '');
  const fromProvider = !ok && call?.origin === 'upstream';
  return {
    ok,
    status,
    code: call?.refusal?.code ?? null,
    model: call?.state.model?.final ?? null,
    provider: call?.state.provider || call?.state.agent?.provider || null,
    latency_ms: Math.max(0, call?.latencyMs ?? 0),
    usage: used && { input_tokens: inputTokens(used), output_tokens: outputTokens(used) },
    cost_usd: priced ? usd(charges.reduce((sum, { nano }) => sum + (nano ?? 0n), 0n)) : null,
    stages: stagesOf(call, names, ok),
    upstream_error: fromProvider
      ? (errorMessage(parsed) ?? 'The provider answered with an error.').slice(0, SHOWN)
      : (call?.errorDetail ?? null),
    answer: ok ? (adapterOf('openai-chat')?.answerText(parsed) ?? '').slice(0, SHOWN) : null,
  };
}

/** Each phase that the call came through, the one that ended it, and those that it never reached. */
function stagesOf(call: AiCall | null, names: readonly string[], ok: boolean): AgentTestReport['stages'] {
  const came = call?.phaseTimings.length ?? 0;
  return names.map((name, i) => {
    if (i >= came) return { name, outcome: 'skipped' };
    const ended = i === came - 1 && !ok;
    if (ended) return { name, outcome: 'refused', ...(call?.refusal ? { code: call.refusal.code, detail: call.refusal.message } : {}) };
    const warned = name === 'control' && (call?.state.warnings.length ?? 0) > 0;
    return warned ? { name, outcome: 'warn', detail: call?.state.warnings.join(', ') ?? '' } : { name, outcome: 'ok' };
  });
}
