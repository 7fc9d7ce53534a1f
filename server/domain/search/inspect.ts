import type { z } from 'zod';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import type { Family } from '#server/kernel/family.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Inspected, InspectQuery } from './schema.ts';
import { inspectableResources, searchableResources } from './searchable.ts';
import { allowed, homeOf, may, namesOnly, urlOf } from './service.ts';
import { documentOf, requestOf } from './store.ts';

/**
 * What an ID names and where it is shown, in either space, the caller's own first (interface rule 70 §11). An ID of another workspace, an unknown
 * one and one that the caller's role may not see have one answer. @throws Refusal not_found
 */
export async function inspect(
  ctx: Ctx,
  input: z.output<typeof InspectQuery>,
  families: readonly Family[],
): Promise<z.input<typeof Inspected>> {
  const id = input.id.replace(/^req(?:uest)?[:-]\s*/i, '').toLowerCase();
  const onlyRequest = id !== input.id.toLowerCase();
  if (isUuid(id) && id === ctx.tenant_id && !onlyRequest) return workspace(ctx);
  for (const space of [ctx, { ...ctx, sandbox: !ctx.sandbox }]) {
    const found = isUuid(id) ? await ofId(space, id, onlyRequest, families) : await ofKeyId(space, input.id, families);
    if (found) return { space: spaceOf(space.sandbox), ...found };
  }
  throw notFound();
}

/** `space` null: it belongs to the workspace. */
type Found = Omit<z.input<typeof Inspected>, 'space'> & { space?: null };

async function ofId(ctx: Ctx, id: string, onlyRequest: boolean, families: readonly Family[]): Promise<Found | null> {
  const searched = await allowed(
    ctx,
    searchableResources(families).filter(({ type }) => !onlyRequest || type === 'request'),
  );
  const types = searched.map(({ type }) => type);
  const home = await homeOf(ctx);
  const row = await read(ctx, async (tx) => {
    const [document] = onlyRequest ? [] : await documentOf(tx, ctx, id, types);
    return document ?? (types.includes('request') ? (await requestOf(tx, ctx, id))[0] : undefined);
  });
  const resource = searched.find(({ type }) => type === row?.type);
  if (row && resource) {
    const subtitle = namesOnly(ctx, row, resource) ? null : row.subtitle;
    return { kind: resource.type, id, title: row.title, subtitle, url: `${home}${resource.search.page(id)}` };
  }
  if (onlyRequest) return null;
  for (const { type, inspect } of inspectableResources(families)) {
    if (!(await may(ctx, inspect.needs))) continue;
    const part = await read(ctx, (tx) => inspect.find(tx, ctx, id));
    if (part)
      return { kind: type, id, title: part.title, subtitle: part.subtitle, url: urlOf(home, part), ...(part.scope ? { space: null } : {}) };
  }
  return null;
}

/** The public beginning of an API key, which lists and logs show; more than that is a credential, which nobody sends here. */
async function ofKeyId(ctx: Ctx, key_id: string, families: readonly Family[]): Promise<Found | null> {
  const [resource] = await allowed(
    ctx,
    searchableResources(families).filter(({ type }) => type === 'api_key'),
  );
  if (!resource) return null;
  const row = await read(ctx, (tx) => tx.api_keys.findFirst({ where: { ...own(ctx), key_id }, select: { id: true, name: true } }));
  const url = row && `${await homeOf(ctx)}${resource.search.page(row.id)}`;
  return row && url ? { kind: resource.type, id: row.id, title: row.name, subtitle: key_id, url } : null;
}

async function workspace(ctx: Ctx): Promise<z.input<typeof Inspected>> {
  if (!(await may(ctx, 'account:read'))) throw notFound();
  const { slug, name } = await read(ctx, (tx) =>
    tx.tenants.findFirstOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true, name: true } }),
  );
  return {
    kind: 'workspace',

    id: ctx.tenant_id,
    title: name,
    subtitle: slug,
    url: `/${slug}/settings/workspace`,
    space: null,
  };
}
