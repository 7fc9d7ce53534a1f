import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const sandbox = family({
  name: 'sandbox',
  namespace: 'sandbox',
  router: 'sandbox',
  operations,
  resources: [{ type: 'sandbox' }],
});
