import { auditRow, insertAuditRows } from '#server/custody/audit-rows.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { raiseFromCall } from '../../core/events.ts';
import type { Arrival } from '../../core/plane.ts';
import type { WrapToken } from '../../credentials/wrap-tokens.ts';

/** Ends a token that anybody on the way could read. The Owners are mailed by the worker. Waits until no other call can use it. */
export async function revokeExposed(
  { id, tenant_id, sandbox, secret_id, host }: WrapToken,
  { req, sourceAddress, requestId }: Arrival,
): Promise<void> {
  const { rowCount } = await sql().query(
    `update wrap_tokens set revoked_at = now(), revoked_reason = 'exposed' where id = $1 and tenant_id = $2 and revoked_at is null`,
    [id, tenant_id],
  );
  if (rowCount === 0) return;
  const ctx: HotCtx = {
    tenant_id,
    sandbox,
    actor: { capabilities: new Set(), type: 'system', id: null, label: 'gateway' },
    plan: 'free',
    request_id: requestId,
    ip: sourceAddress,
    user_agent: req.headers['user-agent'] ?? null,
    now: new Date(),
    warnings: [],
  };
  const entry = { action: 'revoke', resource_type: 'wrap_token', resource_id: id, details: { secret_id, host, reason: 'exposed' } };
  await insertAuditRows(ctx, [auditRow(ctx, entry)]);
  raiseFromCall({ tenant_id, sandbox, type: 'wrap.token.exposed', source_id: id, data: { wrap_token_id: id, secret_id, host } });
  log.warn({ tenant_id, wrap_token_id: id, request_id: requestId, alert: true }, 'a gateway token arrived over plain HTTP and was revoked');
}
