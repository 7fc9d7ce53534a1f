import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { CreateDomain, DomainRef, TenantDomain } from './schema.ts';
import * as domains from './service.ts';

export const list = operation({
  id: 'domains.list',
  summary: 'List verified domains',
  http: 'GET /admin/domains',
  kind: 'read',
  needs: ['domain:list'],
  refuses: [],
  input: z.object({}),
  output: z.array(TenantDomain),
  list: 'whole',
  run: async (ctx) => wholeList(await domains.listDomains(ctx)),
});

export const create = operation({
  id: 'domains.create',
  summary: 'Add a domain',
  http: 'POST /admin/domains',
  kind: 'change',
  needs: ['domain:manage'],
  refuses: ['conflict'],
  input: CreateDomain,
  output: TenantDomain,
  success: 201,
  run: (ctx, input) => domains.createDomain(ctx, input),
});

export const verify = operation({
  id: 'domains.verify',
  summary: 'Verify a domain',
  http: 'POST /admin/domains/{id}/verify',
  kind: 'change',
  needs: ['domain:manage'],
  refuses: ['not_found', 'conflict', 'domain_txt_not_found', 'rate_limited'],
  input: DomainRef,
  output: TenantDomain,
  run: (ctx, input) => domains.verifyDomain(ctx, input),
});

const remove = operation({
  id: 'domains.delete',
  summary: 'Remove a domain',
  http: 'DELETE /admin/domains/{id}',
  kind: 'change',
  needs: ['domain:manage'],
  step_up: 'domain.remove',
  refuses: ['not_found'],
  input: DomainRef,
  output: Deleted,
  run: (ctx, input) => domains.deleteDomain(ctx, input),
});

export { remove as delete };
