import type { Db, Tx } from '#server/kernel/database.ts';

/** The addresses that belong to no member of a workspace. */
export async function strangersAmong(tx: Db | Tx, tenant_id: string, addresses: readonly string[]): Promise<string[]> {
  if (addresses.length === 0) return [];
  const members = await tx.memberships.findMany({
    where: { tenant_id, removed_at: null },
    select: { user: { select: { email: true } } },
  });
  const known = new Set(members.map(({ user }) => user.email.toLowerCase()));
  return addresses.filter((address) => !known.has(address.toLowerCase()));
}

/** Why mail of a workspace on the Free plan goes to nobody else (interface rule 62 §3.1): the plan is open to everybody, and so to spammers. */
export const membersOnly = (strangers: readonly string[]): string =>
  `On the Free plan, mail goes to members of the workspace only, and ${strangers.join(', ')} ${strangers.length === 1 ? "isn't one" : "aren't"}. Invite them, or upgrade the plan.`;
