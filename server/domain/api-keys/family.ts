import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const apiKeys = family({
  name: 'api-keys',
  namespace: 'api_keys',
  router: 'apiKeys',
  tag: 'API keys',
  descriptions,
  operations,
});
