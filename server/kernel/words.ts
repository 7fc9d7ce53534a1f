/**
 * What the fields of the public API mean, a sentence each: by name, or by `parent.field` where the name alone could mislead (the parent is the
 * field or the component it stands in). Each family has its own in `words.ts`; these are the ones that mean the same everywhere.
 */
export type Words = Readonly<Record<string, string>>;

export const sharedWords: Words = {
  created_at: 'When the resource was created.',
  updated_at: 'When the resource was last updated.',
  tenant_id: 'ID of the workspace.',
  sandbox: '`true` for the Test space, `false` for Live. The two spaces share nothing.',
  page: 'Page number, starting at 1. Defaults to 1. Out-of-range values are moved to the nearest valid page.',
  per_page: 'Number of results per page, from 1 to 100. Defaults to 20.',
  sort: 'Field to sort by.',
  order: 'Sort order: ascending or descending.',
  cursor: '`meta.next_cursor` of the previous page. Omit it to start at the oldest row.',
  deleted: 'Always `true`.',
  collection_id: 'ID of the collection the resource belongs to. `null` if none.',
  'query.collection_id': 'Only return resources in this collection.',
  'query.enabled': 'Only return enabled (`true`) or disabled (`false`) resources.',
  'Service-Version': 'API version to use, as a date. Defaults to the newest.',
};
