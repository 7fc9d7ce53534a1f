import { raiseDailyFromCall } from '../core/events.ts';
import type { Secret } from '../snapshot/model.ts';
import type { TemplateCall } from './template-call.ts';

/** When each was noted last, on performance.now()'s clock: the database is asked once an hour at most. */
const noted = new Map<string, number>();
const HOUR_MS = 3_600_000;
const MOST_NOTED = 10_000;

/** An expired value was put into a call (interface rule 30 §9): a warning of the call, and an event once in 24 hours. */
export function noteExpiredUse(call: TemplateCall, secret: Secret, environment: string, expiresAt: number): void {
  const warning = `expired:${secret.name}`;
  if (!call.warnings?.includes(warning)) call.warnings = [...(call.warnings ?? []), warning];
  if (call.test || call.echo) return;
  const now = performance.now();
  if ((noted.get(secret.id) ?? Number.NEGATIVE_INFINITY) > now - HOUR_MS) return;
  if (noted.size >= MOST_NOTED) noted.clear();
  noted.set(secret.id, now);
  const { tenant, sandbox } = call.snapshot;
  const data = { id: secret.id, name: secret.name, secret_type: secret.type, environment, expires_at: new Date(expiresAt).toISOString() };
  void raiseDailyFromCall({ tenant_id: tenant.id, sandbox, type: 'secret.expired_used', source_id: secret.id, data });
}
