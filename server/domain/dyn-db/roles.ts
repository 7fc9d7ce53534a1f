import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { changed as isChanged, type Looser, loosened, raised } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { creationProblem, placementProblem, revocationProblem } from './placeholders.shared.ts';
import { assertTtls } from './rules.ts';
import type { CreateDynDbRole, UpdateDynDbRole } from './schema.ts';
import {
  assertNoLiveLeases,
  type ConnectionRow,
  connectionByName,
  liveLeases,
  lockedConnection,
  type RoleRow,
  roleByName,
} from './store.ts';
import { BUILT_IN_TEMPLATES, builtInTemplate } from './templates.shared.ts';

/** Of one connection. */
export const MOST_ROLES = 50;

/** @throws Refusal not_found */
export const listRoles = (ctx: Ctx, { connection }: { connection: string }) =>
  read(ctx, async (tx) => {
    const { id } = await connectionByName(tx, ctx, connection);
    const rows = await tx.dyn_db_roles.findMany({ where: { ...own(ctx), connection_id: id }, orderBy: { name: 'asc' } });
    const leases = await tx.dyn_db_leases.groupBy({
      by: ['role_id'],
      where: { ...own(ctx), connection_id: id, ended_at: null },
      _count: true,
    });
    return rows.map((row) => ({ ...row, live_leases: leases.find(({ role_id }) => role_id === row.id)?._count ?? 0 }));
  });

/** @throws Refusal not_found */
export const getRole = (ctx: Ctx, { connection, role }: { connection: string; role: string }) =>
  read(ctx, async (tx) => {
    const { id: connection_id } = await connectionByName(tx, ctx, connection);
    const row = await roleByName(tx, ctx, connection_id, role);
    return { ...row, live_leases: await liveLeases(tx, ctx, { connection_id, role_id: row.id }) };
  });

export const listTemplates = () =>
  BUILT_IN_TEMPLATES.map(({ name, engine, label, description, creation, revocation }) => ({
    ...{ name, engine, label, description },
    creation_sql: creation,
    revocation_sql: revocation,
  }));

/** @throws Refusal not_found, validation_error, conflict, plan_limit */
export const createRole = (ctx: Ctx, input: z.output<typeof CreateDynDbRole>) =>
  mutate(ctx, async (tx) => {
    const connection = await lockedConnection(tx, ctx, input.connection);
    const ttls = { default_ttl_seconds: input.default_ttl_seconds ?? null, max_ttl_seconds: input.max_ttl_seconds ?? null };
    assertTtls(ttls);
    const statements = statementsOf(connection, input);
    if (connection.execution_mode !== 'iam' && statements.creation_sql_template === undefined)
      throw invalid('template', 'or creation_sql is required');
    assertPlaced(connection, { name: input.name, creation_sql_template: null, revocation_sql_template: null, ...statements });
    if ((await tx.dyn_db_roles.count({ where: { ...own(ctx), connection_id: connection.id } })) >= MOST_ROLES)
      throw new Refusal('plan_limit', `A connection has at most ${MOST_ROLES} roles. Delete one that is no longer used.`);
    const data = { ...own(ctx), ...ttls, ...statements, name: input.name, connection_id: connection.id };
    const row = await tx.dyn_db_roles
      .create({ data: { ...data, id: newId(), created_at: ctx.now, updated_at: ctx.now } })
      .catch(onUnique('A role with this name already exists.'));
    return audited(
      { id: row.id, name: row.name, connection: connection.name },
      {
        action: 'create',
        resource_type: 'dyn_db_role',
        resource_id: row.id,
        name: row.name,
        details: { connection: connection.name, template: row.template, ...ttls },
      },
    );
  });

type Changed = Pick<RoleRow, (typeof FIELDS)[number]>;

/** Which changes let minted users do more, or longer. Nobody can say which of two statements grants less. */
export const ROLE_PROTECTIONS: Looser<Changed> = {
  // Its statements are judged.
  template: 'harmless',
  creation_sql_template: isChanged,
  revocation_sql_template: isChanged,
  default_ttl_seconds: 'harmless',
  max_ttl_seconds: raised,
};

const FIELDS = ['template', 'creation_sql_template', 'revocation_sql_template', 'default_ttl_seconds', 'max_ttl_seconds'] as const;

