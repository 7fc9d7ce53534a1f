import { costNano } from '#server/ai/prices/cost.ts';
import { inputTokens, outputTokens, type Usage } from '#server/ai/usage/usage.ts';
import { log } from '#server/platform/log.ts';
import { isoInstant } from '../../core/iso-instant.ts';
import { countTokens, leaveAgent } from '../../governance/limits.ts';
import { recordCall } from '../../governance/log/writer.ts';
import { type AiCall, modelOf } from '../ai-call.ts';
import { mostOutput, noteUnpricedUse, payersOf, priceOf } from './budget.ts';
import { dearerTier, imagesOf, requestedTier } from './sent.ts';
import { tagsOf } from './tags.ts';

/** What one attempt used, at the price of the call's start. */
export function charge(call: AiCall, provider: string, model: string, usage: Usage): void {
  const known = priceOf(call, provider, model);
  usage = { ...usage, tier: usage.tier ?? dearerTier(requestedTier(call, provider, model)) };
  const makes = imagesOf(call);
  // The answer says what it made, and the request says the rest.
  if (makes && usage.images > 0) usage = { ...usage, image: { ...makes.kind, ...usage.image }, images_sent: makes.sent };
  // It goes on at the provider after this answer, and what it will have used may never be asked for: until then it is charged with what was reserved.
  call.state.background = call.state.body?.background === true && usage.source === 'estimated' && call.upstreamStatus < 300;
  if (call.state.background) usage = { ...usage, output_text: Math.max(usage.output_text, mostOutput(call, known)) };
  const nano = known === null || noteUnpricedUse(call, known, usage) ? null : costNano(usage, known);
  call.state.charges.push({ provider, model: storable(model), usage, nano });
}

/**
 * Step 18, once a call, however it ended: its places are given back, its reservation is settled, and its row is written. The answer ends after that, so that
 * the caller's next call finds places and budgets as this one left them. Never throws.
 */
export function settle(call: AiCall): void {
  leaveAgent(call);
  void recorded(call)
    .catch((error: unknown) => log.error({ err: error, request_id: call.requestId }, 'failed to log a call'))
    .then(() => call.res.letEnd('spend'));
}

async function recorded(call: AiCall): Promise<void> {
  const { state } = call;
  const { principal, agent, gateway, detected, model } = state;
  const answered = modelOf(state);
  // A failed authentication is in the audit log, and nowhere else.
  if (principal === null) return;
  const used = state.charges.reduce((sum, { usage }) => sum + inputTokens(usage) + outputTokens(usage), 0);
  if (agent?.rate_limit_tpm != null) countTokens(agent.id, Math.max(0, used), call.receivedAt);
  const known = detected !== null && !('refuse' in detected) ? detected : null;
  await recordCall({
    subjects: payersOf(call),
    reserved: state.reserved,
    countedIn: state.countedIn,
    charges: state.charges,
    // Whom a refused call names may be anybody: nothing vouched for it yet.
    notesUser: gateway !== null && gateway.user_attribution !== 'off' && statusOf(call) !== 'refused',
    facts: {
      tenant_id: call.snapshot.tenant.id,
      sandbox: call.snapshot.sandbox,
      request_id: call.requestId,
      ts: isoInstant(call.receivedAt),
      plane: 'ai',
      gateway_id: gateway?.id ?? principal.token.gatewayId,
      agent_id: agent?.id ?? principal.token.agentId,
      token_id: principal.token.origin === 'test' ? null : principal.token.id,
      user: principal.user?.externalId ?? null,
      team: principal.user?.team ?? null,
      session_id: state.sessionId,
      tags: tagsOf(call),
      operation: known?.operation ?? null,
      shape: known?.shape ?? null,
      provider: state.provider || (agent?.provider ?? null),
      requested_model: model === null ? null : storable(model.requested),
      final_model: answered === null ? null : storable(answered),
      route_id: state.route?.id ?? null,
      attempts: call.attempts,
      fallback: state.fallback,
      stream: state.stream,
      status: statusOf(call),
      origin: call.origin,
      http_status: call.status === 0 ? null : call.status,
      code: call.error ?? state.cause,
      upstream_status: call.upstreamStatus || null,
      latency_ms: call.latencyMs < 0 ? Math.round(performance.now() - call.began) : call.latencyMs,
      upstream_ms: call.upstreamMs < 0 ? null : call.upstreamMs,
      first_byte_ms: state.firstByteMs,
      cache: state.cache,
      ...state.controls?.report(),
      warnings: state.warnings,
      ip: call.sourceAddress || null,
      user_agent: call.userAgent,
      request_bytes: call.requestBytes,
      response_bytes: call.responseBytes,
    },
  });
}

function statusOf({
  error,
  status,
  state,
  upstreamStatus,
}: AiCall): 'ok' | 'refused' | 'upstream_error' | 'stream_failed' | 'client_closed' {
  if (state.outcome !== null) return state.outcome;
  if (error === 'client_closed') return 'client_closed';
  if (error?.startsWith('upstream_') || upstreamStatus >= 400) return 'upstream_error';
  return error !== null || status >= 400 ? 'refused' : 'ok';
}

/** The caller's words as the database takes them: a row that it refused would take the spend of its call along. */
const storable = (text: string): string => text.slice(0, 200).toWellFormed().replaceAll('\0', '\ufffd');
