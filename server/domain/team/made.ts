import { type Ctx, type Space, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import type { Family, Made } from '#server/kernel/family.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';

// The register of what a person made here that acts by itself. Families declare it (`made` of their descriptors); removing a member, a change of role, the
// directory and the mail to the Owners read it here and nowhere else.

/** One thing that somebody made, or that a credential made which they had made. */
export type MadeThing = {
  kind: string;
  /** What people call one of its kind. */
  label: string;
  id: string;
  name: string;
  space: Space;
  /** The key, client or SCIM credential of theirs that made it; null when they made it themselves. */
  through: string | null;
  /** What `revoke` does to it: a credential is revoked, what only runs is turned off; null for what is only listed. */
  ends: 'revoke' | 'disable' | null;
  /** Whether the caller may end it: somebody who leaves ends no more than their role may end. */
  may_end: boolean;
  last_used_at: Date | null;
};

/** Of one kind: a thousand tokens are one decision, not a thousand lines. */
const MOST_SHOWN = 200;

const entriesOf = (families: readonly Family[], { sandbox }: Pick<Ctx, 'sandbox'>): readonly Made[] =>
  families.flatMap(({ made = [] }) => made).filter(({ scope }) => scope !== 'workspace' || !sandbox);

/** The names of the kinds that can be ended. */
const kindsOf = (families: readonly Family[]): readonly string[] =>
  families.flatMap(({ made = [] }) => made.flatMap(({ type, end }) => (end ? [type] : [])));

/** What these makers (`makersOf`) made in this space, and in Live for the whole workspace, that still acts. */
export async function madeBy(tx: Tx, ctx: Ctx, makers: Makers, families: readonly Family[]): Promise<MadeThing[]> {
  const things: MadeThing[] = [];
  for (const entry of entriesOf(families, ctx)) {
    const rows = await tx.$queryRawUnsafe<{ id: string; name: string | null; made_by: string | null; last_used_at: Date | null }[]>(
      `select r.id, (${entry.name})::text as name, r.made_by, (select u.last_used_at from credential_usage u where u.id = r.id) as last_used_at
       ${working(entry)} order by r.id limit ${MOST_SHOWN}`,
      ...bound(ctx, makers),
    );
    for (const { id, name, made_by, last_used_at } of rows)
      things.push({
        ...{ kind: entry.type, label: entry.label[0], id, name: name ?? entry.label[0], last_used_at },
        space: spaceOf(ctx.sandbox),
        through: made_by === null ? null : (makers.get(made_by) ?? null),
        ends: entry.end?.action ?? null,
        may_end: mayEnd(ctx, makers, entry),
      });
  }
  return things;
}

/** Ends everything of these kinds that the person and the other makers made here. @returns an audit entry for each, which the caller writes */
export async function endMade(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  { makers, kinds, families }: { makers: Makers; kinds: ReadonlySet<string>; families: readonly Family[] },
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (const entry of entriesOf(families, ctx)) {
    const { end } = entry;
    if (!end || !kinds.has(entry.type)) continue;
    const { type, id } = entry.resource ?? { type: entry.type, id: 'r.id' };
    const rows = await tx.$queryRawUnsafe<{ id: string; resource_id: string; name: string | null }[]>(
      `update ${entry.table} r set ${end.set} where r.id in (select r.id ${working(entry)} for update of r)
       returning r.id, (${id})::text as resource_id, (${entry.name})::text as name`,
      ...bound(ctx, makers),
    );
    await entry.ended?.(
      tx,
      ctx,
      rows.map((row) => row.id),
    );
    for (const row of rows)
      entries.push({
        action: end.action,
        resource_type: type,
        resource_id: row.resource_id,
        ...(row.name === null ? {} : { name: row.name }),
        details: { via: 'member_removed', member: userId, ...(entry.resource ? { [entry.type]: row.id } : {}) },
        ...(entry.scope === 'workspace' ? { workspace_level: true } : {}),
      });
  }
  return entries;
}

/** What `revoke` names. @throws Refusal validation_error for an unknown kind */
export function kindsNamed(revoke: true | readonly string[] | undefined, families: readonly Family[]): ReadonlySet<string> {
  const known = kindsOf(families);
  if (revoke === true) return new Set(known);
  const unknown = revoke?.find((kind) => !known.includes(kind));
  if (unknown !== undefined) throw invalid('revoke', `${unknown} is not one of ${[...known].sort().join(', ')}`);
  return new Set(revoke);
}

/** Somebody who leaves ends what they may end as a member: what they made with a role they no longer have is an Owner's to end. */
const mayEnd = ({ actor }: Ctx, makers: Makers, { end }: Made): boolean =>
  end !== undefined && (actor.id === null || !makers.has(actor.id) || actor.capabilities.has(end.needs));

/** @throws Refusal role_denied for a kind that the caller may not end */
export function assertMayEnd(ctx: Ctx, made: readonly MadeThing[], kinds: ReadonlySet<string>, families: readonly Family[]): void {
  const present = new Set(made.filter(({ kind, may_end }) => kinds.has(kind) && !may_end).map(({ kind }) => kind));
  const denied = entriesOf(families, ctx).filter(({ type, end }) => end && present.has(type));
  if (denied.length === 0) return;
  const names = new Intl.ListFormat('en').format(denied.map(({ label }) => label[1]));
  throw new Refusal(
    'role_denied',
    `Your role can't end ${names}. Leave these kinds out of \`revoke\`, or ask an Owner to remove you and revoke them.`,
  );
}

/** The person, and what makes things for them, with the name of each. */
export type Makers = ReadonlyMap<string, string | null>;

/**
 * The person, and every key, OAuth client and SCIM credential that goes back to them: a client that mints keys acts for whoever made the client, and for
 * whoever made a secret or trust binding of it. Credentials that have ended are among them, because what they made may still act. Call it before
 * anything ends, once for each space: the members of the workspace are locked meanwhile.
 */
export async function makersOf(tx: Tx, ctx: Ctx, userId: string): Promise<Makers> {
  const rows = await tx.$queryRaw<{ id: string; name: string | null }[]>`
    with recursive makers(id, name) as (
      select ${userId}::uuid, null::text
      union
      select x.id, x.name from makers m cross join lateral (
        select k.id, k.name from api_keys k where k.tenant_id = ${ctx.tenant_id}::uuid and k.sandbox = ${ctx.sandbox} and k.made_by = m.id
        union all
        select c.id, c.name from oauth_clients c left join api_keys k on k.id = c.source_api_key_id
          where c.tenant_id = ${ctx.tenant_id}::uuid and c.sandbox = ${ctx.sandbox} and coalesce(k.id, c.made_by) = m.id
        union all
        select c.id, c.name from oauth_client_secrets p join oauth_clients c on c.id = p.client_row_id
          where p.tenant_id = ${ctx.tenant_id}::uuid and p.sandbox = ${ctx.sandbox} and p.made_by = m.id
        union all
        select c.id, c.name from oauth_trust_bindings b join oauth_clients c on c.id = b.client_row_id
          where b.tenant_id = ${ctx.tenant_id}::uuid and b.sandbox = ${ctx.sandbox} and b.made_by = m.id
        union all
        select s.id, s.name from scim_credentials s where s.tenant_id = ${ctx.tenant_id}::uuid and s.made_by = m.id
      ) x
    )
    select id::text, name from makers`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const bound = (ctx: Ctx, makers: Makers): unknown[] => [ctx.tenant_id, [...makers.keys()], ctx.now, ctx.sandbox];

/** `$4`, the space, is read in both forms, so that PostgreSQL knows its type. */
const working = ({ table, works, by = 'r.made_by = any($2::uuid[])', scope }: Made): string =>
  `from ${table} r where r.tenant_id = $1::uuid and ${scope === 'workspace' ? '($4::boolean is not null)' : 'r.sandbox = $4::boolean'}
   and ($3::timestamptz is not null) and ($2::uuid[] is not null) and (${by}) and (${works})`;
