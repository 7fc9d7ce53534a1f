/**
 * What the fields of the public API mean, a sentence each: by name, or by `parent.field` where the name alone could mislead (the parent is the
 * field or the component it stands in). Each family has its own in `words.ts`; these are the ones that mean the same everywhere.
 */
export type Words = Readonly<Record<string, string>>;

export const sharedWords: Words = {
  created_at: 'When it was made.',
  updated_at: 'When it was last changed.',
  tenant_id: "The workspace's id.",
  sandbox: 'Whether it belongs to the Test space. Live and Test share nothing.',
  page: 'Which page; 1 when left out. A number out of range is moved to the nearest page that can be.',
  per_page: 'Rows a page, 1 to 100; 20 when left out.',
  sort: 'What the rows are ordered by.',
  order: 'Ascending or descending.',
  cursor: 'Where to go on: `meta.next_cursor` of the page before. Left out, the feed starts at its oldest row.',
  deleted: 'Always true.',
  collection_id: 'The collection it belongs to; null for none.',
  'query.collection_id': 'Only those of this collection.',
  'query.enabled': 'Only those that are switched on, or off.',
  'Service-Version': 'The dated version of this API the call is meant for; left out means the newest.',
};
