import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { enter, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type Audited, writeAudits } from '#server/kernel/mutate.ts';

export type AccessLevel = 'use' | 'view' | 'manage';
export type ShareStatus = 'pending' | 'active' | 'expired' | 'declined' | 'revoked' | 'left';

/** Where a linked secret leads. What is null is not known of a share that ended. */
export type Link = {
  linked_secret_id: string;
  share_id: string;
  state: ShareStatus;
  owner_tenant_id: string | null;
  owner_workspace: string | null;
  environment: string | null;
  access_level: AccessLevel | null;
  allowed_hosts: string[] | null;
  unrestricted: boolean | null;
  share_expires_at: Date | null;
  claimed_at: Date | null;
  value_version: number | null;
  value_updated_at: Date | null;
  value_expires_at: Date | null;
  strict: boolean | null;
};

/** The links of these secrets, by the secret's ID; secrets of the workspace's own have none. */
export async function linksOf(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, Link>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.$queryRaw<Link[]>`select * from secret_links(${ids}::uuid[], ${ctx.now}::timestamptz)`;
  return new Map(rows.map((row) => [row.linked_secret_id, row]));
}

/** The link of one secret; undefined when it is the workspace's own. */
export async function linkOf(tx: Tx, ctx: Ctx, secret: { id: string; linked_share_id: string | null }): Promise<Link | undefined> {
  return secret.linked_share_id === null ? undefined : (await linksOf(tx, ctx, [secret.id])).get(secret.id);
}

/** A link in use. @throws Refusal forbidden once the share has ended */
export function requireActive(
  link: Link,
  name: string,
): Link & { owner_tenant_id: string; environment: string; access_level: AccessLevel } {
  const { owner_tenant_id, environment, access_level } = link;
  if (link.state === 'active' && owner_tenant_id && environment && access_level)
    return { ...link, owner_tenant_id, environment, access_level };
  throw new Refusal('forbidden', `${name} is no longer shared with this workspace.`);
}

/** @throws Refusal forbidden for a linked secret: what it holds belongs to another workspace */
export function requireOwn(secret: { name: string; linked_share_id: string | null }): void {
  if (secret.linked_share_id === null) return;
  throw new Refusal('forbidden', `${secret.name} is shared with this workspace. Only the workspace that shares it can change this.`);
}

export type Shared = {
  share_id: string;
  secret_id: string;
  secret_name: string;
  environment: string;
  access_level: AccessLevel;
  active: boolean;
};

/**
 * Works in the workspace that shares a secret, for the holder of the share, and returns to the caller's. The one place where a transaction enters another
 * workspace: the database names it only to the share's recipient and locks the share, so a revocation comes before or after. The work gets the one secret
 * that is shared, and is audited there under the recipient workspace's name. A failure leaves the whole transaction to be rolled back.
 * @throws Refusal forbidden when the share is not this workspace's
 */
export async function inSharingWorkspace<T>(
  tx: Tx,
  ctx: Ctx,
  shareId: string,
  work: (there: Ctx, shared: Shared) => Promise<Audited<T>>,
): Promise<T> {
  const [found] = await tx.$queryRaw<{ tenant_id: string; recipient_tenant_name: string }[]>`
    select tenant_id, recipient_tenant_name from sharing_workspace(${shareId}::uuid)`;
  if (!found) throw new Refusal('forbidden', 'This secret is no longer shared with this workspace.');
  const { step_up: _, expects: __, ...call } = ctx;
  const label = `${found.recipient_tenant_name}: ${maskedLabel(ctx.actor.label)}`;
  const there: Ctx = {
    ...call,
    tenant_id: found.tenant_id,
    actor: { type: 'partner', id: null, label, capabilities: new Set() },
    ip: null,
    user_agent: null,
  };
  await enter(tx, there);
  const share = await tx.secret_shares.findFirstOrThrow({ where: { ...own(there), id: shareId } });
  const { value, entries } = await work(there, {
    share_id: shareId,
    secret_id: share.secret_id,
    secret_name: share.secret_name,
    environment: share.environment_name,
    access_level: share.access_level as AccessLevel,
    active: share.status === 'active' && (share.expires_at === null || share.expires_at > ctx.now),
  });
  await writeAudits(tx, there, entries);
  await enter(tx, ctx);
  changedElsewhere(ctx, found.tenant_id);
  return value;
}

/** The gateways read the other workspace's space again before the answer is relayed. */
export function changedElsewhere(ctx: Ctx, tenantId: string): void {
  ctx.changed_elsewhere = [...new Set([...(ctx.changed_elsewhere ?? []), `${tenantId}:${spaceOf(ctx.sandbox)}`])];
}

/** What another workspace sees of a person or a credential: the first character, and of an address its domain. */
export function maskedLabel(label: string): string {
  const [first = ''] = label;
  const at = label.lastIndexOf('@');
  return `${first}•••${at > 0 ? label.slice(at) : ''}`;
}
