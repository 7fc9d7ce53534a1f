import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const imports = family({
  name: 'import',
  namespace: 'import',
  router: 'import',
  operations,
  actions: [{ id: 'import', title: 'Import curl or OpenAPI', path: '/import', needs: 'route:create' }],
});
