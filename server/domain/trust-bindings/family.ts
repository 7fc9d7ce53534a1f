import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const trustBindings = family({
  name: 'trust-bindings',
  namespace: 'trust_bindings',
  router: 'trustBindings',
  tag: 'Trust bindings',
  descriptions,
  operations,
  resources: [{ type: 'trust_binding' }],
  // They go with their client.
  tables: [{ name: 'oauth_trust_bindings', reset: 'cascade' }],
});
