import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { writeDenials } from './denials.ts';
import { isNarrowable } from './narrowing.shared.ts';
import { forgetRules } from './rule-cache.ts';
import { bindingRules, indexRules, type PolicySubjects, type Rule } from './rules.shared.ts';
import { type CreatePolicy, MAX_NAMED, MAX_POLICIES, NOT_NARROWABLE, type UpdatePolicy } from './schema.ts';

type Row = Prisma.tenant_policiesGetPayload<object>;

/** Every policy of the workspace by name, with how often it denied a call. */
export function listPolicies(ctx: Ctx) {
  return read(ctx, async (tx) => {
    const rows = await tx.tenant_policies.findMany({ where: { tenant_id: ctx.tenant_id }, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
    const denied = await deniedBy(tx, ctx);
    return rows.map((row) => shown(row, denied.get(row.id)));
  });
}

/** @throws Refusal not_found */
export const getPolicy = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await policyById(tx, ctx, id);
    return shown(row, (await deniedBy(tx, ctx, row.id)).get(row.id));
  });

/** @throws Refusal conflict for a name that is taken, validation_error for subjects that don't exist and rules that would lock every Owner out */
export async function createPolicy(ctx: Ctx, input: z.output<typeof CreatePolicy>) {
  await assertSubjectsExist(ctx, input.subjects);
  assertBounded('resources', input.resources);
  const row = await mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    if ((await tx.tenant_policies.count({ where: { tenant_id: ctx.tenant_id } })) >= MAX_POLICIES)
      throw new Refusal('conflict', `A workspace can have ${MAX_POLICIES} policies. Delete one first.`);
    const made = await tx.tenant_policies
      .create({
        data: {
          ...input,
          actions: canonical(input.actions),
          resources: input.resources ?? [],
          id: newId(),
          tenant_id: ctx.tenant_id,
          created_by: ctx.actor.id,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique(TAKEN));
    await assertOwnersKeepControl(tx, ctx);
    return audited(made, { ...entry('create', made), changes: changesOf({}, said(made), Object.keys(said(made))) });
  });
  forgetRules(ctx.tenant_id);
  return shown(row);
}

/** @throws Refusal not_found, conflict, validation_error */
export async function updatePolicy(ctx: Ctx, { id, ...input }: z.output<typeof UpdatePolicy>) {
  const known = await read(ctx, (tx) => policyById(tx, ctx, id));
  if (input.subjects) await assertSubjectsExist(ctx, input.subjects, known.subjects as PolicySubjects);
  assertBounded('resources', input.resources, known.resources);
  const row = await mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const before = await policyById(tx, ctx, id);
    const { resources, actions, ...rest } = input;
    const after = await tx.tenant_policies
      .update({
        where: { id: before.id, tenant_id: ctx.tenant_id },
        data: {
          ...rest,
          ...(actions === undefined ? {} : { actions: canonical(actions) }),
          ...(resources === undefined ? {} : { resources: resources ?? [] }),
          updated_at: ctx.now,
        },
      })
      .catch(onUnique(TAKEN));
    if (after.resources.length > 0 && !after.actions.every(isNarrowable)) throw invalid('resources', NOT_NARROWABLE);
    await assertOwnersKeepControl(tx, ctx);
    const changes = changesOf(said(before), said(after), Object.keys(said(after)));
    const switched = changes.length === 1 && changes[0]?.field === 'enabled';
    return audited(after, { ...entry(switched ? (after.enabled ? 'enable' : 'disable') : 'update', after), changes });
  });
  forgetRules(ctx.tenant_id);
  return getPolicy(ctx, row);
}

/** @throws Refusal not_found */
export async function deletePolicy(ctx: Ctx, { id }: { id: string }) {
  const answer = await mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const row = await policyById(tx, ctx, id);
    await tx.tenant_policies.delete({ where: { id: row.id, tenant_id: ctx.tenant_id }, select: { id: true } });
    return audited({ deleted: true as const }, { ...entry('delete', row), details: said(row) });
  });
  forgetRules(ctx.tenant_id);
  return answer;
}

/** Whom a policy denied what, latest first. @throws Refusal not_found */
export async function denialsOf(ctx: Ctx, { id }: { id: string }) {
  await writeDenials();
  const { rows, names } = await read(ctx, async (tx) => {
    const policy = await policyById(tx, ctx, id);
    const found = await tx.policy_denials.findMany({
      where: { tenant_id: ctx.tenant_id, policy_id: policy.id },
      orderBy: [{ last_at: 'desc' }, { capability: 'asc' }, { actor_id: 'asc' }],
      take: DENIALS_SHOWN,
    });
    return { rows: found, names: await peopleNamed(tx, ctx, found.map(({ actor_id }) => actor_id).filter(isUuid)) };
  });
  const keys = await keysNamed(ctx, rows.map(({ actor_id }) => actor_id).filter(isUuid));
  return rows.map((row) => ({
    capability: row.capability,
    actor_type: row.actor_type,
    actor_id: row.actor_id === '' ? null : row.actor_id,
    actor: names.get(row.actor_id) ?? keys.get(row.actor_id)?.name ?? row.actor_label,
    space: spaceOf(row.sandbox),
    calls: Number(row.calls),
    last_at: row.last_at,
    last_request_id: row.last_request_id,
  }));
}

