import type { z } from 'zod';
import { denyingPolicy } from '#server/domain/policies/service.ts';
import { type Capability, seesNamesOnly } from '#server/kernel/capabilities.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { type Action, actionsLike, DEEDS } from './actions.ts';
import { type Found, SEARCH_TYPES, type SearchAnswer, type SearchQuery, type SearchType } from './schema.ts';
import { clientsAt, type Document, documentOf, documentsLike, rangeOf, requestOf } from './store.ts';

/** What a caller must hold to find things of a type: what listing them takes. */
export const NEEDS: Readonly<Record<SearchType, Capability>> = {
  route: 'route:list',
  secret: 'secret:read',
  client: 'client:read',
  collection: 'collection:list',
  environment: 'environment:list',
  api_key: 'api_key:list',
  request: 'log:list',
};

/** A credential's start is all that is ever looked for, whoever sent the rest (interface rule 70 §10). */
const CREDENTIAL = /^(?:tk_|svc|ses_|AKE|sk[_-]|pk_|rk_|gh[pousr]_|github_|xox|AKIA|ASIA|AIza|whsec_|eyJ|-----BEGIN)/;
const CREDENTIAL_START = 8;
/** Of a pasted address only the host says something about routes. */
const HOST_OF_URL = /^https?:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;

/** Everything found for a text in both spaces, the caller's own first, as far as its role and the policies let it list (interface rule 70 §10). */
export async function search(ctx: Ctx, { q, limit, types }: z.output<typeof SearchQuery>): Promise<z.input<typeof SearchAnswer>> {
  const began = performance.now();
  const given = q.trim();
  const text = CREDENTIAL.test(given) ? given.slice(0, CREDENTIAL_START) : (HOST_OF_URL.exec(given)?.[1] ?? given);
  const asked = types ?? SEARCH_TYPES;
  const spaces = [ctx, { ...ctx, sandbox: !ctx.sandbox }];
  const slug = await slugOf(ctx);
  const home = (space: Ctx) => `/${slug}/${spaceOf(space.sandbox)}`;
  const done = (groups: z.input<typeof SearchAnswer>['groups'], actions: z.input<typeof SearchAnswer>['actions']) => ({
    groups,
    actions,
    took_ms: Math.round((performance.now() - began) * 10) / 10,
  });
  if (text.startsWith('>')) return done([], await actions(ctx, text.slice(1).trim(), limit, home(ctx)));
  const inBoth = async (forgive: boolean) =>
    (
      await Promise.all(
        spaces.map(async (space) =>
          (await finds(space, text, await allowed(space, asked), limit, forgive)).map((row) => asFound(row, space, home(space))),
        ),
      )
    ).flat();
  const exact = await inBoth(false);
  return done(grouped(exact.length > 0 ? exact : await inBoth(true)), []);
}

async function finds(ctx: Ctx, text: string, types: readonly SearchType[], limit: number, forgive: boolean): Promise<Document[]> {
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
    return (await documentsLike(tx, text, types, limit, forgive)).filter((row) => !namesOnly(ctx, row) || named(row, text));
  });
}

async function actions(ctx: Ctx, text: string, limit: number, home: string) {
  const possible: Omit<Action, 'needs'>[] = [];
  for (const action of actionsLike(text)) if (await may(ctx, action.needs)) possible.push(action);
  for (const { verb, type, title, needs } of text === '' ? [] : DEEDS) {
    if (!verb.test(text) || !(await may(ctx, needs)) || !(await may(ctx, NEEDS[type]))) continue;
    const named = text.replace(verb, '');
    const rows = named === '' ? [] : await read(ctx, (tx) => documentsLike(tx, named, [type], limit, false));
    possible.push(
      ...rows
        .filter((row) => !row.badges.includes('revoked'))
        .map((row) => ({ id: `${type}-${row.ref_id}`, title: title(row.title), path: PAGES[type](row.ref_id) })),
    );
  }
  return possible.map(({ id, title, path }) => ({ id, title, url: `${home}${path}` }));
}

/** Where the pages of the caller's space hang. */
export const homeOf = async (ctx: Ctx): Promise<string> => `/${await slugOf(ctx)}/${spaceOf(ctx.sandbox)}`;
const slugOf = async (ctx: Ctx): Promise<string> =>
  (await read(ctx, (tx) => tx.tenants.findFirstOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } }))).slug;

/** Of the types those that the caller may list. */
export async function allowed(ctx: Ctx, types: readonly SearchType[]): Promise<SearchType[]> {
  const verdicts = await Promise.all(types.map((type) => may(ctx, NEEDS[type])));
  return types.filter((_, i) => verdicts[i]);
}

/** Whether the role has the capability and no policy takes it away. */
export const may = async (ctx: Ctx, capability: Capability) =>
  ctx.actor.capabilities.has(capability) && (await denyingPolicy(ctx, capability)) === null;

/** Where a thing is shown, below its space. */
export const PAGES: Readonly<Record<SearchType, (id: string) => string>> = {
  route: (id) => `/routes/${id}`,
  secret: (id) => `/secrets/${id}`,
  client: (id) => `/clients/${id}`,
  collection: (id) => `/collections/${id}`,
  environment: (id) => `/environments?edit=${id}`,
  api_key: (id) => `/api-keys?peek=${id}`,
  request: (id) => `/logs?peek=${id}`,
};

/** Below the name of a route stands its upstream; below the others' stands another name. */
export const namesOnly = (ctx: Ctx, { type }: Document) => type === 'route' && seesNamesOnly(ctx.actor.capabilities, NEEDS.route);
/** Found by its name, not by what it is set to: an upstream that finds its route would be told. */
const named = ({ title }: Document, text: string) => title.toLowerCase().includes(text.toLowerCase());

const asFound = (row: Document, ctx: Ctx, home: string): Found & { type: SearchType } => {
  const type = row.type as SearchType;
  return {
    type,
    id: row.ref_id,
    title: row.title,
    subtitle: namesOnly(ctx, row) ? null : row.subtitle,
    url: `${home}${PAGES[type](row.ref_id)}`,
    badges: row.badges,
    score: Math.round(row.score * 1000) / 1000,
    space: spaceOf(ctx.sandbox),
  };
};

/** By type, the type of the best find first. What came first, the caller's own space, stays first. */
function grouped(rows: (Found & { type: SearchType })[]) {
  const own = rows[0]?.space;
  const best = (items: Found[]) => Math.max(...items.map(({ score, space }) => score - (space === own ? 0 : 1)));
  return [...Map.groupBy(rows, ({ type }) => type)]
    .map(([type, items]) => ({ type, items: items.map(({ type: _, ...item }) => item) }))
    .sort((a, b) => best(b.items) - best(a.items) || SEARCH_TYPES.indexOf(a.type) - SEARCH_TYPES.indexOf(b.type));
}
