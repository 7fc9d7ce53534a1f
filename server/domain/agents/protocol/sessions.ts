import type { z } from 'zod';
import { type KeyObject, sessionKey } from '#server/crypto/agent-keys.ts';
import { mintToken } from '#server/crypto/tokens.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { throttled } from '#server/platform/throttle.ts';
import { controlPlaneKey } from '../control-key.ts';
import { bundleOf } from './bundle.ts';
import type { AgentCaller } from './caller.ts';
import { assertBuild, assertMachine, assertSource } from './checks.ts';
import type { OpenSession } from './schema.ts';
import { windowAt } from './windows.ts';

const PER_HOUR = 12;

/**
 * A session of the current window, for a request whose signature was judged by the keys with this root. The first one binds the machine.
 * @throws Refusal source_not_allowed, plan_feature, fingerprint_mismatch, unverified_build, tenant_sealed, rate_limit_exceeded
 */
export async function openSession(ctx: Ctx, agent: AgentCaller, root: KeyObject, input: z.output<typeof OpenSession>) {
  assertSource(ctx, agent);
  await throttled([{ what: 'agent-session', subject: agent.id, limit: PER_HOUR, window_sec: 3_600 }], ctx.now, 'rate_limit_exceeded');
  requireFeature(ctx, 'byo_agent');
  await assertMachine(ctx, agent, input);
  const build_verified = await assertBuild(ctx, agent, input);
  const { window, expires_at } = windowAt(ctx.now, agent.own_kms);
  const key = await controlPlaneKey();
  const times = { window, issued_at: ctx.now.toISOString(), expires_at: expires_at.toISOString() };
  const bundle = await bundleOf(ctx, agent, sessionKey(root, agent.agent_id, window), key.private, times);
  const { token, digest } = mintToken('agent_session');
  await inTransaction(ctx, async (tx) => {
    const { machine_fingerprint: fingerprint, version, build_sig, os, arch, hostname } = input;
    const bound = await tx.agents.updateMany({
      // Of two machines at once one is the first.
      where: { ...own(ctx), id: agent.id, status: 'active', OR: [{ fingerprint: null }, { fingerprint }] },
      data: {
        ...{ fingerprint, version, build_sig, build_verified, last_ip: ctx.ip, last_seen_at: ctx.now, last_session_issued_at: ctx.now },
        ...(agent.fingerprint === null ? { fingerprint_at: ctx.now } : {}),
        ...(os === undefined ? {} : { os }),
        ...(arch === undefined ? {} : { arch }),
        ...(hostname === undefined ? {} : { hostname }),
        ...{ last_bundle_etag: bundle.etag, last_bundle_window: window, updated_at: agent.updated_at },
      },
    });
    if (bound.count !== 1) throw new Refusal('fingerprint_mismatch', 'Another machine was faster, or the agent was revoked.');
    await tx.agent_sessions.create({
      data: {
        ...own(ctx),
        ...{ id: newId(), agent_id: agent.id, token_digest: new Uint8Array(digest), window, fingerprint, mode: agent.mode, version },
        ...{ ip: ctx.ip, issued_at: ctx.now, expires_at },
      },
    });
  });
  return {
    session_token: token,
    ...times,
    mode: agent.mode,
    control_plane_key: key.pem,
    proxy_url: proxyUrl(agent.tenant_slug, spaceOf(agent.sandbox)),
    bundle: input.have_etag === bundle.etag ? null : bundle,
    etag: bundle.etag,
  };
}
