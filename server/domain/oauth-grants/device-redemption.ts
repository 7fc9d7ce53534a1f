import { digest } from '#server/crypto/tokens.ts';
import { holdPerson } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Tx } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { clientByRow, type OAuthClient } from './client.ts';
import { stillAuthenticated } from './client-lock.ts';
import { type Poll, pollDevice, type Redeemed } from './device-codes.ts';
import { type Issued, issueTokens } from './issue.ts';
import { grantedNow } from './person.ts';

export type DeviceRedemption = {
  /** Null for the alias service-cli while no workspace is chosen. */
  client: OAuthClient | null;
  alias: boolean;
  code: string;
  jkt: string | null;
  caller: { ip: string | null; user_agent: string | null };
  now: Date;
};

/**
 * Answers the poll of a device (interface rule 21 §6): its state, or once the tokens of the login that its person approved. The poll is counted in the same
 * transaction, so of any number at once one is answered.
 */
export function redeemDevice({
  client,
  alias,
  code,
  jkt,
  caller,
  now,
}: DeviceRedemption): Promise<{ issued: Issued } | { state: Poll['state'] }> {
  return db().$transaction(async (tx) => {
    const person = await approverOf(tx, code);
    if (person) await holdPerson(tx, person);
    const poll = await pollDevice(tx, code, { asks: (row) => asks(row.client_row_id, { client, alias, now }), held: person, now });
    if (poll.state !== 'approved') return { state: poll.state };
    const { row } = poll;
    const owner = await clientByRow(row.client_row_id, now);
    const standing = await standingNow(tx, row);
    if (!owner?.active || !standing || !(await stillAuthenticated(tx, client ?? owner))) return { state: 'unknown' as const };
    const issued = await issueTokens(tx, {
      client: owner,
      subject: { kind: 'user', user_id: row.user_id },
      scopes: grantedNow(row.scopes, owner, standing, row.step_up_at, now),
      resource: row.resource,
      jkt,
      family: 'new',
      grant: { id: row.family_id, flow: 'device', scopes: row.scopes, ...caller },
      step_up_at: row.step_up_at,
      now,
    });
    return { issued };
  });
}

/** Who approved the code, if anybody has. Read before the code is locked: an ending locks the person first. */
const approverOf = async (tx: Tx, code: string): Promise<string | null> =>
  (await tx.oauth_device_codes.findUnique({ where: { digest: new Uint8Array(digest(code)) }, select: { user_id: true } }))?.user_id ?? null;

/** Whether the code was given to the client that polls. Under the alias: to the alias, or to the workspace's own client of the command line. */
async function asks(
  clientRowId: string | null,
  { client, alias, now }: Pick<DeviceRedemption, 'client' | 'alias' | 'now'>,
): Promise<boolean> {
  if (!alias) return client !== null && clientRowId === client.id;
  return clientRowId === null || (await clientByRow(clientRowId, now))?.system_role === 'cli';
}

/** The person as they are now; null when they have left, or the account is disabled. */
async function standingNow(tx: Tx, { tenant_id, user_id }: Redeemed): Promise<{ role: MemberRole; reveal_secrets: boolean } | null> {
  const member = await tx.memberships.findFirst({
    where: { tenant_id, user_id, removed_at: null, user: { disabled_at: null } },
    select: { role: true, reveal_secrets: true },
  });
  return member && { ...member, role: member.role as MemberRole };
}
