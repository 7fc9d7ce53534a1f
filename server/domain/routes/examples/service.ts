import type { z } from 'zod';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { containsCredential } from '#server/kernel/credential-patterns.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';
import { lockRoute, routeByRef, type StoredRoute } from '../store.ts';
import { carriesCredential } from '../trial/credential-headers.shared.ts';
import type { ReplaceExample, RouteExample, SaveExample } from './schema.ts';

/** As many as a page shows and a person runs. */
const MOST = 50;

/** The saved examples of a route, by name. */
export const listExamples = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => {
    const route = await routeByRef(tx, ctx, input.id);
    return (await tx.route_examples.findMany({ where: { ...own(ctx), route_id: route.id }, orderBy: { name: 'asc' } })).map(shown);
  });

/** @throws Refusal conflict when the name is taken or the route has fifty, validation_error for what looks like a credential */
export function saveExample(ctx: Ctx, { id, ...input }: z.output<typeof SaveExample>) {
  refuseCredentials(input);
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    if ((await tx.route_examples.count({ where: { ...own(ctx), route_id: route.id } })) >= MOST)
      throw new Refusal('conflict', `A route can have at most ${MOST} examples. Delete one first.`);
    const row = await tx.route_examples
      .create({ data: { ...input, ...own(ctx), id: newId(), route_id: route.id, created_at: ctx.now, updated_at: ctx.now } })
      .catch(onUnique('This route already has an example with this name.'));
    return audited(shown(row), entry(route, row.name, 'example.create'));
  });
}

/** Replaces the whole. @throws Refusal not_found, conflict, validation_error */
export function replaceExample(ctx: Ctx, { id, exampleId, ...input }: z.output<typeof ReplaceExample>) {
  refuseCredentials(input);
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const { id: own_id } = await exampleById(tx, ctx, route.id, exampleId);
    const row = await tx.route_examples
      .update({ where: { id: own_id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } })
      .catch(onUnique('This route already has an example with this name.'));
    return audited(shown(row), entry(route, row.name, 'example.update'));
  });
}

/** @throws Refusal not_found */
export function deleteExample(ctx: Ctx, input: { id: string; exampleId: string }) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, input.id);
    const { id, name } = await exampleById(tx, ctx, route.id, input.exampleId);
    await tx.route_examples.delete({ where: { id, ...own(ctx) } });
    return audited({ deleted: true as const }, entry(route, name, 'example.delete'));
  });
}

type Shown = Pick<z.output<typeof RouteExample>, 'method' | 'headers' | 'assertions'>;
/** The three columns are written by this file only, from the schema. */
const shown = <Row extends object>(row: Row) => row as Omit<Row, keyof Shown> & Shown;

/** An example of another route is none of this one. */
async function exampleById(tx: Tx, ctx: Ctx, route_id: string, id: string) {
  const row = isUuid(id) ? await tx.route_examples.findFirst({ where: { ...own(ctx), route_id, id } }) : null;
  if (!row) throw notFound();
  return row;
}

type Request = Pick<z.output<typeof SaveExample>, 'path' | 'headers' | 'body'>;

/** Everybody who may test the route reads its examples. @throws Refusal validation_error naming the field */
function refuseCredentials({ path, headers, body }: Request): void {
  const at = headers.findIndex(({ name, value }) => value !== '' && carriesCredential(name));
  if (at >= 0)
    throw invalid(
      `headers.${at}.value`,
      `${headers[at]?.name} contains a credential, which examples can't store; inject a secret with the route instead`,
    );
  for (const [name, value] of new URLSearchParams(/\?(.*)$/s.exec(path)?.[1]))
    if (value !== '' && carriesCredential(trimEnd(name, ']').replaceAll(/[_[.]/g, '-')))
      throw invalid('path', `${name} contains a credential, which examples can't store; inject a secret with the route instead`);
  const parts = { path: `${path}\n${decoded(path)}`, headers: headers.map(({ value }) => value).join('\n'), body };
  for (const [field, text] of Object.entries(parts))
    if (containsCredential(text))
      throw invalid(field, "looks like a credential, which examples can't store; inject a secret with the route instead");
}

/** What a server would read of it. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll('+', ' '));
  } catch {
    return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}

const entry = ({ id, name }: StoredRoute, example: string, change: string): AuditEntry => ({
  action: 'update',
  resource_type: 'route',
  resource_id: id,
  name,
  details: { change, example },
});
