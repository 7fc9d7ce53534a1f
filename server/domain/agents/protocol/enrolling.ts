import type { z } from 'zod';
import { mintAgentSecret } from '#server/crypto/agent-keys.ts';
import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { own, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { sql } from '#server/platform/sql.ts';
import { controlPlaneKey } from '../control-key.ts';
import { agentInstalled } from '../letters.ts';
import { sealAgentKeys } from '../sealing.ts';
import { endSessions, replaceKeys } from '../service.ts';
import { mailOwners, sendWritten } from '../telling.ts';
import { type AgentCaller, agentCalled, contextOf } from './caller.ts';
import { assertBuild, assertSource } from './checks.ts';
import type { Enrol } from './schema.ts';

const invalidToken = () =>
  new Refusal('invalid_token', "The install token isn't valid: it is unknown, used, or has expired. Create a new one in the dashboard.");

type Asked = { ip: string | null; user_agent: string | null; request_id: string; now: Date; sandbox: boolean };

/**
 * Trades an install token for the agent's secret, once: of two at the same time one wins. The secret of before dies, and the fingerprint is the new machine's.
 * @throws Refusal invalid_token for every cause, source_not_allowed, unverified_build, plan_feature, tenant_sealed
 */
export async function enrol(asked: Asked, { token, ...host }: z.output<typeof Enrol>) {
  const { row, agent } = await tokenOf(token, asked.now);
  if (agent.sandbox !== asked.sandbox) throw invalidToken();
  const ctx = contextOf(agent, asked);
  assertSource(ctx, agent);
  requireFeature(ctx, 'byo_agent');
  const build_verified = await assertBuild(ctx, agent, host);
  const agent_secret = mintAgentSecret();
  const [sealed, key] = await Promise.all([sealAgentKeys(agent, agent.agent_id, agent_secret), controlPlaneKey()]);
  const mails = await mutate(ctx, async (tx) => {
    const used = await tx.agent_install_tokens.updateMany({
      where: { ...own(ctx), id: row.id, used_at: null, revoked_at: null, expires_at: { gt: ctx.now } },
      data: { used_at: ctx.now, used_from_ip: ctx.ip },
    });
    if (used.count !== 1) throw invalidToken();
    await replaceKeys(tx, ctx, agent.id, sealed, null);
    await endSessions(tx, ctx, agent.id);
    const { hostname, os, arch, version, build_sig, machine_fingerprint: fingerprint } = host;
    const data = {
      hostname,
      os,
      arch,
      version,
      build_sig,
      build_verified,
      fingerprint,
      fingerprint_at: ctx.now,
      last_ip: ctx.ip,
      updated_at: ctx.now,
    };
    const { count } = await tx.agents.updateMany({ where: { id: agent.id, ...own(ctx), status: 'active' }, data });
    if (count !== 1) throw invalidToken();
    const written = await mailOwners(tx, ctx, agent, 'agent_installed', (about) =>
      agentInstalled(about, { hostname, ip: ctx.ip, at: ctx.now }),
    );
    const entry = { action: 'execute', resource_type: 'agent_install_token', resource_id: row.id, name: agent.name };
    return audited(written, { ...entry, details: { agent_id: agent.id, hostname, os, arch, version } });
  });
  sendWritten(ctx, mails);
  return {
    agent_id: agent.agent_id,
    agent_secret,
    mode: agent.mode,
    sandbox: agent.sandbox,
    control_plane_key: key.pem,
    api_base: agent.sandbox ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL,
    proxy_url: proxyUrl(agent.tenant_slug, spaceOf(agent.sandbox)),
  };
}

async function tokenOf(token: string, now: Date): Promise<{ row: { id: string }; agent: AgentCaller }> {
  if (classifyCredential(token).kind !== 'agent_install') throw invalidToken();
  const { rows } = await sql().query<{ id: string; agent: string }>({
    name: 'agent-install-token',
    text: `select i.id, a.agent_id as agent from agent_install_tokens i join agents a on a.id = i.agent_id
      where i.token_digest = $1 and i.used_at is null and i.revoked_at is null and i.expires_at > $2 and a.status = 'active'`,
    values: [digest(token), now],
  });
  const [row] = rows;
  const agent = row && (await agentCalled(row.agent));
  if (!row || !agent) throw invalidToken();
  return { row, agent };
}
