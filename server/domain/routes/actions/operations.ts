import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { DeletedFieldAction, FieldAction, FieldActionRef, FieldActionsOf } from './schema.ts';
import * as actions from './service.ts';

export const listActions = operation({
  id: 'routes.actions.list',
  summary: 'List the field actions of a route',
  http: 'GET /routes/{id}/actions',
  kind: 'read',
  needs: ['route:read'],
  refuses: ['not_found'],
  input: FieldActionsOf,
  output: z.array(FieldAction),
  list: 'whole',
  run: async (ctx, input) => wholeList(await actions.listFieldActions(ctx, input)),
});

export const removeAction = operation({
  id: 'routes.actions.delete',
  summary: 'Remove a field action from a route',
  http: 'DELETE /routes/{id}/actions/{actionId}',
  kind: 'change',
  needs: ['route:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: FieldActionRef,
  output: DeletedFieldAction,
  run: (ctx, input) => actions.deleteFieldAction(ctx, input),
});
