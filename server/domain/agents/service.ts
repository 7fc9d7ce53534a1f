import type { z } from 'zod';
import { mintAgentId, mintAgentSecret } from '#server/crypto/agent-keys.ts';
import { environmentByName } from '#server/domain/environments/service.ts';
import { countOf, limitOf, withinPlan } from '#server/domain/plans/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmGrant, confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { allowsMore, allowsMoreAddresses, type Looser, loosened, turnedOff } from '#server/kernel/loosening.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { wholeList } from '#server/kernel/page.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { env } from '#server/platform/env.ts';
import { snippetsOf } from './installing.ts';
import { agentMinted } from './letters.ts';
import { type AgentMode, connectivityOf, GRANTS } from './modes.shared.ts';
import type { CreateAgent, EnrolAgent, RotateAgentSecret, UpdateAgent } from './schema.ts';
import { type SealedKeys, sealAgentKeys } from './sealing.ts';
import { type AgentRecord, agentById, entryOf, lockedAgent, personOf } from './store.ts';
import { mailOwners, sendWritten } from './telling.ts';

export { knowBuild } from './builds.ts';

const MINUTE = 60_000;
const HISTORY = 50;

/** Every agent of the space, the newest first; revoked ones are kept for 90 days. */
export const listAgents = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.agents.findMany({ where: own(ctx), orderBy: [{ created_at: 'desc' }, { id: 'desc' }] });
    return wholeList(rows.map((row) => shown(row as AgentRecord, ctx.now)));
  });

/** What every caller sees of an agent. */
export const shown = (row: AgentRecord, now: Date) => ({
  ...row,
  connectivity: connectivityOf(row, now),
  has_tamper_events: row.tamper_count > 0,
});

/** A control-mode agent for whoever calls the API (interface rule 63 §2). @throws Refusal conflict, plan_limit, tenant_sealed */
export const createAgent = (ctx: Ctx, { name }: z.output<typeof CreateAgent>) => makeAgent(ctx, { name, mode: 'control' });

/** An agent of any mode but proxy, which takes a switch. The caller has passed the gate where the mode is gated. */
export async function enrolAgent(ctx: Ctx, input: z.output<typeof EnrolAgent>) {
  if (input.mode === 'proxy') throw invalid('mode', 'create an agent of another mode, then switch it to proxy');
  const made = await makeAgent(ctx, input);
  return { ...made, install: snippetsOf(ctx) };
}

type Making = { name: string; mode: AgentMode } & Partial<z.output<typeof EnrolAgent>>;

async function makeAgent(ctx: Ctx, input: Making) {
  const { agent_id, agent_secret, sealed } = await newCredentials(ctx);
  const { row, mails } = await mutate(ctx, async (tx) => {
    await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: [], after: GRANTS[input.mode] });
    await withinAgents(tx, ctx);
    await checkSettings(tx, ctx, input);
    const row = (await tx.agents
      .create({
        data: {
          ...own(ctx),
          ...input,
          id: newId(),
          agent_id,
          created_by: personOf(ctx),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('An active agent with this name already exists.'))) as AgentRecord;
    await tx.agent_keys.create({ data: { ...own(ctx), ...sealed, agent_id: row.id, created_at: ctx.now } });
    const told = { by: ctx.actor.label, ip: ctx.ip, at: ctx.now, mode: row.mode };
    const mails = await mailOwners(tx, ctx, row, 'agent_minted', (about) => agentMinted(about, told));
    return audited({ row, mails }, entryOf('create', row, { mode: row.mode, agent_id }));
  });
  sendWritten(ctx, mails);
  return { ...row, agent_secret };
}

async function newCredentials(ctx: Ctx, agent_id = mintAgentId()): Promise<{ agent_id: string; agent_secret: string; sealed: SealedKeys }> {
  const agent_secret = mintAgentSecret();
  return { agent_id, agent_secret, sealed: await sealAgentKeys(ctx, agent_id, agent_secret).catch(whenSealed) };
}

/** The plan's limit; in Test one agent is free on every plan (interface rule 63 §7). @throws Refusal plan_limit */
async function withinAgents(tx: Tx, ctx: Ctx): Promise<void> {
  if (!ctx.sandbox || (await limitOf(tx, ctx, 'agents')) !== 0) return withinPlan(tx, ctx, 'agents');
  await holdLock(tx, `${ctx.tenant_id}:agents:${ctx.sandbox}`);
  if ((await countOf(tx, ctx, 'agents')) < 1) return;
  throw new Refusal(
    'plan_limit',
    `The ${ctx.plan} plan allows 1 agent in Test, and 1 already exists. Revoke it or ${moreRoom(ctx.plan)}.`,
    {
      status: 402,
    },
  );
}

/** @throws Refusal validation_error: what is named must be of this space */
async function checkSettings(
  tx: Tx,
  ctx: Ctx,
  { environment, allowed_route_ids = [] }: Partial<z.output<typeof EnrolAgent>>,
): Promise<void> {
  if (environment && !(await environmentByName(tx, ctx, environment))) throw invalid('environment', "doesn't exist in this space");
  const known = allowed_route_ids.length === 0 ? 0 : await tx.routes.count({ where: { ...own(ctx), id: { in: allowed_route_ids } } });
  if (known !== allowed_route_ids.length) throw invalid('allowed_route_ids', "has a route that doesn't exist in this space");
}

type AgentSettings = Required<Omit<z.output<typeof UpdateAgent>, 'id'>>;

/** Which changes let an agent do more than it was installed for. */
export const AGENT_PROTECTIONS: Looser<AgentSettings> = {
  name: 'harmless',
  // What a mode allows is a grant.
  mode: 'harmless',
  require_verified_build: turnedOff,
  environment: (before, after) => before !== null && after !== before,
  allowed_route_ids: allowsMore,
  allowed_cidrs: allowsMoreAddresses,
};

