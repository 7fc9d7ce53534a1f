import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** An entry of either store, before anybody decides who may see its details. */
export type AuditRow = {
  id: string;
  seq: bigint;
  store: 'general' | 'critical';
  action: string;
  resource_type: string;
  resource_id: string | null;
  details: Record<string, unknown>;
  ip_address: string | null;
  created_at: Date;
  sandbox: boolean;
  actor: { type: string | null; id: string | null; label: string | null };
  request_id: string | null;
  user_agent: string | null;
  sequence_number: string | null;
};

/** The rows behind keys, in the order of the keys. */
export async function rowsOf(tx: Tx, ctx: Ctx, keys: readonly Pick<AuditRow, 'seq' | 'store'>[]): Promise<AuditRow[]> {
  const seqs = (store: AuditRow['store']) => keys.filter((k) => k.store === store).map((k) => k.seq);
  const general = seqs('general');
  const critical = seqs('critical');
  const rows = [
    ...(general.length > 0
      ? (await tx.audit_logs.findMany({ where: { tenant_id: ctx.tenant_id, seq: { in: general } } })).map(fromGeneral)
      : []),
    ...(critical.length > 0 ? await fromCritical(tx, ctx, critical) : []),
  ];
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return keys.flatMap((k) => bySeq.get(k.seq) ?? []);
}

type GeneralRow = Prisma.audit_logsGetPayload<object>;

/** An entry of the general store as readers of both stores take it. */
export const fromGeneral = (row: GeneralRow): AuditRow => ({
  id: row.id,
  seq: row.seq,
  store: 'general',
  action: row.action,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  details: row.details as Record<string, unknown>,
  ip_address: row.ip_address,
  created_at: row.created_at,
  sandbox: row.sandbox,
  actor: { type: row.actor_type, id: row.actor_id, label: row.actor_label },
  request_id: row.request_id,
  user_agent: row.user_agent,
  sequence_number: null,
});

/** The chain holds ids and never names of people: labels are looked up when somebody reads (interface rule 61 §6). */
async function fromCritical(tx: Tx, ctx: Ctx, seqs: bigint[]): Promise<AuditRow[]> {
  const rows = await tx.audit_log_critical.findMany({ where: { tenant_id: ctx.tenant_id, seq: { in: seqs } } });
  const ids = [...new Set(rows.flatMap((r) => r.actor_id ?? []))];
  const users = ids.length === 0 ? [] : await tx.users.findMany({ where: { id: { in: ids } }, select: { id: true, email: true } });
  const apiKeys =
    ids.length === users.length
      ? []
      : await tx.api_keys.findMany({ where: { tenant_id: ctx.tenant_id, id: { in: ids } }, select: { id: true, name: true } });
  const known = new Map<string, { type: string | null; label: string | null }>();
  for (const user of users) known.set(user.id, { type: 'user', label: user.email });
  for (const key of apiKeys) known.set(key.id, { type: 'api_key', label: key.name });
  return rows.map((row) => {
    const who = row.actor_id === null ? { type: 'system', label: 'system' } : (known.get(row.actor_id) ?? { type: null, label: null });
    const actor = { type: who.type, id: row.actor_id, label: who.label };
    const details = row.details as Record<string, unknown>;
    return {
      id: row.id,
      seq: row.seq,
      store: 'critical',
      action: row.action,
      resource_type: row.resource_type,
      resource_id: row.resource_id,
      details: { ...details, actor, request_id: row.request_id },
      ip_address: row.ip_address,
      created_at: row.at,
      sandbox: details.sandbox === true,
      actor,
      request_id: row.request_id,
      user_agent: row.user_agent,
      sequence_number: String(row.sequence_number),
    };
  });
}
