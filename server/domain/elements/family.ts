import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const elements = family({
  name: 'elements',
  namespace: 'elements',
  router: 'elements',
  operations,
  resources: [{ type: 'element_settings' }],
  tables: [{ name: 'element_settings', reset: 'stay' }],
});
