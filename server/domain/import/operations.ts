import { operation } from '#server/kernel/operation.ts';
import * as wire from './schema.ts';
import * as imports from './service.ts';

export const propose = operation({
  id: 'import.propose',
  summary: 'Propose routes and secrets from a curl command or OpenAPI description',
  http: 'POST /admin/import/propose',
  kind: 'read',
  needs: ['route:create'],
  refuses: ['rate_limited'],
  input: wire.Propose,
  output: wire.Proposal,
  run: (ctx, input) => imports.propose(ctx, input),
});

export const create = operation({
  id: 'import.apply',
  summary: 'Create proposed routes and secrets',
  http: 'POST /admin/import/apply',
  kind: 'change',
  needs: ['route:create', 'secret:create'],
  refuses: ['plan_limit', 'conflict', 'tenant_sealed'],
  input: wire.Apply,
  output: wire.Applied,
  success: 201,
  run: (ctx, input) => imports.apply(ctx, input),
});
