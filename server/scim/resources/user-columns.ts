import type { Columns } from '../filter/sql.ts';

/** Where `scim_users s` holds what a filter over people may name. */
export const userColumns: Columns = {
  id: { type: 'uuid', sql: 's.id' },
  externalId: { type: 'text', sql: 's.external_id' },
  userName: { type: 'text', sql: 's.user_name', folded: 's.user_name_folded' },
  'name.formatted': { type: 'text', sql: 's.formatted' },
  'name.familyName': { type: 'text', sql: 's.family_name' },
  'name.givenName': { type: 'text', sql: 's.given_name' },
  displayName: { type: 'text', sql: 's.display_name' },
  emails: {
    type: 'list',
    from: 'jsonb_array_elements(s.emails) as email',
    holding: (value) => `s.id = any(array(select scim_users_with_email(${value})))`,
    parts: {
      value: { type: 'text', sql: "(email->>'value')" },
      type: { type: 'text', sql: "(email->>'type')" },
      primary: { type: 'boolean', sql: "(email->>'primary')::boolean" },
    },
  },
  active: {
    type: 'boolean',
    sql: `exists (select from memberships m join users a on a.id = m.user_id
      where m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.removed_at is null and a.disabled_at is null)`,
  },
  'meta.created': { type: 'time', sql: 's.created_at' },
  'meta.lastModified': { type: 'time', sql: 's.updated_at' },
};
