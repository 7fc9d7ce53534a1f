import { MOST_DEFAULT_CLIENTS, MOST_EXPECTED } from '#server/domain/collections/schema.ts';
import { bumpMembers, routesAimedBy } from '#server/domain/collections/service.ts';
import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import { confirmVariables } from '#server/domain/routes/retargeting/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { entryFor } from '../audit-entries.ts';
import { addStep, type Change, changesBetween, type PlanBuilder, type Step, stepOf, there } from '../plan-builder.ts';
import type { CollectionRow } from '../rows.ts';

/** Collections are matched by slug, which is written once. What only the other space has in them stays: variables, clients, environments. */
export function planCollections(builder: PlanBuilder): void {
  for (const row of builder.source.collections.values()) {
    const match = builder.target.collections.find((one) => one.slug === row.slug) ?? null;
    const namesake = builder.target.collections.find((one) => one.name === row.name && one.slug !== row.slug);
    const needs = [
      ...row.variables.flatMap((v) => (v.secret_id ? [v.secret_id] : [])),
      ...row.defaults.flatMap((d) => d.default_client_ids),
      ...[...row.expected_environments, ...row.defaults.map((d) => d.environment_name)].flatMap(
        (name) => builder.source.environments.get(name)?.id ?? [],
      ),
    ];
    addStep(
      builder,
      stepOf(builder, 'collection', row, match, {
        slug: row.slug,
        needs,
        changes: match ? changesOf(builder, match, row) : [],
        conflict: namesake
          ? `${there(builder.to)} has a collection with this name and the slug ${namesake.slug}.`
          : match && unfit(builder, match, row),
        version: [row.variables.map((v) => v.updated_at), match?.variables.map((v) => v.updated_at)],
      }),
    );
  }
}

/** What the two together must not be. */
function unfit(builder: PlanBuilder, match: CollectionRow, row: CollectionRow): string | undefined {
  if (!builder.source.picked.has(row.id)) return undefined;
  const to = there(builder.to);
  const url = builder.target.inUrls.get(match.id);
  if (url) return `Variable ${url.key} would become a secret, but upstream URLs in ${to} use it: ${url.users}.`;
  if (new Set([...match.expected_environments, ...row.expected_environments]).size > MOST_EXPECTED)
    return `Would expect more than ${MOST_EXPECTED} environments in ${to}.`;
  const crowded = row.defaults.find((d) => {
    const held = match.defaults.find((one) => one.environment_name === d.environment_name)?.default_client_ids ?? [];
    return new Set([...held, ...d.default_client_ids.map((id) => counterpartOf(builder, id) ?? id)]).size > MOST_DEFAULT_CLIENTS;
  });
  return crowded && `Would have more than ${MOST_DEFAULT_CLIENTS} default clients in ${crowded.environment_name} of ${to}.`;
}

function changesOf(builder: PlanBuilder, match: CollectionRow, row: CollectionRow): Change[] {
  const facts = ({ name, description, color, icon }: CollectionRow) => ({ name, description, color, icon });
  const expected = { expected_environments: match.expected_environments };
  const variables = (one: CollectionRow, side: 'source' | 'target') =>
    Object.fromEntries(
      one.variables.map((v) => [variableField(v.key), v.type === 'value' ? v.value : secretName(builder, v.secret_id, side)]),
    );
  return [
    ...changesBetween(facts(match), facts(row)),
    ...changesBetween(expected, { expected_environments: [...new Set([...match.expected_environments, ...row.expected_environments])] }),
    ...changesBetween(variables(match, 'target'), variables(row, 'source')),
    ...row.defaults.flatMap((d): Change[] => {
      const mine = match.defaults.find((one) => one.environment_name === d.environment_name);
      const added = d.default_client_ids.filter((id) => !mine?.default_client_ids.includes(counterpartOf(builder, id) ?? ''));
      const url =
        (mine?.base_url ?? null) === d.base_url
          ? []
          : [{ field: 'base_url', environment: d.environment_name, from: mine?.base_url ?? null, to: d.base_url }];
      const names = added.map((id) => builder.source.clients.get(id)?.name ?? id);
      return [...url, ...(names.length > 0 ? [{ field: 'default_clients', environment: d.environment_name, from: null, to: names }] : [])];
    }),
  ];
}

/** What a change of a variable is called in the plan. */
export const variableField = (key: string) => `variable ${key}`;

const secretName = ({ source, target }: PlanBuilder, id: string | null, side: 'source' | 'target'): string | null => {
  const found = side === 'source' ? source.secrets.get(id ?? '') : target.secrets.find((one) => one.id === id);
  return found ? `{{secret:${found.name}}}` : id;
};

