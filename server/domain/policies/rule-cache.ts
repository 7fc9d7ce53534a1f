import { type HotCtx, own } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OwnQuery, ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { sql } from '#server/platform/sql.ts';
import { NARROWABLE } from './narrowing.shared.ts';
import { indexRules, type PolicyResource, type Rule, type RuleIndex } from './rules.shared.ts';

// Loads no Prisma: the gateway checks policies too.

/** A change is obeyed by the next request of the process that made it, and after this everywhere (interface rule 24 §6). */
const TRUSTED_MS = 1_000;
const MOST_WORKSPACES = 10_000;

type Kept = { at: number; rules: Promise<RuleIndex> };
const kept = processState('policies', () => new Map<string, Kept>());

/** The enabled rules of a workspace, at most a second old. @throws Refusal dependency_unavailable when they can't be read: then nothing is allowed */
export function rulesOf(tenantId: string): Promise<RuleIndex> {
  const now = performance.now();
  const known = kept.get(tenantId);
  if (known && now - known.at < TRUSTED_MS) return known.rules;
  const rules = load(tenantId);
  if (kept.size >= MOST_WORKSPACES) kept.clear();
  const entry = { at: now, rules };
  kept.set(tenantId, entry);
  // A failed load is nobody else's answer.
  rules.catch(() => kept.get(tenantId) === entry && kept.delete(tenantId));
  return rules;
}

/** Drops what is kept of a workspace. A load under way still answers those who wait for it, and nobody after. */
export const forgetRules = (tenantId: string): void => void kept.delete(tenantId);

async function load(tenantId: string): Promise<RuleIndex> {
  const { rows } = await sql()
    .query<Rule>({
      name: 'policies',
      text: 'select id, name, actions, subjects, resources, space from tenant_policies where tenant_id = $1 and enabled order by name',
      values: [tenantId],
    })
    .catch((error: unknown) => {
      throw new Refusal('dependency_unavailable', "The workspace's policies can't be read, so the request was refused. Try again.", {
        retryAfter: 5,
        cause: error,
      });
    });
  return indexRules(rows);
}

type Found = { id: string; names: string[] };

const QUERIES = new Map<string, { byId: OwnQuery; byRef: OwnQuery | null; byIds: OwnQuery }>(
  Object.values(NARROWABLE).map(({ table, names, refs, tombstones }) => {
    const found = `select id, array_remove(array[${names.map((name) => `${name}::text`).join(', ')}], null) as names from ${table} where tenant_id = $1 and sandbox = $2${tombstones ? ` and ${tombstones} is null` : ''}`;
    return [
      table,
      {
        byId: ownQuery(`policy-${table}-by-id`, `${found} and id = $3::uuid`),
        byRef: refs ? ownQuery(`policy-${table}-by-ref`, `${found} and (${refs.map((ref) => `${ref} = $3`).join(' or ')})`) : null,
        byIds: ownQuery(`policy-${table}-by-ids`, `${found} and id = any($3::uuid[])`),
      },
    ];
  }),
);

/** The objects that references of a call stand for, with their names; a reference that stands for nothing is itself alone. */
export async function resourcesNamed(ctx: HotCtx, resource: string, refs: readonly string[]): Promise<PolicyResource[]> {
  const queries = QUERIES.get(NARROWABLE[resource]?.table ?? '');
  if (!queries) return refs.map((id) => ({ id, names: [] }));
  return Promise.all(
    refs.map(async (ref) => {
      const query = isUuid(ref) ? queries.byId : queries.byRef;
      const [row] = query ? await ownRows<Found>(ctx, query, ref) : [];
      return row ?? { id: ref, names: [] };
    }),
  );
}

/** Names of many objects, by ID. */
export async function namesOf(ctx: HotCtx, resource: string, ids: readonly string[]): Promise<Map<string, readonly string[]>> {
  const queries = QUERIES.get(NARROWABLE[resource]?.table ?? '');
  const rows = queries ? await ownRows<Found>(own(ctx), queries.byIds, ids.filter(isUuid)) : [];
  return new Map(rows.map(({ id, names }) => [id, names]));
}
