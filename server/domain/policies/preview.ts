import type { z } from 'zod';
import {
  CAPABILITIES,
  type Capability,
  capabilitiesOfKey,
  type MemberRole,
  memberCapabilities,
  ROLE_MATRIX,
} from '#server/kernel/capabilities.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { PolicyCaller } from '#server/kernel/policy-callers.ts';
import { locksOwnersOut, ruleOf } from './management.ts';
import { bindingRules, coversResource, indexRules, type Rule } from './rules.shared.ts';
import type { PolicyPreview, PreviewPolicy } from './schema.ts';
import { draftRule } from './test-as.ts';

type Preview = z.input<typeof PolicyPreview>;
type Key = { id: string; name: string; role_ids: string[]; scoped: boolean; scopes: string[] };

const DAY = 86_400_000;
const BLOCK = 6 * 3_600_000;
const SHOWN = 100;

/**
 * What an unsaved policy would deny: what current people and keys would lose, and which calls of the last days would not have been served. Calls through
 * routes come from the log's sums, calls of the Management API from the stamps of what keys used.
 */
export async function previewPolicy(ctx: Ctx, { draft, days }: z.output<typeof PreviewPolicy>): Promise<Preview> {
  const rule = draftRule(draft);
  const answer: Preview = { people: [], keys: [], calls: { days, total: 0, by_key: [] }, uses: [], locks_out_owners: false };
  await read(ctx, async (tx) => {
    answer.people = await peopleWhoLose(tx, ctx, rule);
    const rows = await tx.tenant_policies.findMany({ where: { tenant_id: ctx.tenant_id, enabled: true } });
    answer.locks_out_owners = await locksOwnersOut(tx, ctx, [...rows.map(ruleOf), rule]);
  });
  for (const sandbox of [false, true]) {
    if (rule.space !== 'both' && rule.space !== spaceOf(sandbox)) continue;
    const here = { ...ctx, sandbox };
    await read(here, (tx) => addKeys(tx, here, rule, days, answer));
  }
  answer.calls.by_key.sort((a, b) => b.calls - a.calls).splice(SHOWN);
  answer.uses.sort((a, b) => Number(b.last_used_at) - Number(a.last_used_at)).splice(SHOWN);
  return answer;
}

/** The capabilities of a set that a rule takes from a caller, in canonical order. */
const lost = (rule: Rule, caller: PolicyCaller, held: Iterable<Capability>, space: 'live' | 'test'): Capability[] => {
  const index = indexRules([rule]);
  return [...held].filter((capability) => bindingRules(index, capability, [caller], space).length > 0).sort();
};

async function peopleWhoLose(tx: Tx, ctx: Ctx, rule: Rule): Promise<Preview['people']> {
  const rows = await tx.memberships.findMany({
    where: { tenant_id: ctx.tenant_id, removed_at: null },
    select: { role: true, reveal_secrets: true, user: { select: { id: true, full_name: true, email: true } } },
    orderBy: { joined_at: 'asc' },
  });
  const space = rule.space === 'test' ? 'test' : 'live';
  return rows.flatMap(({ role, reveal_secrets, user }) => {
    const held = memberCapabilities(role as MemberRole, { reveal_secrets });
    const reveals = CAPABILITIES.filter((capability) => ROLE_MATRIX.get(capability)?.[role as MemberRole] === 'B');
    const loses = lost(rule, { role: role as MemberRole, user_id: user.id }, [...held, ...reveals], space);
    return loses.length > 0 ? [{ user_id: user.id, name: user.full_name || user.email, role, loses }] : [];
  });
}

async function addKeys(tx: Tx, here: Ctx, rule: Rule, days: number, answer: Preview): Promise<void> {
  const space = spaceOf(here.sandbox);
  const keys: Key[] = await tx.api_keys.findMany({
    where: { ...own(here), active: true },
    select: { id: true, name: true, role_ids: true, scoped: true, scopes: true },
    orderBy: { created_at: 'asc' },
    take: 1_000,
  });
  const losing = keys
    .map((key) => ({ ...key, loses: lost(rule, { api_key_id: key.id, key_role_ids: key.role_ids }, capabilitiesOfKey(key), space) }))
    .filter(({ loses }) => loses.length > 0);
  if (losing.length === 0) return;
  answer.keys.push(...losing.map(({ id, name, loses }) => ({ id, name, space, loses })));
  const byId = new Map(losing.map((key) => [key.id, key]));
  const since = new Date(here.now.getTime() - days * DAY);
  const used = await tx.api_key_uses.findMany({
    where: { ...own(here), api_key_id: { in: [...byId.keys()] }, last_used_at: { gte: since }, capability: { not: 'proxy:invoke' } },
  });
  for (const { api_key_id, capability, last_used_at } of used) {
    const key = byId.get(api_key_id);
    if (key?.loses.includes(capability as Capability)) answer.uses.push({ api_key_id, name: key.name, capability, last_used_at });
  }
  const callers = losing.filter(({ loses }) => loses.includes('proxy:invoke')).map(({ id }) => id);
  const routes = rule.resources.length === 0 || callers.length === 0 ? null : await routesCovered(tx, here, rule);
  for (const { caller_id, calls } of await callsOf(tx, here, callers, routes, since)) {
    answer.calls.total += calls;
    answer.calls.by_key.push({ api_key_id: caller_id, name: byId.get(caller_id)?.name ?? '', space, calls });
  }
}

async function routesCovered(tx: Tx, here: Ctx, rule: Rule): Promise<string[]> {
  const routes = await tx.routes.findMany({ where: own(here), select: { id: true, name: true, slug: true } });
  return routes
    .filter(({ id, name, slug }) => coversResource(rule, { id, names: slug === null ? [name] : [name, slug] }))
    .map(({ id }) => id);
}

/** Calls by key since an instant: sums of six hours where they are complete, then of minutes. */
async function callsOf(tx: Tx, here: Ctx, keys: readonly string[], routes: readonly string[] | null, since: Date) {
  if (keys.length === 0 || routes?.length === 0) return [];
  const cut = new Date(Math.floor((here.now.getTime() - BLOCK / 2) / BLOCK) * BLOCK);
  const rows = await tx.$queryRaw<{ caller_id: string; calls: bigint }[]>`
    select caller_id::text, sum(count)::bigint as calls from (
      select caller_id, route_id, count from caller_blocks where tenant_id = ${here.tenant_id}::uuid and sandbox = ${here.sandbox}
        and block >= ${since} and block < ${cut} and caller_id = any(${keys}::uuid[])
      union all
      select caller_id, route_id, count from caller_rollups where tenant_id = ${here.tenant_id}::uuid and sandbox = ${here.sandbox}
        and minute >= greatest(${cut}::timestamptz, ${since}::timestamptz) and caller_id = any(${keys}::uuid[])
    ) c where ${routes === null} or route_id = any(${routes ?? []}::uuid[]) group by 1`;
  return rows.map(({ caller_id, calls }) => ({ caller_id, calls: Number(calls) }));
}
