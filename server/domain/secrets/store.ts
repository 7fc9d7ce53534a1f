import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { ConnectionStatus } from '#server/kernel/oauth2-providers.ts';
import { advanceClock } from '#server/kernel/precondition.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { type Condition, countBy, inCollection } from '#server/platform/lists/sql.ts';
import { type Link, linksOf } from './links.ts';
import { referenceCounts, shareCounts } from './references.ts';
import { type CertificateFacts, type ListSecrets, normalisedName, type Secret } from './schema.ts';

export type SecretType = z.output<typeof Secret>['secret_type'];
type Query = z.output<typeof ListSecrets>;
type Row = Prisma.secretsGetPayload<Record<string, never>>;

const DAY = 86_400_000;

/** One page of secrets, with their environments, and the true total. */
export async function findPage(tx: Tx, ctx: Ctx, query: Query) {
  const { secret_type, collection_id, expiring_within_days, q, ...asked } = query;
  const { ids, total } = await listIds(tx, ctx, {
    ...asked,
    table: 'secrets',
    filters: [
      secret_type !== undefined && { column: 'secret_type', is: secret_type, mostly: 'string' },
      collection_id !== undefined && inCollection(collection_id),
      expiring_within_days !== undefined && endsBy(new Date(ctx.now.getTime() + expiring_within_days * DAY)),
    ],
    q: q && normalisedName(q),
  });
  const rows = await tx.secrets.findMany({ where: { ...own(ctx), id: { in: ids } } });
  return { rows: inOrder(ids, await withEnvironments(tx, ctx, rows)), total };
}

