import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const requestLogs = family({
  name: 'request-logs',
  namespace: 'logs',
  router: 'requestLogs',
  tag: 'Logs',
  descriptions,
  operations,
});
