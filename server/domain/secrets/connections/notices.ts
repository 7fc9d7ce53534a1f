import { NotConnected, TokenUnavailable } from '#server/custody/connections/connection.ts';
import { usableConnection } from '#server/custody/connections/connections.ts';
import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { connectionLost } from '#server/domain/mail/templates-connections.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseOutcome } from '#server/kernel/lease.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';

/** Before the transaction: a broken connection whose time has come is tried once more, so that it recovers without a call. */
export async function retryConnection({ resource_id }: Lease): Promise<void> {
  const row = await db().secret_environments.findFirst({
    where: { id: resource_id, oauth2_status: 'error', oauth2_retry_at: { lte: new Date() } },
    select: { tenant_id: true, sandbox: true, secret_id: true, environment_name: true },
  });
  if (!row) return;
  await usableConnection(row, { secretId: row.secret_id, environment: row.environment_name }).catch((error: unknown) => {
    if (!(error instanceof NotConnected || error instanceof TokenUnavailable)) throw error;
  });
}

/** Tells Owners and Admins, and whoever subscribed, that a connection was lost: once for each time it is (interface rule 30 §10.3). */
export async function tellOfLost(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const ids = due.map(({ resource_id }) => resource_id);
  const lost = await tx.secret_environments.findMany({
    where: { id: { in: ids }, oauth2_lost_at: { not: null }, oauth2_status: { in: ['error', 'expired'] } },
    include: { secret: { select: { name: true, oauth2_config: true } } },
    orderBy: { oauth2_lost_at: 'asc' },
  });
  for (const {
    tenant_id,
    sandbox,
    secret_id,
    secret,
    environment_name: environment,
    oauth2_status: status,
    oauth2_error: reason,
  } of lost) {
    const workspace = await tx.tenants.findFirst({ where: { id: tenant_id, deleted_at: null }, select: { name: true, slug: true } });
    if (!workspace) continue;
    const space = spaceOf(sandbox);
    const provider = (secret.oauth2_config as { provider?: string } | null)?.provider ?? 'custom';
    await raise(tx, { tenant_id, sandbox, now }, [
      {
        type: 'secret.oauth2.disconnected',
        source_id: secret_id,
        data: { id: secret_id, name: secret.name, secret_type: 'oauth2', environment, provider, connection_status: status, reason },
      },
    ]);
    const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/secrets/${secret_id}?tab=connection`;
    const letter = connectionLost({ workspace: workspace.name, space, name: secret.name, environment, expired: status === 'expired' }, url);
    await postTeamMails(tx, { tenant_id, kind: 'connection_lost', to: ['owner', 'admin'], letter, now });
  }
  await tx.secret_environments.updateMany({ where: { id: { in: lost.map(({ id }) => id) } }, data: { oauth2_lost_at: null } });
  const waiting = await tx.secret_environments.findMany({
    where: { id: { in: ids }, oauth2_status: 'error', oauth2_retry_at: { gt: now } },
    select: { id: true, oauth2_retry_at: true },
  });
  return {
    next: new Map(waiting.flatMap(({ id, oauth2_retry_at }) => (oauth2_retry_at ? [[id, oauth2_retry_at] as const] : []))),
    acted: lost.length,
  };
}
