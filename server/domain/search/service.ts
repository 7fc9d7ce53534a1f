import type { z } from 'zod';
import { denyingPolicy, documentsShown } from '#server/domain/policies/service.ts';
import { type Capability, seesNamesOnly } from '#server/kernel/capabilities.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { Action, Family } from '#server/kernel/family.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Found, SearchAnswer, SearchQuery } from './schema.ts';
import { actionsLike, resourceActionsLike, type SearchableResource, searchableResources } from './searchable.ts';
import { clientsAt, type Document, documentOf, documentsLike, rangeOf, requestOf } from './store.ts';

/** A credential's start is all that is ever looked for, whoever sent the rest (interface rule 70 §10). */
const CREDENTIAL = /^(?:tk_|svc|ses_|AKE|sk[_-]|pk_|rk_|gh[pousr]_|github_|xox|AKIA|ASIA|AIza|whsec_|eyJ|-----BEGIN)/;
const CREDENTIAL_START = 8;
/** Of a pasted address only the host says something about routes. */
const HOST_OF_URL = /^https?:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;

/** Everything found for a text in both spaces, the caller's own first, as far as its role and the policies let it list (interface rule 70 §10). */
export async function search(
  ctx: Ctx,
  { q, limit, types }: z.output<typeof SearchQuery>,
  families: readonly Family[],
): Promise<z.input<typeof SearchAnswer>> {
  const began = performance.now();
  const given = q.trim();
  const text = CREDENTIAL.test(given) ? given.slice(0, CREDENTIAL_START) : (HOST_OF_URL.exec(given)?.[1] ?? given);
  const asked = askedFor(types, searchableResources(families));
  const spaces = [ctx, { ...ctx, sandbox: !ctx.sandbox }];
  const slug = await slugOf(ctx);
  const home = (space: Ctx) => `/${slug}/${spaceOf(space.sandbox)}`;
  const done = (groups: z.input<typeof SearchAnswer>['groups'], actions: z.input<typeof SearchAnswer>['actions']) => ({
    groups,
    actions,
    took_ms: Math.round((performance.now() - began) * 10) / 10,
  });
  if (text.startsWith('>')) return done([], await actions(ctx, text.slice(1).trim(), limit, home(ctx), families));
  const inBoth = async (forgive: boolean) =>
    (
      await Promise.all(
        spaces.map(async (space) => {
          const searched = await allowed(space, asked);
          const rows = await documentsShown(space, await finds(space, text, searched, limit, forgive));
          return rows.flatMap((row) => searched.flatMap((one) => (one.type === row.type ? asFound(row, one, space, home(space)) : [])));
        }),
      )
    ).flat();
  const exact = await inBoth(false);
  return done(grouped(exact.length > 0 ? exact : await inBoth(true), asked), []);
}

/** @throws Refusal validation_error for a type that no family declares */
function askedFor(types: readonly string[] | undefined, searched: readonly SearchableResource[]): readonly SearchableResource[] {
  const unknown = types?.find((type) => !searched.some((one) => one.type === type));
  if (unknown !== undefined) throw invalid('types', `must be among ${searched.map(({ type }) => type).join(', ')}`);
  return searched.filter(({ type }) => types?.includes(type) ?? true);
}

async function finds(
  ctx: Ctx,
  text: string,
  searched: readonly SearchableResource[],
  limit: number,
  forgive: boolean,
): Promise<Document[]> {
  const types = searched.map(({ type }) => type);
  if (types.length === 0 || text === '') return [];
  const id = text.replace(/^req(?:uest)?:\s*/i, '').toLowerCase();
  const onlyRequest = id !== text.toLowerCase();
  return read(ctx, async (tx) => {
    if (isUuid(id)) {
      const calls = types.includes('request') ? await requestOf(tx, ctx, id) : [];
      return onlyRequest ? calls : [...(await documentOf(tx, ctx, id, types)), ...calls];
    }
    if (onlyRequest) return [];
    const range = rangeOf(text);
    if (range) return types.includes('client') ? clientsAt(tx, ctx, range, limit) : [];
    return (await documentsLike(tx, text, types, limit, forgive)).filter((row) =>
      searched.some((one) => one.type === row.type && (!namesOnly(ctx, row, one) || named(row, text))),
    );
  });
}

