import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { disconnectApp, listConnectedApps } from './connected-apps.ts';
import { ConnectedAppRef, ConnectedApps, Nothing } from './schema.ts';

export const list = operation({
  id: 'connected-apps.list',
  summary: 'List your connected apps',
  http: 'GET /auth/connected-apps',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: ConnectedApps,
  run: (ctx) => listConnectedApps(ctx),
});

const remove = operation({
  id: 'connected-apps.delete',
  summary: 'End the login of a connected app',
  http: 'DELETE /auth/connected-apps/{id}',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['not_found'],
  input: ConnectedAppRef,
  output: Deleted,
  run: (ctx, input) => disconnectApp(ctx, input),
});

export { remove as delete };
