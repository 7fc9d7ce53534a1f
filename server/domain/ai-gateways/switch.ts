import { raise } from '#server/domain/events/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { confirmChange } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { assertAdministers } from './administering.ts';
import { agentEntry, assertNotArchived, gatewayEntry } from './entries.ts';
import { releaseRoute } from './managed-route.ts';
import { type AgentRow, type GatewayRow, lockedAgent, lockedGateway, placesOf, shownAgent, shownGateway } from './store.ts';

// The kill switch (interface rule 50 §4). Stopping is quick and asks nobody; gateways hear of it by the announcement of the row.

type Paused = { id: string; reason?: string | null | undefined };

/** Calls are refused from the next one on, and running streams are cut. @throws Refusal not_found, conflict for an archived one */
export const pauseGateway = (ctx: Ctx, { id, reason = null }: Paused) =>
  mutate(ctx, async (tx) => {
    const before = await lockedGateway(tx, ctx, id);
    assertNotArchived(before, 'gateway');
    if (before.status === 'paused' && before.paused_reason === reason) return unchanged(shownGateway(before));
    const row = await setGateway(tx, ctx, before, { status: 'paused', paused_reason: reason, paused_automatically: false });
    return audited(shownGateway(row), { ...gatewayEntry('disable', row), ...(reason === null ? {} : { reason }) });
  });

/** @throws Refusal not_found, conflict for an archived one, forbidden */
export const resumeGateway = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const before = await lockedGateway(tx, ctx, id);
    assertNotArchived(before, 'gateway');
    if (before.status === 'active') return unchanged(shownGateway(before));
    await assertMayResume(tx, ctx, before);
    const row = await setGateway(tx, ctx, before, RESUMED);
    return audited(shownGateway(row), gatewayEntry('enable', row));
  });

/** For good. Agents stay as they are, and can't be called; their tokens aren't revoked. Idempotent. @throws Refusal not_found */
export const archiveGateway = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const before = await lockedGateway(tx, ctx, id);
    const answer = archived(before);
    if (before.status === 'archived') return unchanged(answer);
    const row = await setGateway(tx, ctx, before, ARCHIVED);
    return audited(answer, gatewayEntry('delete', row));
  });

/** @throws Refusal not_found, conflict for an archived one */
export const pauseAgent = (ctx: Ctx, { id, reason = null }: Paused) =>
  mutate(ctx, async (tx) => {
    const before = await lockedAgent(tx, ctx, id);
    assertNotArchived(before, 'agent');
    const places = await placesOf(tx, ctx, [before]);
    if (before.status === 'paused' && before.paused_reason === reason) return unchanged(shownAgent(before, places));
    const row = await setAgent(tx, ctx, before, { status: 'paused', paused_reason: reason, paused_automatically: false });
    if (before.status === 'active')
      await raise(tx, ctx, [
        {
          type: 'ai.agent.paused',
          source_id: row.id,
          data: { agent_id: row.id, slug: row.slug, gateway_id: row.gateway_id, reason, automatic: false },
        },
      ]);
    return audited(shownAgent(row, places), { ...agentEntry('disable', row), ...(reason === null ? {} : { reason }) });
  });

/** @throws Refusal not_found, conflict for an archived one, forbidden */
export const resumeAgent = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const before = await lockedAgent(tx, ctx, id);
    assertNotArchived(before, 'agent');
    const places = await placesOf(tx, ctx, [before]);
    if (before.status === 'active') return unchanged(shownAgent(before, places));
    await assertMayResume(tx, ctx, before);
    const row = await setAgent(tx, ctx, before, RESUMED);
    return audited(shownAgent(row, places), agentEntry('enable', row));
  });

/** For good; a route that came with it is disabled, and its own again. Idempotent. @throws Refusal not_found */
export const archiveAgent = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const before = await lockedAgent(tx, ctx, id);
    const answer = archived(before);
    if (before.status === 'archived') return unchanged(answer);
    const row = await setAgent(tx, ctx, before, ARCHIVED);
    const released: AuditEntry[] = await releaseRoute(tx, ctx, row);
    return audited(answer, agentEntry('delete', row), released);
  });

type Change = Partial<Pick<GatewayRow, 'status' | 'paused_reason' | 'paused_automatically'>>;
const RESUMED: Change = { status: 'active', paused_reason: null, paused_automatically: false };
const ARCHIVED: Change = { status: 'archived' };

const setGateway = (tx: Tx, ctx: Ctx, { id }: GatewayRow, change: Change) =>
  tx.ai_gateways.update({ where: { id, ...own(ctx) }, data: { ...change, updated_at: ctx.now } });
const setAgent = (tx: Tx, ctx: Ctx, { id }: AgentRow, change: Change) =>
  tx.ai_agents.update({ where: { id, ...own(ctx) }, data: { ...change, updated_at: ctx.now } });

const archived = ({ id }: { id: string }) => ({ deleted: true as const, id, status: 'archived' as const });

/**
 * What the service paused itself, because of a leak or of tokens used from everywhere, a person resumes who is sure: an Owner or Admin, with their second factor.
 * @throws Refusal role_denied, forbidden, step_up_required, mfa_required
 */
async function assertMayResume(tx: Tx, ctx: Ctx, { paused_automatically }: { paused_automatically: boolean }): Promise<void> {
  if (!paused_automatically) return;
  assertAdministers(ctx, 'The service paused this because of an attack it saw. An Owner or Admin resumes it in the dashboard.');
  await confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL);
}
