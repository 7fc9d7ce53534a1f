import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { network, take } from '#server/platform/throttle.ts';
import type { OAuthClient } from './client.ts';

/** One audit entry per client and network in ten minutes, however often somebody tries (interface rule 21 §15). */
export async function recordFailedClient(
  client: OAuthClient,
  caller: { request_id: string; ip: string | null; user_agent: string | null },
  now: Date,
): Promise<void> {
  const rule = { what: 'oauth-client-audit', subject: `${client.id}\n${network(caller.ip)}`, limit: 1, window_sec: 600 };
  if (!(await take(rule, now)).allowed) return;
  const { request_id, ip, user_agent } = caller;
  const ctx = {
    ...systemContext(db(), { tenant_id: client.tenant_id, sandbox: client.sandbox, now, label: 'token endpoint' }),
    request_id,
    ip,
    user_agent,
  };
  await db().$transaction((tx) =>
    writeAudit(tx, ctx, {
      action: 'login_failed',
      resource_type: 'oauth_client',
      resource_id: client.id,
      name: client.name,
      details: { client_id: client.client_id, cause: client.active ? 'wrong secret, or none' : 'the client is not active' },
    }),
  );
}
