import { digest } from '#server/crypto/tokens.ts';
import { isoInstant } from '../core/iso-instant.ts';
import type { CallFacts } from '../governance/log/row.ts';
import { recordCall } from '../governance/log/writer.ts';
import type { McpCall } from './mcp-call.ts';

/** The row of a finished call in the log of the AI planes, and what it costs (interface rule 52 §11). Failed authentications are in the audit log instead. */
export function record(call: McpCall): void {
  const { state } = call;
  const { principal, method, target, server } = state;
  if (!principal || method === null) return;
  const subject = target ?? server;
  void recordCall({
    facts: {
      tenant_id: call.snapshot.tenant.id,
      sandbox: call.snapshot.sandbox,
      request_id: call.requestId,
      ts: isoInstant(call.receivedAt),
      plane: 'mcp',
      status: state.outcome ?? outcomeOf(call),
      origin: call.origin,
      gateway_id: (subject?.gatewayId ?? principal.token.gatewayId) || null,
      agent_id: principal.token.agentId,
      mcp_server_id: subject?.id ?? null,
      // Access tokens are in no list of capability tokens.
      token_id: state.person === null ? principal.token.id : null,
      user: principal.user?.externalId ?? null,
      team: principal.user?.team ?? null,
      // The id itself opens the session.
      session_id: state.sessionId === null ? null : digest(state.sessionId).toString('hex').slice(0, 32),
      tags: principal.token.scope.tags ?? {},
      operation: `mcp.${method.slice(0, 64)}`,
      shape: state.version === '' ? state.era : state.version,
      tool: state.tool,
      provider: 'mcp',
      attempts: call.attempts,
      stream: call.phase === 'first-byte',
      http_status: call.status || null,
      code: call.error,
      upstream_status: call.upstreamStatus || null,
      latency_ms: Math.round(performance.now() - call.began),
      upstream_ms: call.upstreamMs < 0 ? null : call.upstreamMs,
      firewall: state.firewall,
      pii: state.pii,
      guardrail: state.guardrail,
      warnings: state.warnings,
      ip: call.sourceAddress || null,
      user_agent: call.userAgent,
      request_bytes: call.requestBytes,
      response_bytes: call.responseBytes,
    },
    charges: state.charges,
    notesUser:
      call.snapshot.ai.gatewaysById.get(subject?.gatewayId ?? principal.token.gatewayId)?.user_attribution !== 'off' &&
      outcomeOf(call) !== 'refused',
    subjects: state.subjects,
    reserved: state.reserved,
  }).then(() => call.res.letEnd('spend'));
}

function outcomeOf({ error, status }: McpCall): CallFacts['status'] {
  if (error === 'client_closed' || error === 'canceled' || status === 0) return 'client_closed';
  if (error === null || error === 'tool_error') return 'ok';
  return error.startsWith('upstream_') || error === 'result_too_large' ? 'upstream_error' : 'refused';
}
