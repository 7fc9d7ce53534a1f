import type { TLSSocket } from 'node:tls';
import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { isEchoUrl } from '#server/kernel/echo-origin.ts';
import { openHttp } from '#server/platform/connect/http.ts';
import { egress } from '#server/platform/egress.ts';
import { createConnect } from '#server/platform/http-out/connector.ts';
import { type FaultType, UpstreamFault } from '#server/platform/http-out/faults.ts';
import { checkTargetUrl, type Target } from '#server/platform/http-out/target-url.ts';
import { throttled } from '#server/platform/throttle.ts';
import type { ProbedTarget, ProbeTarget } from './schema.ts';

const CONNECT_MS = 3_000;
const ANSWER_MS = 4_000;
/** A person types; a loop that asks who listens where does not. */
const A_MINUTE = 30;

type Probed = z.input<typeof ProbedTarget>;
const nothing = { problem: null, certificate: null, status: null, latency_ms: null };

/**
 * Looks at an upstream as a call would: the guard's verdict, its name, its certificate, and what it answers to a HEAD without credentials (interface rule
 * 10 §17). Addresses are not told. @throws Refusal rate_limited
 */
export async function probeTarget(ctx: Ctx, { target_base_url: url }: z.output<typeof ProbeTarget>): Promise<Probed> {
  if (isEchoUrl(url)) return { ...nothing, outcome: 'answered', status: 200, latency_ms: 0 };
  await throttled(
    [{ what: 'probe', subject: `${ctx.tenant_id} ${ctx.actor.id ?? ''}`, limit: A_MINUTE, window_sec: 60 }],
    ctx.now,
    'rate_limited',
  );
  const verdict = await checkTargetUrl(url, egress());
  if (!verdict.ok) return { ...nothing, outcome: 'refused', problem: verdict.message };
  if (verdict.hasVariables) return { ...nothing, outcome: 'unknown' };
  if (verdict.warnings.length > 0) return { ...nothing, outcome: 'unresolved' };
  let certificate: Probed['certificate'] = null;
  try {
    certificate = await certificateOf(verdict.target);
    return { ...nothing, certificate, outcome: 'answered', ...(await answerOf(ctx, url)) };
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    return { ...nothing, certificate, outcome: OUTCOMES[error.type] ?? 'silent' };
  }
}

const OUTCOMES: Partial<Record<FaultType, Probed['outcome']>> = {
  upstream_not_allowed: 'refused',
  upstream_unreachable: 'unreachable',
  upstream_tls_error: 'untrusted',
};

/** The certificate the host shows, once it has been found good; null without TLS. */
async function certificateOf({ scheme, host, port }: Target): Promise<Probed['certificate']> {
  const socket = await createConnect({ scheme, host, port }, egress(), CONNECT_MS)();
  try {
    if (scheme === 'http') return null;
    const { issuer, valid_to } = (socket as TLSSocket).getPeerCertificate();
    const named = [issuer?.O, issuer?.CN].flat().find((text) => typeof text === 'string' && text !== '');
    return { issuer: named ?? null, valid_until: new Date(valid_to) };
  } finally {
    socket.destroy();
  }
}

async function answerOf(ctx: Ctx, url: string) {
  const http = openHttp({ connections: 1, connectTimeoutMs: CONNECT_MS });
  const began = performance.now();
  try {
    const { status } = await http.request({
      url,
      method: 'HEAD',
      headers: { 'user-agent': 'Sallyport-Probe' },
      timeoutMs: ANSWER_MS,
      maxBytes: 1_024,
      overflow: 'truncate',
      tenant: ctx.tenant_id,
      space: 'probe',
    });
    return { status, latency_ms: Math.round(performance.now() - began) };
  } finally {
    void http.close();
  }
}
