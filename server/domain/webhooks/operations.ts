import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { browseAttempts, listAttempts, recoverWebhook, redeliverAttempt } from './attempts.ts';
import { inspectAttempt, revealAttempt, revealOfAttempt } from './inspection.ts';
import * as schema from './schema.ts';
import { revealSecret as openSecret, revealOfSecret, rotateSecret as rotate } from './secrets.ts';
import * as webhooks from './service.ts';
import { lockedWebhook } from './store.ts';
import { testWebhook } from './testing.ts';
import { statsOfWebhook, usageOfWebhooks } from './usage.ts';

export const list = operation({
  id: 'webhooks.list',
  summary: 'List webhooks',
  http: 'GET /webhooks',
  kind: 'read',
  needs: ['webhook:list'],
  refuses: [],
  input: schema.ListWebhooks,
  output: z.array(schema.Webhook),
  list: 'paged',
  run: (ctx, input) => webhooks.listWebhooks(ctx, input),
});

export const eventTypes = operation({
  id: 'webhooks.event_types',
  summary: 'List event types',
  http: 'GET /webhooks/event-types',
  kind: 'read',
  needs: ['webhook:list'],
  refuses: [],
  input: z.object({}),
  output: schema.WebhookEventTypes,
  run: async () => webhooks.eventTypes(),
});

export const create = operation({
  id: 'webhooks.create',
  summary: 'Create a webhook',
  http: 'POST /webhooks',
  kind: 'mint',
  any_session: { why: 'the secret signs what is sent to the receiver, and opens nothing here' },
  needs: ['webhook:create'],
  step_up: { by_verb: 'capability.grant' },
  refuses: ['plan_limit', 'tenant_sealed', 'mfa_required', 'step_up_required'],
  input: schema.CreateWebhook,
  output: schema.CreatedWebhook,
  success: 201,
  run: (ctx, input) => webhooks.createWebhook(ctx, input),
});

export const get = operation({
  id: 'webhooks.get',
  summary: 'Get a webhook',
  http: 'GET /webhooks/{id}',
  kind: 'read',
  needs: ['webhook:read'],
  refuses: ['not_found'],
  input: schema.WebhookRef,
  output: schema.WebhookDetail,
  run: (ctx, input) => webhooks.getWebhook(ctx, input),
});

export const update = operation({
  id: 'webhooks.update',
  summary: 'Update a webhook',
  http: 'PATCH /webhooks/{id}',
  kind: 'change',
  needs: ['webhook:update'],
  step_up: { by_verb: ['credential.move', 'capability.grant'] },
  moves: { to: ['url'], credentials: ['auth_config', 'request_headers'] },
  refuses: ['not_found', 'tenant_sealed', ...MOVE_REFUSALS],
  input: schema.UpdateWebhook,
  output: schema.UpdatedWebhook,
  edits: { row: (tx, ctx, { id }) => lockedWebhook(tx, ctx, id), shown_by: get },
  run: (ctx, input) => webhooks.updateWebhook(ctx, input),
});

const remove = operation({
  id: 'webhooks.delete',
  summary: 'Delete a webhook',
  http: 'DELETE /webhooks/{id}',
  kind: 'change',
  needs: ['webhook:delete'],
  refuses: ['not_found'],
  input: schema.WebhookRef,
  output: Deleted,
  run: (ctx, input) => webhooks.deleteWebhook(ctx, input),
});

export const logs = operation({
  id: 'webhooks.logs',
  summary: 'List the deliveries of a webhook',
  http: 'GET /webhooks/{id}/logs',
  kind: 'read',
  needs: ['webhook:read'],
  refuses: ['not_found'],
  input: schema.ListWebhookAttempts,
  output: z.array(schema.WebhookAttempt),
  list: 'paged',
  run: (ctx, input) => listAttempts(ctx, input),
});

export const test = operation({
  id: 'webhooks.test',
  summary: 'Test a webhook',
  http: 'POST /webhooks/{id}/test',
  kind: 'change',
  needs: ['webhook:test'],
  refuses: ['not_found', 'rate_limit_exceeded', 'tenant_sealed'],
  input: schema.TestWebhook,
  output: schema.TestedWebhook,
  run: (ctx, input) => testWebhook(ctx, input),
});