/** @throws Refusal not_found */
export async function secretById(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const row = isUuid(id) ? await tx.secrets.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/**
 * The secret under a row lock: writers of one secret queue up here, readers and new references do not wait. `for: 'delete'` makes new
 * references wait too, so that none slips in behind the in-use check. @throws Refusal not_found
 */
export async function lockedSecret(tx: Tx, ctx: Ctx, id: string, lock: { for: 'change' | 'delete' }): Promise<Row> {
  if (!isUuid(id)) throw notFound();
  if (lock.for === 'delete')
    await tx.$queryRaw`select 1 from secrets where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  else await tx.$queryRaw`select 1 from secrets where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  const row = await secretById(tx, ctx, id);
  advanceClock(ctx, row);
  return row;
}

/** Rows with what the wire adds to them: environments holding a value, and when the reminder is due. */
export async function withEnvironments(tx: Tx, ctx: Ctx, rows: Row[]) {
  const environments = await tx.secret_environments.findMany({
    where: { ...own(ctx), secret_id: { in: rows.map((r) => r.id) } },
    orderBy: { environment_name: 'asc' },
    select: {
      secret_id: true,
      environment_name: true,
      value_version: true,
      updated_at: true,
      expires_at_override: true,
      current_value_id: true,
      oauth2_status: true,
      oauth2_expires_at: true,
      oauth2_error: true,
      cert_metadata: true,
    },
  });
  const reminded = new Set(rows.flatMap((r) => (r.rotate_every_days === null ? [] : [r.id])));
  const current = environments.flatMap((e) => (reminded.has(e.secret_id) && e.current_value_id ? [e.current_value_id] : []));
  const written =
    current.length === 0
      ? []
      : await tx.secret_values.findMany({ where: { ...own(ctx), id: { in: current } }, select: { id: true, created_at: true } });
  const writtenAt = new Map(written.map((v) => [v.id, v.created_at.getTime()]));
  const bySecret = Map.groupBy(environments, (e) => e.secret_id);
  const references = await referenceCounts(
    tx,
    ctx,
    rows.map((r) => r.id),
  );
  const links = await linksOf(
    tx,
    ctx,
    rows.flatMap((r) => (r.linked_share_id === null ? [] : [r.id])),
  );
  const shares = await shareCounts(tx, ctx, rows);
  return rows.map((row) => {
    const link = links.get(row.id);
    const held = link ? heldBy(link) : (bySecret.get(row.id) ?? []);
    const times = held.flatMap((e) => writtenAt.get(e.current_value_id ?? '') ?? []);
    return {
      ...row,
      secret_type: row.secret_type as SecretType,
      connection_status: (held.find((e) => e.environment_name === row.base_environment)?.oauth2_status ?? null) as ConnectionStatus | null,
      allowed_hosts: row.allowed_hosts as string[] | null,
      escrow: row.is_escrow,
      ...(link ? linkedFields(link) : { shared: null }),
      share_count: shares.get(row.id) ?? 0,
      environments: held.map(environmentShape),
      environment_count: held.length,
      environment_names: held.map((e) => e.environment_name),
      reference_count: references.get(row.id) ?? 0,
      rotation_due_at:
        row.rotate_every_days === null || times.length === 0 ? null : new Date(Math.min(...times) + row.rotate_every_days * DAY),
    };
  });
}

type StoredEnvironment = Pick<
  Prisma.secret_environmentsGetPayload<object>,
  | 'environment_name'
  | 'value_version'
  | 'updated_at'
  | 'expires_at_override'
  | 'oauth2_status'
  | 'oauth2_expires_at'
  | 'oauth2_error'
  | 'cert_metadata'
>;

/** An environment of a secret as the wire has it. */
export const environmentShape = ({ oauth2_status, oauth2_expires_at, oauth2_error, cert_metadata, ...row }: StoredEnvironment) => ({
  ...row,
  connection_status: oauth2_status as ConnectionStatus | null,
  token_expires_at: oauth2_expires_at,
  connection_error: oauth2_error,
  certificate: cert_metadata as z.output<typeof CertificateFacts> | null,
});

/** A linked secret has the one environment of its share, as long as the share holds. */
const heldBy = ({ environment, value_version, value_updated_at }: Link) =>
  environment !== null && value_version !== null && value_updated_at !== null
    ? [
        {
          environment_name: environment,
          value_version,
          updated_at: value_updated_at,
          expires_at_override: null,
          current_value_id: null,
          oauth2_status: null,
          oauth2_expires_at: null,
          oauth2_error: null,
          cert_metadata: null,
        },
      ]
    : [];

/** What of a linked secret is not its own: the owner's expiry and strictness, the pins of the share, and the share itself. */
const linkedFields = (link: Link) => ({
  base_environment: link.value_version === null ? null : link.environment,
  expires_at: link.value_expires_at,
  strict_expiry_enforcement: link.strict ?? false,
  allowed_hosts: link.allowed_hosts,
  shared: {
    share_id: link.share_id,
    owner_workspace: link.owner_workspace,
    access_level: link.access_level,
    allowed_hosts: link.allowed_hosts,
    environment: link.environment,
    status: link.state,
    expires_at: link.share_expires_at,
  },
});

/** An override stands in for the secret's own date, so the secret's date counts only where some environment has none. */
const endsBy = (until: Date): Condition => {
  // Few secrets have overrides: those that have are looked at more closely, and the others not at all.
  const ownDate = (end: string, own: string) => `expires_at <= ${end} and not (
    id in (select secret_id from secret_environments where ${own} and expires_at_override is not null)
    and not exists (select from secret_environments e where e.secret_id = secrets.id and e.expires_at_override is null))`;
  const override = (end: string, own: string) => `select secret_id from secret_environments where ${own} and expires_at_override <= ${end}`;
  const ids: Condition['ids'] = (bind, own) => {
    const end = bind(until, 'timestamptz');
    return `select id from secrets where ${own} and ${ownDate(end, own)} union ${override(end, own)}`;
  };
  return {
    ids,
    count: countBy((bind, own) => `select count(*) from (${ids(bind, own)}) s`),
    where: (bind, own) => {
      const end = bind(until, 'timestamptz');
      return `(${ownDate(end, own)} or id in (${override(end, own)}))`;
    },
  };
};

/** A wrap credential is one in the audit log as well, whichever endpoint changes it (interface rule 33 §10). */
export const auditedType = ({ is_escrow }: { is_escrow: boolean }): 'secret' | 'wrap_credential' =>
  is_escrow ? 'wrap_credential' : 'secret';
