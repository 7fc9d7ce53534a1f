import type { z } from 'zod';
import { BUILT_IN_REACH } from '#server/ai/pii/policy.ts';
import { entityOf, isSidecarKind, type Recognizer, reachOf } from '#server/ai/pii/recognizer.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { FirewallPolicy, PiiPolicy, PiiRecognizer } from './schema.ts';

export type PiiPolicyRow = Prisma.ai_pii_policiesGetPayload<object>;
export type RecognizerRow = Prisma.ai_pii_recognizersGetPayload<object>;
export type FirewallRow = Prisma.ai_firewall_policiesGetPayload<object>;

/** @throws Refusal not_found */
export async function piiPolicyById(tx: Tx, ctx: Ctx, id: string): Promise<PiiPolicyRow> {
  const row = isUuid(id) ? await tx.ai_pii_policies.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** @throws Refusal not_found */
export async function recognizerById(tx: Tx, ctx: Ctx, id: string): Promise<RecognizerRow> {
  const row = isUuid(id) ? await tx.ai_pii_recognizers.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** @throws Refusal not_found */
export async function firewallById(tx: Tx, ctx: Ctx, id: string): Promise<FirewallRow> {
  const row = isUuid(id) ? await tx.ai_firewall_policies.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As by ID, holding the row until the transaction ends. */
export async function lockedPiiPolicy(tx: Tx, ctx: Ctx, id: string): Promise<PiiPolicyRow> {
  const found = await piiPolicyById(tx, ctx, id);
  await tx.$queryRaw`select 1 from ai_pii_policies where id = ${found.id}::uuid for update`;
  return piiPolicyById(tx, ctx, id);
}

export async function lockedRecognizer(tx: Tx, ctx: Ctx, id: string): Promise<RecognizerRow> {
  const found = await recognizerById(tx, ctx, id);
  await tx.$queryRaw`select 1 from ai_pii_recognizers where id = ${found.id}::uuid for update`;
  return recognizerById(tx, ctx, id);
}

export async function lockedFirewall(tx: Tx, ctx: Ctx, id: string): Promise<FirewallRow> {
  const found = await firewallById(tx, ctx, id);
  await tx.$queryRaw`select 1 from ai_firewall_policies where id = ${found.id}::uuid for update`;
  return firewallById(tx, ctx, id);
}

export const shownPiiPolicy = (row: PiiPolicyRow) => row as unknown as z.input<typeof PiiPolicy>;

/** A recognizer as the detectors take it. */
export const recognizerOf = (row: Omit<RecognizerRow, 'confidence'> & { confidence: unknown }): Recognizer =>
  ({ ...row, confidence: Number(row.confidence) }) as unknown as Recognizer;

export const shownRecognizer = (row: RecognizerRow) =>
  ({
    ...row,
    confidence: Number(row.confidence),
    entity_type: entityOf(row.name),
    stream_safe: isStreamSafe(recognizerOf(row)),
  }) as unknown as z.input<typeof PiiRecognizer>;

/** Whether its longest match and its context fit what a stream holds back unless an agent says otherwise. */
export const isStreamSafe = (recognizer: Recognizer): boolean => !isSidecarKind(recognizer.kind) && reachOf(recognizer) <= BUILT_IN_REACH;

export const shownFirewall = (row: FirewallRow) =>
  ({ ...row, vector_classifier_enabled: false, lakera_enabled: false, model_classifier_id: null }) as unknown as z.input<
    typeof FirewallPolicy
  >;

type Attached = { type: 'ai_agent' | 'mcp_server'; id: string; name: string };

/** Agents and MCP servers that calls go through and that name the policy; archived ones don't count. */
export async function attachedTo(tx: Tx, ctx: Ctx, field: 'pii_redact_policy_id' | 'firewall_policy_id', id: string): Promise<Attached[]> {
  const where = { ...own(ctx), [field]: id, status: { not: 'archived' } };
  const select = { id: true, name: true };
  const orderBy = { name: 'asc' } as const;
  const agents = await tx.ai_agents.findMany({ where, select, orderBy });
  const servers = await tx.mcp_servers.findMany({ where, select, orderBy });
  return [
    ...agents.map((one) => ({ type: 'ai_agent' as const, ...one })),
    ...servers.map((one) => ({ type: 'mcp_server' as const, ...one })),
  ];
}

/** Archived ones serve no calls and let go of the policy, so that it can be deleted. */
export async function releaseArchived(tx: Tx, ctx: Ctx, field: 'pii_redact_policy_id' | 'firewall_policy_id', id: string): Promise<void> {
  const where = { ...own(ctx), [field]: id, status: 'archived' };
  await tx.ai_agents.updateMany({ where, data: { [field]: null } });
  await tx.mcp_servers.updateMany({ where, data: { [field]: null } });
}

/** Who made it: a person's ID, or that of the key or client. */
export const creatorOf = ({ actor }: Ctx): string | null => (actor.type === 'oauth_token' ? (actor.user_id ?? actor.id) : actor.id);
