import { z } from 'zod';
import { KEY_ROLES, MEMBER_ROLE_ROWS } from '#server/kernel/capabilities.ts';
import { operation } from '#server/kernel/operation.ts';
import { pageOfAll, pageQuery } from '#server/kernel/page.ts';
import { Role } from './schema.ts';

const KEY_ROWS = KEY_ROLES.map(({ id, name, description, is_default }) => ({
  id,
  name,
  description,
  applies_to: ['api_key' as const],
  is_default,
  seeded: true,
}));
const USER_ROWS = MEMBER_ROLE_ROWS.map((role) => ({ ...role, applies_to: ['user' as const], is_default: false, seeded: true }));

/** The role catalogue is data of the release; what each role can do is shown in the dashboard, not here (interface rule 24 §3). */
export const list = operation({
  id: 'roles.list',
  summary: 'List roles',
  http: 'GET /roles',
  kind: 'read',
  needs: ['role:list'],
  refuses: [],
  input: z.object({ ...pageQuery, subject_kind: z.enum(['api_key', 'user']).optional() }),
  output: z.array(Role),
  list: 'paged',
  run: async (_ctx, input) => {
    const rows = [...KEY_ROWS, ...USER_ROWS].filter((r) => !input.subject_kind || (r.applies_to as string[]).includes(input.subject_kind));
    return pageOfAll(rows, input);
  },
});
