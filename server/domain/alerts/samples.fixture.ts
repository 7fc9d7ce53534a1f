import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

const alert: Sample = async () => ({ name: fresh('alert'), type: 'request_failures', condition: { threshold: 3 } });
const existing = idOf('alerts.create', alert);

/** An alert with a channel that nobody listens behind. */
const told: Sample = async (ctx) => {
  const channel = { name: fresh('channel'), kind: 'discord', url: 'https://127.0.0.1:65001/hook' };
  const { id } = await made(ctx, 'alert_channels.create', channel);
  return { id: (await made(ctx, 'alerts.create', { ...(await alert(ctx)), channel_ids: [id] })).id };
};

/** An incident that is open, as the evaluation leaves it. */
const incident: Sample = async (ctx: Ctx) => {
  const { id: alert_id, name } = await made(ctx, 'alerts.create', await alert(ctx));
  const at = { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  await db().alert_incidents.create({
    data: {
      ...{ ...at, alert_id, alert_name: name, type: 'request_failures', severity: 'high', group_key: '', started_at: ctx.now },
      ...{ value: 3, peak: 3, threshold: 3 },
    },
  });
  return { id: at.id };
};

export const samples: Record<string, Sample> = {
  'alerts.list': nothing,
  'alerts.get': existing,
  'alerts.create': alert,
  'alerts.update': async (ctx) => ({ ...(await existing(ctx)), severity: 'low' }),
  'alerts.delete': existing,
  'alerts.mute': async (ctx) => ({ ...(await existing(ctx)), until: new Date(Date.now() + 3_600_000).toISOString() }),
  'alerts.test': told,
  'alerts.preview': existing,
  'alerts.preview_draft': async () => ({ type: 'error_rate' }),
  'alerts.sparklines': nothing,
  'alerts.incidents': nothing,
  'alerts.incident': incident,
  'alerts.acknowledge': incident,
  'alerts.note': async (ctx) => ({ ...(await incident(ctx)), text: 'Rolled back.' }),
};

export const dependsOnState: Fixture['dependsOnState'] = [
  /isn't a member for alerts of type|is required unless resource_type|must be empty for alerts of type/,
  /doesn't exist in this space|must be within the next 30 days/,
];

export const harmless = {
  // An alert tells; the audit log has the same without it.
  'alerts.update': ['name', 'condition', 'route_ids', 'environments', 'severity', 'cooldown_minutes', 'channel_ids', 'enabled'],
};