/** Clients are judged after collections: theirs is looked up the way they will be. */
const counterpartOf = ({ source, target }: PlanBuilder, id: string): string | undefined => {
  const client = source.clients.get(id);
  const same = target.clients.filter((one) => one.name === client?.name);
  return (same.find((one) => one.ip_address === client?.ip_address) ?? (same.length === 1 ? same[0] : undefined))?.id;
};

/** The rows alone: what they refer to is made after them. */
export async function applyCollections(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    const row = builder.source.collections.get(step.id) as CollectionRow;
    const { name, slug, description, color, icon } = row;
    const kept = builder.target.collections.find((one) => one.id === step.there)?.expected_environments ?? [];
    const data = {
      ...{ name, description, color, icon, updated_at: ctx.now },
      expected_environments: [...new Set([...kept, ...row.expected_environments])],
    };
    if (step.exists) await tx.collections.update({ where: { id: step.there, ...own(ctx) }, data, select: { id: true } });
    else await tx.collections.create({ data: { ...own(ctx), ...data, id: step.there, slug, created_at: ctx.now }, select: { id: true } });
  }
}

/** Variables and defaults, once secrets and clients are there. */
export async function fillCollections(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[], run: string): Promise<AuditEntry[]> {
  const id = (source: string) => builder.steps.get(source)?.there ?? source;
  for (const step of steps) {
    const row = builder.source.collections.get(step.id) as CollectionRow;
    const held = builder.target.collections.find((one) => one.id === step.there);
    const had = new Map(held?.variables.map((one) => [one.key, one.secret_id]));
    const others = row.variables.flatMap(({ key, secret_id }) => (secret_id && had.get(key) !== id(secret_id) ? [id(secret_id)] : []));
    await assertUsesSecrets(ctx, others, 'a variable');
    if (held) await confirmValues(tx, ctx, held, row);
    for (const { key, type, value, description, secret_id } of row.variables) {
      const data = { type, value, description, secret_id: secret_id && id(secret_id), updated_at: ctx.now };
      const mine = held?.variables.find((one) => one.key === key);
      const variableId = mine?.id ?? newId();
      if (mine) await tx.collection_variables.update({ where: { id: mine.id, ...own(ctx) }, data, select: { id: true } });
      else
        await tx.collection_variables.create({
          data: { ...own(ctx), ...data, id: variableId, key, collection_id: step.there, created_at: ctx.now },
          select: { id: true },
        });
      await referTo(tx, ctx, variableId, data.secret_id);
    }
    for (const { environment_name, base_url, default_client_ids } of row.defaults) {
      const mine = held?.defaults.find((one) => one.environment_name === environment_name);
      const place = { ...own(ctx), collection_id: step.there, environment_name };
      const clients = [...new Set([...(mine?.default_client_ids ?? []), ...default_client_ids.map(id)])];
      if (mine) await tx.collection_environment_defaults.updateMany({ where: place, data: { base_url, default_client_ids: clients } });
      else await tx.collection_environment_defaults.createMany({ data: [{ ...place, base_url, default_client_ids: clients }] });
    }
    if (held) await bumpMembers(tx, ctx, step.there);
  }
  return steps.map((step) => withoutValues(entryFor(step, run, { slug: step.slug })));
}

/** Routes that are there already call by these values. @throws Refusal role_denied, mfa_required, step_up_required */
async function confirmValues(tx: Tx, ctx: Ctx, held: CollectionRow, coming: CollectionRow): Promise<void> {
  const kept = new Map(held.variables.map((one) => [one.key, one.value]));
  const values = new Map(
    coming.variables.flatMap(({ key, value }) =>
      value !== null && kept.has(key) && kept.get(key) !== value ? [[key, value] as const] : [],
    ),
  );
  await confirmVariables(tx, ctx, await routesAimedBy(tx, ctx, held, [...values.keys()]), { collection_id: held.id, values });
}

/** A secret behind a variable is in use. */
async function referTo(tx: Tx, ctx: Ctx, variableId: string, secretId: string | null): Promise<void> {
  const place = { ...own(ctx), kind: 'collection_variable', referrer_id: variableId };
  await tx.secret_references.deleteMany({ where: place });
  if (secretId)
    await tx.secret_references.createMany({ data: [{ ...place, id: newId(), secret_id: secretId, field_path: 'secret_id', by: 'id' }] });
}

/** That a variable changed stands in the trail, as its own verb writes it; what it says does not. */
const withoutValues = (entry: AuditEntry): AuditEntry => ({
  ...entry,
  ...(entry.changes
    ? { changes: entry.changes.map((c) => (c.field.startsWith(variableField('')) ? { field: c.field, changed: true as const } : c)) }
    : {}),
});