async function actions(ctx: Ctx, text: string, limit: number, home: string, families: readonly Family[]) {
  const possible: Omit<Action, 'needs'>[] = [];
  for (const action of actionsLike(text, families)) if (await may(ctx, action.needs)) possible.push(action);
  for (const { resource, action } of text === '' ? [] : resourceActionsLike(text, families)) {
    const { type, search } = resource;
    if (!(await may(ctx, action.needs)) || !(await may(ctx, search.needs))) continue;
    const named = text.replace(action.verb, '');
    const rows = named === '' ? [] : await documentsShown(ctx, await read(ctx, (tx) => documentsLike(tx, named, [type], limit, false)));
    possible.push(
      ...rows
        .filter((row) => !row.badges.includes('revoked'))
        .map((row) => ({ id: `${type}-${row.ref_id}`, title: action.title(row.title), path: search.page(row.ref_id) })),
    );
  }
  return possible.map(({ id, title, ...place }) => ({ id, title, url: urlOf(home, place) }));
}

/** The address of a page below the caller's space, or with `scope` below the workspace. `home` is what `homeOf` gives. */
export const urlOf = (home: string, { path, scope }: { path: string; scope?: 'workspace' }): string =>
  `${scope ? home.slice(0, home.lastIndexOf('/')) : home}${path}`;

/** Where the pages of the caller's space hang. */
export const homeOf = async (ctx: Ctx): Promise<string> => `/${await slugOf(ctx)}/${spaceOf(ctx.sandbox)}`;
const slugOf = async (ctx: Ctx): Promise<string> =>
  (await read(ctx, (tx) => tx.tenants.findFirstOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } }))).slug;

/** The resources that the caller may list. */
export async function allowed(ctx: Ctx, searched: readonly SearchableResource[]): Promise<SearchableResource[]> {
  const verdicts = await Promise.all(searched.map(({ search }) => may(ctx, search.needs)));
  return searched.filter((_, i) => verdicts[i]);
}

/** Whether the role has the capability and no policy takes it away. */
export const may = async (ctx: Ctx, capability: Capability) =>
  ctx.actor.capabilities.has(capability) && (await denyingPolicy(ctx, capability)) === null;

/** Below the name of a route stands its upstream; below the others' stands another name. */
export const namesOnly = (ctx: Ctx, { type }: Document, { search }: SearchableResource) =>
  type === 'route' && seesNamesOnly(ctx.actor.capabilities, search.needs);
/** Found by its name, not by what it is set to: an upstream that finds its route would be told. */
const named = ({ title }: Document, text: string) => title.toLowerCase().includes(text.toLowerCase());

type Hit = Found & { resource: SearchableResource };

const asFound = (row: Document, resource: SearchableResource, ctx: Ctx, home: string): Hit => ({
  resource,
  id: row.ref_id,
  title: row.title,
  subtitle: namesOnly(ctx, row, resource) ? null : row.subtitle,
  url: `${home}${resource.search.page(row.ref_id)}`,
  badges: row.badges,
  score: Math.round(row.score * 1000) / 1000,
  space: spaceOf(ctx.sandbox),
});

/** By type, the type of the best find first. What came first, the caller's own space, stays first. */
function grouped(hits: Hit[], order: readonly SearchableResource[]) {
  const own = hits[0]?.space;
  const best = (items: Found[]) => Math.max(...items.map(({ score, space }) => score - (space === own ? 0 : 1)));
  return [...Map.groupBy(hits, ({ resource }) => resource)]
    .map(([resource, found]) => ({ resource, items: found.map(({ resource: _, ...item }) => item) }))
    .sort((a, b) => best(b.items) - best(a.items) || order.indexOf(a.resource) - order.indexOf(b.resource))
    .map(({ resource: { type }, items }) => ({ type, items }));
}
