import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const search = family({
  name: 'search',
  namespace: 'search',
  router: 'search',
  operations,
  // Triggers of the resources' own tables keep the documents.
  tables: [{ name: 'search_documents', reset: 'cascade' }],
});
