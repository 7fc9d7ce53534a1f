import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const environments = family({
  name: 'environments',
  namespace: 'environments',
  router: 'environments',
  tag: 'Environments',
  descriptions,
  operations,
  resources: [
    {
      type: 'environment',
      limit: 'environments',
      search: { needs: 'environment:list', page: (id) => `/environments?edit=${id}` },
    },
  ],
  tables: [{ name: 'environments', reset: 'delete' }],
  actions: [{ id: 'create-environment', title: 'Create environment', path: '/environments?edit=new', needs: 'environment:create' }],
});