/** Leases keep the statements that they were minted with. @throws Refusal not_found, validation_error */
export const updateRole = (ctx: Ctx, input: z.output<typeof UpdateDynDbRole>) =>
  mutate(ctx, async (tx) => {
    const connection = await lockedConnection(tx, ctx, input.connection);
    const before = await roleByName(tx, ctx, connection.id, input.role);
    const { default_ttl_seconds, max_ttl_seconds } = input;
    const changed = {
      ...statementsOf(connection, input),
      ...(default_ttl_seconds === undefined ? {} : { default_ttl_seconds }),
      ...(max_ttl_seconds === undefined ? {} : { max_ttl_seconds }),
    };
    assertTtls({ ...before, ...changed });
    assertPlaced(connection, { ...before, ...changed });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened<Changed>(before, changed, ROLE_PROTECTIONS));
    const after = await tx.dyn_db_roles.update({ where: { id: before.id, ...own(ctx) }, data: { ...changed, updated_at: ctx.now } });
    return audited(
      { updated: after.name },
      {
        action: 'update',
        resource_type: 'dyn_db_role',
        resource_id: after.id,
        name: after.name,
        changes: changesOf(before, after, FIELDS).map((change) =>
          change.field.endsWith('_sql_template') ? { field: change.field, changed: true } : change,
        ),
        details: { connection: connection.name },
      },
    );
  });

/** Keys mint by the name of a role, and a new one of the same name may have other statements. @throws Refusal not_found, in_use, step_up_required */
export const deleteRole = (ctx: Ctx, { connection, role }: { connection: string; role: string }) =>
  mutate(ctx, async (tx) => {
    const { id: connection_id, name } = await lockedConnection(tx, ctx, connection);
    const row = await roleByName(tx, ctx, connection_id, role);
    await assertNoLiveLeases(tx, ctx, { connection_id, role_id: row.id });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, row.creation_sql_template === null ? [] : ['role']);
    await tx.dyn_db_roles.delete({ where: { id: row.id, ...own(ctx) } });
    return audited(
      { deleted: true as const, name: row.name },
      { action: 'delete', resource_type: 'dyn_db_role', resource_id: row.id, name: row.name, details: { connection: name } },
    );
  });

/** For the edit that must not overwrite another. @throws Refusal not_found */
export async function lockedRole(tx: Tx, ctx: Ctx, { connection, role }: { connection: string; role: string }) {
  const { id } = await lockedConnection(tx, ctx, connection);
  return roleByName(tx, ctx, id, role);
}

type Given = { template?: string | undefined; creation_sql?: string | undefined; revocation_sql?: string | null | undefined };
type Statements = { template?: string | null; creation_sql_template?: string | null; revocation_sql_template?: string | null };

/** What a body says of the statements, checked; members that it leaves out are absent. */
function statementsOf({ engine, execution_mode }: ConnectionRow, { template, creation_sql, revocation_sql }: Given): Statements {
  if (execution_mode === 'iam')
    for (const [field, value] of Object.entries({ template, creation_sql, revocation_sql }))
      if (value !== undefined && value !== null) throw invalid(field, 'must be left out for connections with execution_mode iam');
  if (template !== undefined && creation_sql !== undefined) throw invalid('creation_sql', 'must be left out when template is given');
  const builtIn = template === undefined ? undefined : builtInTemplate(template, engine);
  if (template !== undefined && !builtIn) throw invalid('template', `is not a built-in template for ${engine}`);
  const problem = creation_sql === undefined ? null : creationProblem(creation_sql, engine);
  if (problem) throw invalid('creation_sql', problem);
  const end = typeof revocation_sql === 'string' ? revocationProblem(revocation_sql, engine) : null;
  if (end) throw invalid('revocation_sql', end);
  return {
    // The engine's own removal fits every template.
    ...(builtIn ? { template: builtIn.name, creation_sql_template: builtIn.creation, revocation_sql_template: null } : {}),
    ...(creation_sql === undefined ? {} : { template: null, creation_sql_template: creation_sql }),
    ...(revocation_sql === undefined ? {} : { revocation_sql_template: revocation_sql }),
  };
}

type Placed = { name: string; creation_sql_template: string | null; revocation_sql_template: string | null };

/** A name with two hyphens outside of quotes would begin a comment; a script without database needs none. */
function assertPlaced({ engine, database_name }: ConnectionRow, role: Placed): void {
  for (const [field, text] of [
    ['creation_sql', role.creation_sql_template],
    ['revocation_sql', role.revocation_sql_template],
  ] as const) {
    if (text === null) continue;
    if (database_name === null && text.includes('{{database}}'))
      throw invalid(field, 'has {{database}}, and the connection has no database_name');
    const values = { role: role.name, ...(database_name === null ? {} : { database: database_name }) };
    const problem = engine === 'mongo' ? null : placementProblem(text, engine, values);
    if (problem) throw invalid(field, problem);
  }
}
