import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { hotOperation } from '#server/kernel/hot-operation.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { Environment, EnvironmentRef } from './schema.ts';

export const get = hotOperation({
  id: 'environments.get',
  summary: 'Get an environment',
  http: 'GET /environments/{id}',
  needs: ['environment:read'],
  refuses: ['not_found'],
  input: EnvironmentRef,
  output: Environment,
  async run(ctx, { id }) {
    const [row] = isUuid(id) ? await ownRows<EnvironmentRow>(ctx, BY_ID, id) : [];
    if (!row) throw notFound();
    return row;
  },
});

type EnvironmentRow = {
  id: string;
  name: string;
  display_name: string;
  description: string | null;
  color: string;
  is_default: boolean;
  created_at: Date;
  updated_at: Date;
};

const BY_ID = ownQuery(
  'environment-by-id',
  `select id, name, display_name, description, color, is_default, created_at, updated_at
   from environments where tenant_id = $1 and sandbox = $2 and id = $3::uuid`,
);
