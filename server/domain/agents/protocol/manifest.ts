import { signDocument } from '#server/crypto/agent-keys.ts';
import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { denylistOf } from '#server/domain/migrations/service.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { controlPlaneKey } from '../control-key.ts';
import { decryptsThere } from '../modes.shared.ts';
import { bundleContent } from './bundle.ts';
import type { AgentCaller } from './caller.ts';
import { coveredRoutes, dbListeners, environmentOf, interceptRules } from './covered.ts';

/** What an agent asks for every 30 seconds: routes and rules without a value. `etag` names the content. */
export async function manifestOf(ctx: Ctx, agent: AgentCaller) {
  const content = await read(ctx, async (tx) => {
    const environment = await environmentOf(tx, ctx, agent);
    const nothing = { environment, routes: [], intercept_rules: [], db_listeners: [], denylist: [], content: null };
    if (agent.mode === 'control') return nothing;
    return {
      environment,
      routes: await coveredRoutes({ ...ctx, tx }, agent, environment),
      intercept_rules: await interceptRules(tx, ctx, agent, environment),
      db_listeners: await dbListeners(tx, ctx, agent),
      content: decryptsThere(agent.mode) ? await bundleContent(tx, ctx, agent) : null,
      denylist: (await denylistOf(tx, ctx)).patterns.map(({ pattern, kind }) => ({ pattern, kind })),
    };
  });
  const proxy_url = proxyUrl(agent.tenant_slug, spaceOf(agent.sandbox));
  const about = { v: 1, agent_id: agent.agent_id, mode: agent.mode, ttl_seconds: 30, proxy_url, ...content };
  const etag = contentFingerprint(about);
  const unsigned = { ...about, version: `sha256:${etag}`, etag };
  return { ...unsigned, sig: signDocument((await controlPlaneKey()).private, unsigned) };
}
