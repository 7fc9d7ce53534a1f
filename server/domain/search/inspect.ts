import type { z } from 'zod';
import type { Capability } from '#server/kernel/capabilities.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Inspected, InspectedKind, InspectQuery } from './schema.ts';
import { SEARCH_TYPES } from './schema.ts';
import { allowed, homeOf, may, namesOnly, PAGES } from './service.ts';
import { documentOf, requestOf } from './store.ts';

type Part = { kind: InspectedKind; title: string; subtitle: string | null; path: string };
type Looks = { needs: Capability; find: (tx: Tx, ctx: Ctx, id: string) => Promise<Part | null> };

/**
 * What an id is and where it is shown, in either space, the caller's own first (interface rule 70 §11). An id of another workspace, one that was never
 * given and one that the caller's role may not see have one answer. @throws Refusal not_found
 */
export async function inspect(ctx: Ctx, input: z.output<typeof InspectQuery>): Promise<z.input<typeof Inspected>> {
  const id = input.id.replace(/^req(?:uest)?[:-]\s*/i, '').toLowerCase();
  const onlyRequest = id !== input.id.toLowerCase();
  if (isUuid(id) && id === ctx.tenant_id && !onlyRequest) return workspace(ctx);
  for (const space of [ctx, { ...ctx, sandbox: !ctx.sandbox }]) {
    const found = isUuid(id) ? await ofId(space, id, onlyRequest) : await ofKeyId(space, input.id);
    if (found) return { ...found, space: spaceOf(space.sandbox) };
  }
  throw notFound();
}

type Found = Omit<z.input<typeof Inspected>, 'space'>;

async function ofId(ctx: Ctx, id: string, onlyRequest: boolean): Promise<Found | null> {
  const types = await allowed(ctx, onlyRequest ? ['request'] : SEARCH_TYPES);
  const home = await homeOf(ctx);
  const row = await read(ctx, async (tx) => {
    const [document] = onlyRequest ? [] : await documentOf(tx, ctx, id, types);
    return document ?? (types.includes('request') ? (await requestOf(tx, ctx, id))[0] : undefined);
  });
  if (row) {
    const kind = row.type as (typeof SEARCH_TYPES)[number];
    const subtitle = namesOnly(ctx, row) ? null : row.subtitle;
    return { kind, id, title: row.title, subtitle, url: `${home}${PAGES[kind](id)}` };
  }
  if (onlyRequest) return null;
  for (const { needs, find } of parts) {
    if (!(await may(ctx, needs))) continue;
    const part = await read(ctx, (tx) => find(tx, ctx, id));
    if (part) return { kind: part.kind, id, title: part.title, subtitle: part.subtitle, url: `${home}${part.path}` };
  }
  return null;
}

/** What has an id but no page of its own: it leads to the page that shows it. */
const parts: readonly Looks[] = [
  {
    needs: 'audit_log:list',
    find: async (tx, ctx, id) => {
      const row = await tx.audit_logs.findFirst({
        where: { ...own(ctx), id },
        select: { action: true, resource_type: true, actor_label: true },
      });
      return (
        row && { kind: 'audit_entry', title: `${row.action} ${row.resource_type}`, subtitle: row.actor_label, path: `/audit?peek=${id}` }
      );
    },
  },
  {
    needs: 'client:read',
    find: async (tx, ctx, id) => {
      const row = await tx.client_credentials.findFirst({
        where: { ...own(ctx), id },
        select: { kind: true, client: { select: { id: true, name: true } } },
      });
      return row && { kind: 'client_credential', title: row.kind, subtitle: row.client.name, path: `/clients/${row.client.id}` };
    },
  },
  {
    needs: 'secret:read',
    find: async (tx, ctx, id) => {
      const row = await tx.secret_values.findFirst({
        where: { ...own(ctx), id },
        select: { value_version: true, environment: { select: { environment_name: true, secret: { select: { id: true, name: true } } } } },
      });
      return (
        row && {
          kind: 'secret_version',
          title: `Version ${row.value_version} in ${row.environment.environment_name}`,
          subtitle: row.environment.secret.name,
          path: `/secrets/${row.environment.secret.id}?tab=history`,
        }
      );
    },
  },
  {
    needs: 'collection:read',
    find: async (tx, ctx, id) => {
      const row = await tx.collection_variables.findFirst({
        where: { ...own(ctx), id },
        select: { key: true, collection: { select: { id: true, name: true } } },
      });
      return (
        row && {
          kind: 'collection_variable',
          title: row.key,
          subtitle: row.collection.name,
          path: `/collections/${row.collection.id}?tab=variables`,
        }
      );
    },
  },
  {
    needs: 'route:test',
    find: async (tx, ctx, id) => {
      const row = await tx.route_examples.findFirst({
        where: { ...own(ctx), id },
        select: { name: true, route: { select: { id: true, name: true } } },
      });
      return row && { kind: 'route_example', title: row.name, subtitle: row.route.name, path: `/routes/${row.route.id}?tab=test` };
    },
  },
];

/** The public beginning of an API key, which lists and logs name it by; more than that is a credential, which nobody sends here. */
async function ofKeyId(ctx: Ctx, key_id: string): Promise<Found | null> {
  if (!(await may(ctx, 'api_key:list'))) return null;
  const row = await read(ctx, (tx) => tx.api_keys.findFirst({ where: { ...own(ctx), key_id }, select: { id: true, name: true } }));
  return row && { kind: 'api_key', id: row.id, title: row.name, subtitle: key_id, url: `${await homeOf(ctx)}${PAGES.api_key(row.id)}` };
}

async function workspace(ctx: Ctx): Promise<z.input<typeof Inspected>> {
  if (!(await may(ctx, 'account:read'))) throw notFound();
  const { slug, name } = await read(ctx, (tx) =>
    tx.tenants.findFirstOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true, name: true } }),
  );
  return { kind: 'workspace', id: ctx.tenant_id, title: name, subtitle: slug, url: `/${slug}/settings/workspace`, space: null };
}
