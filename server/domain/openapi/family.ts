import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const openapi = family({
  name: 'openapi',
  namespace: 'openapi',
  tag: 'OpenAPI',
  descriptions,
  operations,
});
