import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import * as schema from './schema.ts';
import { rotateInboundSecret } from './secrets.ts';
import * as inbound from './service.ts';
import { lockedInbound } from './store.ts';

export const list = operation({
  id: 'inbound_webhooks.list',
  summary: 'List inbound webhooks',
  http: 'GET /admin/inbound-webhooks',
  kind: 'read',
  needs: ['inbound_webhook:list'],
  refuses: [],
  input: schema.ListInboundWebhooks,
  output: z.array(schema.InboundWebhook),
  list: 'paged',
  run: (ctx, input) => inbound.listInbound(ctx, input),
});

export const create = operation({
  id: 'inbound_webhooks.create',
  summary: 'Create an inbound webhook',
  http: 'POST /admin/inbound-webhooks',
  kind: 'mint',
  any_session: { why: 'the secret signs what a sender delivers to this receiver, and is no credential to call with' },
  needs: ['inbound_webhook:create'],
  refuses: ['conflict', 'plan_limit', 'tenant_sealed', 'forbidden', 'role_denied'],
  input: schema.CreateInboundWebhook,
  output: schema.CreatedInboundWebhook,
  success: 201,
  run: (ctx, input) => inbound.createInbound(ctx, input),
});

export const get = operation({
  id: 'inbound_webhooks.get',
  summary: 'Get an inbound webhook',
  http: 'GET /admin/inbound-webhooks/{id}',
  kind: 'read',
  needs: ['inbound_webhook:read'],
  refuses: ['not_found'],
  input: schema.InboundWebhookRef,
  output: schema.InboundWebhook,
  run: (ctx, input) => inbound.getInbound(ctx, input),
});

export const update = operation({
  id: 'inbound_webhooks.update',
  summary: 'Update an inbound webhook',
  http: 'PATCH /admin/inbound-webhooks/{id}',
  kind: 'change',
  needs: ['inbound_webhook:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'conflict', 'forbidden', 'role_denied', 'mfa_required', 'step_up_required'],
  input: schema.UpdateInboundWebhook,
  output: schema.InboundWebhook,
  edits: { row: (tx, ctx, { id }) => lockedInbound(tx, ctx, id), shown_by: get },
  run: (ctx, input) => inbound.updateInbound(ctx, input),
});

const remove = operation({
  id: 'inbound_webhooks.delete',
  summary: 'Delete an inbound webhook',
  http: 'DELETE /admin/inbound-webhooks/{id}',
  kind: 'change',
  needs: ['inbound_webhook:delete'],
  refuses: ['not_found'],
  input: schema.InboundWebhookRef,
  output: Deleted,
  run: (ctx, input) => inbound.deleteInbound(ctx, input),
});

export const rotateSecret = operation({
  id: 'inbound_webhooks.rotate_secret',
  summary: 'Rotate the secret of an inbound webhook',
  http: 'POST /admin/inbound-webhooks/{id}/rotate-secret',
  kind: 'mint',
  any_session: { why: 'the secret signs what a sender delivers to this receiver, and is no credential to call with' },
  needs: ['inbound_webhook:update'],
  refuses: ['not_found', 'tenant_sealed', 'forbidden', 'role_denied'],
  input: schema.RotateInboundSecret,
  output: schema.RotatedInboundWebhook,
  run: (ctx, input) => rotateInboundSecret(ctx, input),
});

export { remove as delete };
