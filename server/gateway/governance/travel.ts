import { impossibleTravel, type Sighting, sightingOf } from '#server/ai/impossible-travel.ts';
import { auditRow, insertAuditRows } from '#server/custody/audit-rows.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { env } from '#server/platform/env.ts';
import { places } from '#server/platform/geoip.ts';
import { log } from '#server/platform/log.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { sql } from '#server/platform/sql.ts';
import { insertEvent } from '../core/events.ts';
import type { Runtime } from '../core/runtime.ts';
import { lru } from '../credentials/lru.ts';
import { type AiRefused, aiRefusal } from './envelope.ts';
import type { GovernedCall } from './governed-call.ts';
import type { PresentedToken } from './principal.ts';

// Notes when and where a token was used, and stops one that is used from two places too far apart (interface rule 50 §9). Without a database of locations
// only the time is noted.

/** A use is written at most this often, unless its place changed. */
const EVERY_MS = 60_000;
const MOST_TOKENS = 50_000;
type Seen = { writtenAt: number; sighting: Sighting | null };

/** What this process saw last of each token; forgotten when the token changes, so that a cleared flag begins anew. */
const seenBy = new WeakMap<Runtime, ReturnType<typeof memory>>();

function memory(runtime: Runtime) {
  const seen = lru<Seen>(MOST_TOKENS);
  runtime.capabilities.watch((id) => {
    if (id !== null) seen.delete(id);
  });
  seenBy.set(runtime, seen);
  return seen;
}

/** For a token that held so far. Refuses this call if it is the one that shows it. */
export function judgeTravel(
  call: GovernedCall,
  runtime: Runtime,
  facts: PresentedToken,
): AiRefused | undefined | Promise<AiRefused | undefined> {
  const seen = seenBy.get(runtime) ?? memory(runtime);
  const before = seen.get(facts.id);
  if (env.GEOIP_DB_PATH === undefined) {
    if (!before || call.receivedAt - before.writtenAt >= EVERY_MS) note(call, facts, seen, null);
    return undefined;
  }
  return located(call, facts, seen, before);
}

async function located(
  call: GovernedCall,
  facts: PresentedToken,
  seen: ReturnType<typeof memory>,
  before: Seen | undefined,
): Promise<AiRefused | undefined> {
  const spot = (await places())?.spotOf(call.sourceAddress) ?? null;
  const now: Sighting | null = spot && { ...spot, at: new Date(call.receivedAt).toISOString(), ip: call.sourceAddress };
  const last = later(before?.sighting ?? null, sightingOf(facts.row.last_geo));
  const travel = now && last && impossibleTravel(last, now, compileRanges(call.snapshot.tenant.settings.trusted_egress_cidrs));
  if (travel && now && last) {
    const places = { from: last.country, to: now.country, ...travel };
    // Who holds only the text of a bound token can do nothing with it.
    if (facts.row.dpop_jkt !== null)
      log.warn({ token_id: facts.id, ...places }, 'a bound token was used from two places that are too far apart');
    else return flagged(call, facts, places);
  }
  const moved = now !== null && (last === null || last.lat !== now.lat || last.lon !== now.lon);
  if (!before || moved || call.receivedAt - before.writtenAt >= EVERY_MS) note(call, facts, seen, now);
  return undefined;
}

const later = (a: Sighting | null, b: Sighting | null): Sighting | null => (a && b ? (a.at > b.at ? a : b) : (a ?? b));

/** In the background: no call waits for it. */
function note(
  { receivedAt, snapshot }: GovernedCall,
  { id }: PresentedToken,
  seen: ReturnType<typeof memory>,
  sighting: Sighting | null,
): void {
  seen.set(id, { writtenAt: receivedAt, sighting: sighting ?? seen.get(id)?.sighting ?? null });
  const place = { tenant_id: snapshot.tenant.id, sandbox: snapshot.sandbox };
  inOwnTransaction(place, (client) =>
    client.query({ name: 'ai-token-used', text: USED, values: [place.tenant_id, place.sandbox, id, new Date(receivedAt), sighting] }),
  ).catch((error: unknown) => log.debug({ err: error, token_id: id }, 'the use of a capability token was not noted'));
}

const USED = `update ai_tokens set last_used_at = greatest(last_used_at, $4), last_geo = coalesce($5::jsonb, last_geo)
  where tenant_id = $1 and sandbox = $2 and id = $3`;

/** Before the answer: the flag, its audit entry and its event. A call that can't be flagged is refused all the same. */
async function flagged(call: GovernedCall, facts: PresentedToken, travel: Record<string, unknown>): Promise<AiRefused> {
  const { tenant, sandbox, space } = call.snapshot;
  const place = { tenant_id: tenant.id, sandbox };
  const data = { token_id: facts.id, prefix: facts.prefix, agent_id: facts.agentId, gateway_id: facts.gatewayId, ...travel };
  try {
    const first = await inOwnTransaction(place, async (client) => {
      const { rowCount } = await client.query({ name: 'ai-token-flagged', text: FLAGGED, values: [tenant.id, sandbox, facts.id] });
      if (rowCount === 1)
        await insertEvent(client, {
          ...place,
          type: 'ai.token.step_up_required',
          source_id: facts.id,
          data,
          occurred_at: new Date(call.receivedAt),
        });
      return rowCount === 1;
    });
    if (first) await told(call, facts, travel, space);
  } catch (error) {
    log.error({ err: error, token_id: facts.id, alert: true }, 'a token used from two places could not be flagged');
  }
  return aiRefusal(
    'step_up_required',
    'This token was used from two places that are too far apart. Somebody must confirm it in the dashboard.',
  );
}

const FLAGGED = `update ai_tokens set step_up_required = true
  where tenant_id = $1 and sandbox = $2 and id = $3 and not step_up_required and revoked_at is null`;

/** The audit entry, and a mail to the Owners. */
async function told(call: GovernedCall, facts: PresentedToken, travel: Record<string, unknown>, space: string): Promise<void> {
  const { tenant, sandbox } = call.snapshot;
  const ctx = {
    ...{ tenant_id: tenant.id, sandbox, plan: tenant.plan, request_id: call.requestId, ip: call.sourceAddress || null },
    actor: { type: 'system' as const, id: null, label: 'Impossible travel', capabilities: NONE },
    user_agent: call.userAgent,
    now: new Date(call.receivedAt),
    warnings: [],
  };
  const entry = {
    action: 'update',
    resource_type: 'ai_token',
    resource_id: facts.id,
    ...(facts.name === null ? {} : { name: facts.name }),
    changes: [{ field: 'step_up_required', from: false, to: true }],
    details: { prefix: facts.prefix, agent_id: facts.agentId, gateway_id: facts.gatewayId, ...travel },
  };
  await insertAuditRows(ctx, [auditRow(ctx, entry)]);
  const payload = {
    tenant_id: tenant.id,
    space,
    token: facts.name ?? facts.prefix,
    agent_id: facts.agentId,
    ip: call.sourceAddress,
    ...travel,
  };
  // A queue that isn't there yet holds up no refusal.
  await sql()
    .query('select enqueue_job($1, $2::jsonb, null::timestamptz, null::text, null::integer)', ['ai_step_up_alert', JSON.stringify(payload)])
    .catch((error: unknown) => log.warn({ err: error }, 'cannot queue the mail about a token used from two places'));
}

const NONE: ReadonlySet<never> = new Set();
