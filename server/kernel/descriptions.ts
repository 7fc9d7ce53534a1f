/** What OpenAPI and the API reference say about a family beyond its schemas. */
export type Descriptions = {
  /** The description of the family's tag. */
  about: string;
  /** By operation id: what it does, and what a successful response holds. */
  operations: Readonly<Record<string, { description: string; success: string }>>;
  /** What a field means, by name, or by `parent.field` where the name alone could mislead. The parent is the field or component it stands in. */
  fields: Fields;
  /** Example values by field or by `component.field`. `request.field` also puts an optional field into example requests. */
  examples: Examples;
  /** Bodies of an operation whose calls differ, by operation id: the first is the ordinary one. Absent, one is made from `examples`. */
  requests?: Readonly<Record<string, Readonly<Record<string, { summary: string; value: Record<string, unknown> }>>>>;
};
export type Fields = Readonly<Record<string, string>>;
export type Examples = Readonly<Record<string, unknown>>;

export const EXAMPLE_ID = '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f';
export const EXAMPLE_TIME = '2026-01-31T09:30:00.000Z';

/** Fields that mean the same in every family. */
export const sharedFields: Fields = {
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

/** Examples that fit every family. */
export const sharedExamples: Examples = {
  id: EXAMPLE_ID,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  collection_id: null,
  sandbox: false,
  enabled: true,
  active: true,
};
