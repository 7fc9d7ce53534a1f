import type { Capability } from '#server/kernel/capabilities.ts';
import { auditActor, type HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import type { Rule } from './rules.shared.ts';

// Loads no Prisma: the gateway counts denials too.

const EVERY_MS = 2_000;
const MOST_AT_ONCE = 20_000;

/** Calls that one rule denied one caller for one capability. */
export type Denial = {
  tenant_id: string;
  sandbox: boolean;
  policy_id: string;
  capability: string;
  actor_type: string;
  /** Empty for a caller without an ID, such as a client that calls a route without a credential. */
  actor_id: string;
  actor_label: string;
  request_id: string;
};
type Counted = Denial & { calls: number; last_at: number };

const tally = processState('policy-denials', (): { seen: Map<string, Counted>; timer?: NodeJS.Timeout | undefined } => ({
  seen: new Map(),
}));

/**
 * The refusal of a call that a policy denies: machines learn its name, people also who can change it (interface rule 24 §6). `next` says what passes under
 * the policy as it is. Counts the denial.
 */
export function policyDenied(ctx: HotCtx, policy: Pick<Rule, 'id' | 'name'>, capability: Capability, next?: string): Refusal {
  recordDenial(ctx, policy, capability);
  const instead = next === undefined ? '' : ` ${next}`;
  return ctx.actor.type === 'member'
    ? new Refusal(
        'role_denied',
        `Denied by tenant policy ${policy.name}. An Owner or Admin can change it under Settings > Policies.${instead}`,
        {
          extra: { policy: { id: policy.id, name: policy.name }, capability },
        },
      )
    : new Refusal('forbidden', `denied by tenant policy ${policy.name}${next === undefined ? '' : `.${instead}`}`);
}

/** Counts a denied call, for the page of the policy. */
export function recordDenial(ctx: HotCtx, { id }: Pick<Rule, 'id'>, capability: Capability): void {
  const actor = auditActor(ctx.actor);
  countDenial({
    tenant_id: ctx.tenant_id,
    sandbox: ctx.sandbox,
    policy_id: id,
    capability,
    actor_type: actor.type,
    actor_id: actor.id ?? '',
    actor_label: actor.label,
    request_id: ctx.request_id,
  });
}

/** An addition in memory; rows are written every two seconds by one statement that no call waits for. */
export function countDenial(denial: Denial, at = Date.now()): void {
  const key = `${denial.policy_id} ${denial.sandbox} ${denial.capability} ${denial.actor_type} ${denial.actor_id}`;
  const known = tally.seen.get(key);
  if (known) {
    known.calls++;
    known.last_at = at;
    known.request_id = denial.request_id;
    return;
  }
  if (tally.seen.size >= MOST_AT_ONCE) return;
  tally.seen.set(key, { ...denial, calls: 1, last_at: at });
  tally.timer ??= setTimeout(() => void writeDenials(), EVERY_MS).unref();
}

/** Writes what was counted so far. Never throws: a count that can't be written is dropped, and said in the log. */
export async function writeDenials(): Promise<void> {
  clearTimeout(tally.timer);
  tally.timer = undefined;
  const rows = [...tally.seen.values()];
  tally.seen = new Map();
  if (rows.length === 0) return;
  await sql()
    .query({ name: 'write-policy-denials', text: WRITE, values: [JSON.stringify(rows)] })
    .catch((error: unknown) => log.warn({ err: error, lost: rows.length }, 'cannot record which policies denied calls'));
}

// In one order always, so that two processes never wait for each other in a circle. A policy may have been deleted meanwhile.
const WRITE = `insert into policy_denials (tenant_id, policy_id, sandbox, capability, actor_type, actor_id, actor_label, calls, last_at, last_request_id)
  select r.tenant_id, r.policy_id, r.sandbox, r.capability, r.actor_type, r.actor_id, r.actor_label, r.calls, to_timestamp(r.last_at / 1000.0), r.request_id
  from json_to_recordset($1::json) as r(tenant_id uuid, policy_id uuid, sandbox boolean, capability text, actor_type text, actor_id text, actor_label text,
    calls bigint, last_at float8, request_id uuid)
  join tenant_policies p on p.id = r.policy_id and p.tenant_id = r.tenant_id
  order by 1, 2, 3, 4, 5, 6
  on conflict (tenant_id, policy_id, sandbox, capability, actor_type, actor_id)
  do update set calls = policy_denials.calls + excluded.calls, last_at = greatest(policy_denials.last_at, excluded.last_at),
    last_request_id = excluded.last_request_id, actor_label = excluded.actor_label`;
