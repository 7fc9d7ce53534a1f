import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { adds, type Looser, loosened, raised, turnedOn } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { type CreateRole, DEFAULT_TTL, MOST_ROLES, type UpdateRole } from './schema.ts';
import { lockedRoot, type RoleRow, roleByRef, rootByRef } from './store.ts';

type Ref = { name: string; role: string };

/** The roles of a root by name. @throws Refusal not_found */
export const listRoles = (ctx: Ctx, { name }: { name: string }) =>
  read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    return tx.pki_roles.findMany({ where: { ...own(ctx), ca_root_id: root.id }, orderBy: { name: 'asc' } }).then(asShown);
  });

/** @throws Refusal not_found */
export const getRole = (ctx: Ctx, { name, role }: Ref) =>
  read(ctx, async (tx) => shownRole(await roleByRef(tx, ctx, (await rootByRef(tx, ctx, name)).id, role)));

/** @throws Refusal not_found, conflict when the name is taken, plan_limit beyond the roles that a root may have */
export const createRole = (ctx: Ctx, { name, role_name, ...input }: z.output<typeof CreateRole>) =>
  mutate(ctx, async (tx) => {
    const root = await lockedRoot(tx, ctx, name);
    const there = await tx.pki_roles.count({ where: { ...own(ctx), ca_root_id: root.id } });
    if (there >= MOST_ROLES) throw new Refusal('plan_limit', `A root has at most ${MOST_ROLES} roles. Delete one that is no longer used.`);
    const role = await tx.pki_roles
      .create({
        data: {
          ...{ default_ttl_seconds: Math.min(DEFAULT_TTL, input.max_ttl_seconds), ...own(ctx), ...input },
          id: newId(),
          ca_root_id: root.id,
          name: role_name,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('A role with this name already exists.'));
    if (role.allowed_domains.length === 0)
      ctx.warnings.push(`The role ${role.name} allows no names yet. Add the domains that it may issue for to allowed_domains.`);
    const { allowed_domains, allow_subdomains, allow_wildcards, allow_ip_sans, max_ttl_seconds } = role;
    return audited(shownRole(role), {
      ...entryOf(role, root.name, 'create'),
      details: { root: root.name, allowed_domains, allow_subdomains, allow_wildcards, allow_ip_sans, max_ttl_seconds },
    });
  });

/** Which changes let a role issue for more names, or for longer. */
export const ROLE_PROTECTIONS: Looser<Omit<z.output<typeof UpdateRole>, keyof Ref>> = {
  allowed_domains: adds,
  allow_subdomains: turnedOn,
  allow_wildcards: turnedOn,
  allow_ip_sans: turnedOn,
  default_ttl_seconds: 'harmless',
  max_ttl_seconds: raised,
  key_algorithm: 'harmless',
};

/** What a role allows from now on; certificates that were issued stay as they are. @throws Refusal not_found, validation_error */
export const updateRole = (ctx: Ctx, { name, role, ...input }: z.output<typeof UpdateRole>) =>
  mutate(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const before = await lockedRole(tx, ctx, { name, role });
    const { default_ttl_seconds = before.default_ttl_seconds, max_ttl_seconds = before.max_ttl_seconds } = input;
    if (default_ttl_seconds > max_ttl_seconds)
      throw invalid(
        input.default_ttl_seconds === undefined ? 'max_ttl_seconds' : 'default_ttl_seconds',
        `default_ttl_seconds (${default_ttl_seconds}) must be at most max_ttl_seconds (${max_ttl_seconds})`,
      );
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, ROLE_PROTECTIONS));
    const after = await tx.pki_roles.update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } });
    return audited(shownRole(after), {
      ...entryOf(after, root.name, 'update'),
      changes: changesOf(before, after, Object.keys(input)),
      details: { root: root.name },
    });
  });

/** Keys issue by the name of a role, and a new one of the same name may allow more: one that issued nothing is nobody's guard. @throws Refusal not_found, step_up_required */
export const deleteRole = (ctx: Ctx, { name, role }: Ref) =>
  mutate(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const row = await lockedRole(tx, ctx, { name, role });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, row.allowed_domains.length > 0 ? ['role'] : []);
    await tx.pki_roles.delete({ where: { id: row.id, ...own(ctx) }, select: { id: true } });
    return audited({ deleted: true as const }, { ...entryOf(row, root.name, 'delete'), details: { root: root.name } });
  });

/** Holds the row until the transaction ends. @throws Refusal not_found */
export async function lockedRole(tx: Tx, ctx: Ctx, { name, role }: Ref): Promise<RoleRow> {
  const { id: rootId } = await rootByRef(tx, ctx, name);
  const { id } = await roleByRef(tx, ctx, rootId, role);
  await tx.$queryRaw`select 1 from pki_roles where id = ${id}::uuid for no key update`;
  return roleByRef(tx, ctx, rootId, id);
}

const entryOf = ({ id, name }: RoleRow, root: string, action: 'create' | 'update' | 'delete') => ({
  action,
  resource_type: 'pki_role',
  resource_id: id,
  name: `${root}/${name}`,
});

/** The database has text where the wire has one of a few words. */
const shownRole = (role: RoleRow) => ({ ...role, key_algorithm: role.key_algorithm as 'ecdsa-p256' });
const asShown = (roles: RoleRow[]) => roles.map(shownRole);
