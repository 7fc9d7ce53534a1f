import { defineSlice, OF_SPACE } from './slice.ts';

/** The environment that calls use when they name none and go by no route. */
export const environments = defineSlice({
  name: 'environments',
  tables: ['environments'],
  queries: { default_environments: `select tenant_id, sandbox, name from environments where ${OF_SPACE} and is_default` },
  compile: ({ default_environments }: { default_environments: { name: string }[] }) => ({
    defaultEnvironment: default_environments[0]?.name ?? '',
  }),
  size: ({ default_environments }) => default_environments.length,
});