const DENIALS_SHOWN = 100;
const TAKEN = 'A policy with this name already exists.';

/** As by id, holding the row until the transaction ends. */
export async function lockedPolicy(tx: Tx, ctx: Ctx, id: string) {
  await inTurn(tx, ctx);
  return policyById(tx, ctx, id);
}

/** @throws Refusal not_found */
async function policyById(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const row = isUuid(id) ? await tx.tenant_policies.findFirst({ where: { id, tenant_id: ctx.tenant_id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** Changes of a workspace's policies run one after the other: whether they lock every Owner out is judged over all of them. */
const inTurn = (tx: Tx, ctx: Ctx) => holdLock(tx, `${ctx.tenant_id}:policies`);

const canonical = (actions: readonly string[]) => [...new Set(actions)].sort();

/** What a policy says, as its audit entries and the wire show it. */
const said = ({ name, actions, subjects, resources, space, reason, enabled }: Row) => ({
  name,
  actions,
  subjects: subjectsOf(subjects),
  resources: resources.length === 0 ? null : resources,
  space,
  reason,
  enabled,
});

const subjectsOf = (stored: Prisma.JsonValue) => ({
  all: false,
  roles: [] as string[],
  user_ids: [] as string[],
  api_key_ids: [] as string[],
  oauth_client_ids: [] as string[],
  ...(stored as object),
});

type Denied = { calls: number; last_at: Date };

const shown = (row: Row, denied?: Denied) => ({
  ...row,
  ...said(row),
  // The column holds what the schema allows: see the check of the table.
  space: row.space as 'live' | 'test' | 'both',
  effect: 'deny' as const,
  denied_calls: denied?.calls ?? 0,
  last_denied_at: denied?.last_at ?? null,
});

async function deniedBy(tx: Tx, ctx: Ctx, id?: string): Promise<Map<string, Denied>> {
  const rows = await tx.policy_denials.groupBy({
    by: ['policy_id'],
    where: { tenant_id: ctx.tenant_id, ...(id === undefined ? {} : { policy_id: id }) },
    _sum: { calls: true },
    _max: { last_at: true },
  });
  return new Map(
    rows.flatMap(({ policy_id, _sum, _max }) =>
      _max.last_at ? [[policy_id, { calls: Number(_sum.calls ?? 0), last_at: _max.last_at }]] : [],
    ),
  );
}

const entry = (action: string, { id, name, reason }: Row): AuditEntry => ({
  action,
  resource_type: 'policy',
  resource_id: id,
  name,
  ...(reason === null ? {} : { reason }),
  workspace_level: true,
});

/** Members of this workspace, and keys and OAuth clients of both its spaces; those a policy named before may be gone. @throws Refusal validation_error */
async function assertSubjectsExist(ctx: Ctx, subjects: PolicySubjects, before: PolicySubjects = {}): Promise<void> {
  const added = (field: 'user_ids' | 'api_key_ids' | 'oauth_client_ids') =>
    (subjects[field] ?? []).filter((id) => !before[field]?.includes(id));
  for (const field of ['user_ids', 'api_key_ids', 'oauth_client_ids'] as const)
    assertBounded(`subjects.${field}`, subjects[field], before[field]);
  const users = added('user_ids');
  const people = users.length === 0 ? new Map() : await read(ctx, (tx) => peopleNamed(tx, ctx, users));
  const keys = await keysNamed(ctx, added('api_key_ids'));
  const unknown = (field: string, ids: readonly string[], known: ReadonlyMap<string, unknown>) => {
    const missing = ids.find((id) => !known.has(id));
    if (missing !== undefined) throw invalid(`subjects.${field}`, `${missing} doesn't exist in this workspace`);
  };
  unknown('user_ids', users, people);
  unknown('api_key_ids', added('api_key_ids'), keys);
  unknown('oauth_client_ids', added('oauth_client_ids'), await oauthClientsNamed(ctx, added('oauth_client_ids')));
}

/** Only an edit that adds something meets the limit: successors of rotated keys are named without asking anybody. */
function assertBounded(field: string, named: readonly string[] | null | undefined, before: readonly string[] = []): void {
  if (named && named.length > MAX_NAMED && named.some((one) => !before.includes(one)))
    throw invalid(field, `must have at most ${MAX_NAMED} entries. Remove some before you add others.`);
}

/** Whom a policy can name, people by joining, keys and OAuth clients by name. */
export async function policyCandidates(ctx: Ctx) {
  const people = await read(ctx, (tx) =>
    tx.memberships.findMany({
      where: { tenant_id: ctx.tenant_id, removed_at: null },
      select: { role: true, user: { select: { id: true, full_name: true, email: true } } },
      orderBy: { joined_at: 'asc' },
      take: MOST_CANDIDATES,
    }),
  );
  const keys: Candidate[] = [];
  const oauth_clients: Candidate[] = [];
  for (const sandbox of [false, true]) {
    const choice = {
      select: { id: true, name: true },
      orderBy: [{ name: 'asc' as const }, { id: 'asc' as const }],
      take: MOST_CANDIDATES,
    };
    const where = { tenant_id: ctx.tenant_id, sandbox, active: true };
    await read({ ...ctx, sandbox }, async (tx) => {
      const placed = (row: { id: string; name: string }) => ({ ...row, space: spaceOf(sandbox) });
      keys.push(...(await tx.api_keys.findMany({ where, ...choice })).map(placed));
      // A client that mirrors a key is bound by what binds the key.
      oauth_clients.push(...(await tx.oauth_clients.findMany({ where: { ...where, source_api_key_id: null }, ...choice })).map(placed));
    });
  }
  return { people: people.map(({ role, user }) => ({ id: user.id, name: user.full_name || user.email, role })), keys, oauth_clients };
}

type Candidate = { id: string; name: string; space: 'live' | 'test' };

const MOST_CANDIDATES = 1_000;

/** Names of current members, by user. */
export async function peopleNamed(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.memberships.findMany({
    where: { tenant_id: ctx.tenant_id, user_id: { in: [...ids] }, removed_at: null },
    select: { user: { select: { id: true, full_name: true, email: true } } },
  });
  return new Map(rows.map(({ user }) => [user.id, user.full_name || user.email]));
}

/** Names and spaces of keys, whichever space they are of: policies hold in both. */
export async function keysNamed(ctx: Ctx, ids: readonly string[]): Promise<Map<string, { name: string; sandbox: boolean }>> {
  const found = new Map<string, { name: string; sandbox: boolean }>();
  if (ids.length === 0) return found;
  for (const sandbox of [false, true]) {
    const here = { ...ctx, sandbox };
    const rows = await read(here, (tx) =>
      tx.api_keys.findMany({ where: { tenant_id: ctx.tenant_id, sandbox, id: { in: [...ids] } }, select: { id: true, name: true } }),
    );
    for (const { id, name } of rows) found.set(id, { name, sandbox });
  }
  return found;
}

/** The same for OAuth clients. */
async function oauthClientsNamed(ctx: Ctx, ids: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const sandbox of ids.length === 0 ? [] : [false, true]) {
    const rows = await read({ ...ctx, sandbox }, (tx) =>
      tx.oauth_clients.findMany({ where: { tenant_id: ctx.tenant_id, sandbox, id: { in: [...ids] } }, select: { id: true, name: true } }),
    );
    for (const { id, name } of rows) found.set(id, name);
  }
  return found;
}

/** The enabled rules as this transaction sees them leave an Owner who can change policies. @throws Refusal validation_error */
async function assertOwnersKeepControl(tx: Tx, ctx: Ctx): Promise<void> {
  const rows = await tx.tenant_policies.findMany({ where: { tenant_id: ctx.tenant_id, enabled: true } });
  if (await locksOwnersOut(tx, ctx, rows.map(ruleOf)))
    throw invalid('subjects', 'every Owner would be denied policy:update, so that no one could change this policy again');
}

/** Whether these rules deny every Owner the change of policies, in Live or in Test. */
export async function locksOwnersOut(tx: Tx, ctx: Ctx, rules: readonly Rule[]): Promise<boolean> {
  const owners = await tx.memberships.findMany({
    where: { tenant_id: ctx.tenant_id, role: 'owner', removed_at: null },
    select: { user_id: true },
  });
  const index = indexRules(rules);
  const denied = (user_id: string | null, space: 'live' | 'test') =>
    bindingRules(index, 'policy:update', [{ role: 'owner', user_id }], space).length > 0;
  // Without an Owner on record the role as such counts.
  const people = owners.length > 0 ? owners.map((owner) => owner.user_id) : [null];
  return (['live', 'test'] as const).some((space) => people.every((user_id) => denied(user_id, space)));
}

export const ruleOf = ({ id, name, actions, subjects, resources, space }: Row): Rule => ({
  id,
  name,
  actions,
  subjects: subjectsOf(subjects),
  resources,
  space,
});
