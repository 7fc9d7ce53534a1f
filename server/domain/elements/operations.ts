import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { Elements, SetElementOrigins } from './schema.ts';
import { getElements, setElementOrigins } from './service.ts';

export const get = operation({
  id: 'elements.get',
  summary: 'Get the browser library and the Element origins',
  http: 'GET /admin/elements',
  kind: 'read',
  needs: ['transit:read'],
  refuses: [],
  input: z.object({}),
  output: Elements,
  run: (ctx) => getElements(ctx),
});

/** The whole list, so that saving twice is the same as saving once. */
export const setOrigins = operation({
  id: 'elements.set_origins',
  summary: 'Set the Element origins',
  http: 'PUT /admin/elements/origins',
  kind: 'change',
  needs: ['settings:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['mfa_required', 'step_up_required'],
  input: SetElementOrigins,
  output: Elements,
  run: (ctx, input) => setElementOrigins(ctx, input),
});