const EDITABLE = ['name', 'mode', 'require_verified_build', 'environment', 'allowed_route_ids', 'allowed_cidrs'];

/** Changes what is given. A new mode ends the sessions of the old one. @throws Refusal not_found, conflict */
export function updateAgent(ctx: Ctx, { id, ...input }: z.output<typeof UpdateAgent>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedAgent(tx, ctx, id);
    requireActive(before);
    await checkSettings(tx, ctx, input);
    await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: GRANTS[before.mode], after: GRANTS[input.mode ?? before.mode] });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, AGENT_PROTECTIONS));
    const after = (await tx.agents
      .update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } })
      .catch(onUnique('An active agent with this name already exists.'))) as AgentRecord;
    if (after.mode !== before.mode) await endSessions(tx, ctx, after.id);
    const changes = changesOf(before, after, EDITABLE);
    const details = after.mode === before.mode ? {} : { mode: { from: before.mode, to: after.mode } };
    return audited(shown(after, ctx.now), { ...entryOf('update', after, details), changes });
  });
}

export function requireActive({ status }: Pick<AgentRecord, 'status'>): void {
  if (status === 'revoked') throw new Refusal('conflict', 'This agent was revoked. Create a new one.');
}

/** A new secret; the one before goes on for the grace period. @throws Refusal not_found, conflict, tenant_sealed */
export async function rotateAgentSecret(ctx: Ctx, { id, grace_minutes }: z.output<typeof RotateAgentSecret>) {
  const { agent_id } = await read(ctx, (tx) => agentById(tx, ctx, id));
  const { agent_secret, sealed } = await newCredentials(ctx, agent_id);
  return mutate(ctx, async (tx) => {
    const row = await lockedAgent(tx, ctx, id);
    requireActive(row);
    await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: [], after: GRANTS[row.mode] });
    const ends = grace_minutes === 0 ? null : new Date(ctx.now.getTime() + grace_minutes * MINUTE);
    await replaceKeys(tx, ctx, row.id, sealed, ends);
    return audited(
      { id: row.id, agent_id, agent_secret, previous_secret_expires_at: ends },
      entryOf('rotate', row, { grace_minutes, mode: row.mode }),
    );
  });
}

/** The new keys beside those before, which end at once or when their grace does. */
export async function replaceKeys(
  tx: Tx,
  ctx: Pick<Ctx, 'tenant_id' | 'sandbox' | 'now'>,
  agentId: string,
  sealed: SealedKeys,
  ends: Date | null,
) {
  const mine = { ...own(ctx), agent_id: agentId };
  // Of two rotations in a row the first one's predecessor is gone: only one old secret is ever good.
  await tx.agent_keys.deleteMany({ where: ends === null ? mine : { ...mine, expires_at: { not: null } } });
  await tx.agent_keys.updateMany({ where: mine, data: { expires_at: ends } });
  await tx.agent_keys.create({ data: { ...mine, ...sealed, created_at: ctx.now } });
}

/** Ends the agent, its sessions and its install tokens at once; repeated, it answers the same. @throws Refusal not_found */
export function revokeAgent(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const answer = { deleted: true as const, revoked: true as const };
    const row = await lockedAgent(tx, ctx, id);
    if (row.status === 'revoked') return unchanged(answer);
    await tx.agents.update({ where: { id: row.id, ...own(ctx) }, data: { status: 'revoked', revoked_at: ctx.now, updated_at: ctx.now } });
    await endWork(tx, ctx, row.id);
    return audited(answer, entryOf('revoke', row, { mode: row.mode }));
  });
}

/** What of an agent ends with it: its sessions, install tokens and commands. */
export async function endWork(tx: Tx, ctx: Ctx, agentId: string): Promise<void> {
  await endSessions(tx, ctx, agentId);
  const mine = { ...own(ctx), agent_id: agentId };
  await tx.agent_install_tokens.updateMany({ where: { ...mine, used_at: null, revoked_at: null }, data: { revoked_at: ctx.now } });
  await tx.agent_commands.updateMany({
    where: { ...mine, status: { in: ['queued', 'sent'] } },
    data: { status: 'expired', finished_at: ctx.now, error: 'The agent was revoked.' },
  });
}

/** All session tokens of the agent die together. */
export const endSessions = (tx: Tx, ctx: Pick<Ctx, 'tenant_id' | 'sandbox' | 'now'>, agentId: string) =>
  tx.agent_sessions.updateMany({
    where: { ...own(ctx), agent_id: agentId, revoked_at: null, expires_at: { gt: ctx.now } },
    data: { revoked_at: ctx.now },
  });

/** Lets the next session bind another machine. @throws Refusal not_found, conflict */
export function resetFingerprint(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedAgent(tx, ctx, id);
    requireActive(row);
    const after = (await tx.agents.update({
      where: { id: row.id, ...own(ctx) },
      data: { fingerprint: null, fingerprint_at: null, updated_at: ctx.now },
    })) as AgentRecord;
    await endSessions(tx, ctx, row.id);
    return audited(shown(after, ctx.now), entryOf('reset', row, { field: 'fingerprint' }));
  });
}

type TamperKind = 'unknown_build' | 'fingerprint_mismatch' | 'bad_bundle';

/** The newest 50. @throws Refusal not_found */
export const tamperEvents = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const agent = await agentById(tx, ctx, id);
    const rows = await tx.agent_tamper_events.findMany({
      where: { ...own(ctx), agent_id: agent.id },
      orderBy: [{ detected_at: 'desc' }, { id: 'desc' }],
      take: HISTORY,
    });
    return wholeList(rows as (Omit<(typeof rows)[number], 'kind'> & { kind: TamperKind })[]);
  });