export const rotateSecret = operation({
  id: 'webhooks.rotate_secret',
  summary: 'Rotate the signing secret of a webhook',
  http: 'POST /webhooks/{id}/rotate-secret',
  kind: 'mint',
  any_session: { why: 'the secret signs what is sent to the receiver, and opens nothing here' },
  needs: ['webhook:update'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: schema.RotateWebhookSecret,
  output: schema.RotatedWebhookSecret,
  run: (ctx, input) => rotate(ctx, input),
});

export const redeliver = operation({
  id: 'webhooks.redeliver',
  summary: 'Deliver an event again',
  http: 'POST /webhooks/{id}/logs/{log_id}/redeliver',
  kind: 'change',
  needs: ['webhook:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.AttemptRef,
  output: schema.Redelivery,
  success: 202,
  run: (ctx, input) => redeliverAttempt(ctx, input),
});

export const recover = operation({
  id: 'webhooks.recover',
  summary: 'Deliver what failed again',
  http: 'POST /webhooks/{id}/recover',
  kind: 'change',
  needs: ['webhook:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.RecoverWebhook,
  output: schema.RecoveredWebhook,
  success: 202,
  run: (ctx, input) => recoverWebhook(ctx, input),
});

export const stats = operation({
  id: 'webhooks.stats',
  summary: 'Get the last 14 days of a webhook',
  http: 'GET /admin/webhooks/{id}/stats',
  kind: 'read',
  needs: ['webhook:read'],
  refuses: ['not_found'],
  input: schema.WebhookRef,
  output: schema.WebhookStats,
  run: (ctx, input) => statsOfWebhook(ctx, input),
});

export const usage = operation({
  id: 'webhooks.usage',
  summary: 'Get the last 24 hours of each webhook',
  http: 'GET /admin/webhook-usage',
  kind: 'read',
  needs: ['webhook:list'],
  refuses: [],
  input: schema.WebhookUsageQuery,
  output: z.array(schema.WebhookUsage),
  list: 'whole',
  run: (ctx) => usageOfWebhooks(ctx),
});

export const browseLogs = operation({
  id: 'webhooks.browse_logs',
  summary: 'Browse the deliveries of all webhooks',
  http: 'GET /admin/webhook-logs',
  kind: 'read',
  needs: ['log:list'],
  refuses: [],
  input: schema.BrowseAttempts,
  output: z.array(schema.BrowsedAttempt),
  list: 'paged',
  run: (ctx, input) => browseAttempts(ctx, input),
});

export const inspectLog = operation({
  id: 'webhooks.inspect_log',
  summary: 'Get a delivery attempt',
  http: 'GET /admin/webhook-logs/{id}',
  kind: 'read',
  needs: ['log:list'],
  refuses: ['not_found', 'tenant_sealed'],
  input: schema.WebhookRef,
  output: schema.InspectedAttempt,
  run: (ctx, input) => inspectAttempt(ctx, input),
});

export const revealLog = operation({
  id: 'webhooks.reveal_log',
  summary: 'Reveal the payload of a delivery attempt',
  http: 'GET /admin/webhook-logs/{id}?include=payload',
  kind: 'reveal',
  needs: ['log:read_payload'],
  refuses: ['not_found', 'tenant_sealed'],
  input: schema.WebhookRef,
  output: schema.RevealedAttempt,
  reveal: revealOfAttempt,
  run: (ctx, input) => revealAttempt(ctx, input),
});

export const revealSecret = operation({
  id: 'webhooks.reveal_secret',
  summary: 'Reveal the signing secret of a webhook',
  http: 'GET /admin/webhooks/{id}/secret',
  kind: 'reveal',
  needs: ['webhook:reveal_secret'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: schema.WebhookRef,
  output: schema.RevealedWebhookSecret,
  reveal: revealOfSecret,
  run: (ctx, input) => openSecret(ctx, input),
});

export { remove as delete };
