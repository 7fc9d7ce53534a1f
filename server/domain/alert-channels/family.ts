import { stopDeliveries } from '#server/domain/deliveries/service.ts';
import { disabling, family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const alertChannels = family({
  name: 'alert-channels',
  namespace: 'alert_channels',
  router: 'alertChannels',
  operations,
  resources: [{ type: 'alert_channel' }],
  tables: [{ name: 'alert_channels', reset: 'delete' }],
  actions: [{ id: 'create-alert-channel', title: 'Create alert channel', path: '/alerts/channels?open=new', needs: 'alert:create' }],
  made: [
    {
      type: 'alert_channel',
      table: 'alert_channels',
      label: ['alert channel', 'alert channels'],
      name: `r.name || coalesce(' (' || r.host || ')', '')`,
      works: 'r.enabled',
      end: disabling('alert:update'),
      ended: (tx, ctx, ids) => stopDeliveries(tx, ctx, ids),
    },
  ],
});
