import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { listDeliveries } from './deliveries.ts';
import * as schema from './schema.ts';
import * as channels from './service.ts';
import { testChannel } from './trial.ts';

export const list = operation({
  id: 'alert_channels.list',
  summary: 'List alert channels',
  http: 'GET /admin/alert-channels',
  kind: 'read',
  needs: ['alert:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.AlertChannel),
  list: 'whole',
  run: async (ctx) => wholeList(await channels.listChannels(ctx)),
});

export const get = operation({
  id: 'alert_channels.get',
  summary: 'Get an alert channel',
  http: 'GET /admin/alert-channels/{id}',
  kind: 'read',
  needs: ['alert:read'],
  refuses: ['not_found'],
  input: schema.AlertChannelRef,
  output: schema.AlertChannel,
  run: (ctx, input) => channels.getChannel(ctx, input),
});

export const create = operation({
  id: 'alert_channels.create',
  summary: 'Create an alert channel',
  http: 'POST /admin/alert-channels',
  kind: 'change',
  needs: ['alert:create'],
  refuses: ['conflict', 'plan_feature', 'tenant_sealed'],
  input: schema.CreateAlertChannel,
  output: schema.AlertChannel,
  success: 201,
  run: (ctx, input) => channels.createChannel(ctx, input),
});

export const update = operation({
  id: 'alert_channels.update',
  summary: 'Update an alert channel',
  http: 'PATCH /admin/alert-channels/{id}',
  kind: 'change',
  needs: ['alert:update'],
  step_up: { by_verb: 'credential.move' },
  moves: { to: ['url'], credentials: ['token'] },
  refuses: ['not_found', 'conflict', 'plan_feature', 'tenant_sealed', ...MOVE_REFUSALS],
  input: schema.UpdateAlertChannel,
  output: schema.AlertChannel,
  edits: { row: (tx, ctx, { id }) => channels.lockedChannel(tx, ctx, id), shown_by: get },
  run: (ctx, input) => channels.updateChannel(ctx, input),
});

const remove = operation({
  id: 'alert_channels.delete',
  summary: 'Delete an alert channel',
  http: 'DELETE /admin/alert-channels/{id}',
  kind: 'change',
  needs: ['alert:delete'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.AlertChannelRef,
  output: Deleted,
  run: (ctx, input) => channels.deleteChannel(ctx, input),
});

export const test = operation({
  id: 'alert_channels.test',
  summary: 'Send a test message to an alert channel',
  http: 'POST /admin/alert-channels/{id}/test',
  kind: 'read',
  needs: ['alert:update'],
  refuses: ['not_found', 'rate_limited', 'plan_feature', 'tenant_sealed'],
  input: schema.AlertChannelRef,
  output: schema.ChannelTrial,
  run: (ctx, input) => testChannel(ctx, input),
});

export const deliveries = operation({
  id: 'alert_channels.deliveries',
  summary: 'List the messages to an alert channel',
  http: 'GET /admin/alert-channels/{id}/deliveries',
  kind: 'read',
  needs: ['alert:read'],
  refuses: ['not_found'],
  input: schema.ListChannelDeliveries,
  output: z.array(schema.ChannelDelivery),
  list: 'paged',
  run: (ctx, input) => listDeliveries(ctx, input),
});

export { remove as delete };
