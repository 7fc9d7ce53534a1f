import { domainOf, isVerifiedFor } from '#server/domain/domains/service.ts';
import { postColleagueMail } from '#server/domain/mail/service.ts';
import { directoryWelcome } from '#server/domain/mail/templates.ts';
import { addMembership } from '#server/domain/people/service.ts';
import { assertFreeSeat } from '#server/domain/team/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';

export type Joined = { user_id: string; entry: AuditEntry; mail: string | null };

/**
 * Makes the owner of an address a member, with the role `member` whatever they were before, in an account that is found or made. Call it after `lockMembers`.
 * @throws Refusal validation_error for an address outside of the verified domains, plan_limit
 */
export async function joinByDirectory(tx: Tx, ctx: Ctx, address: string, fullName: string): Promise<Joined> {
  const domain = domainOf(address);
  if (domain === undefined || !(await isVerifiedFor(tx, ctx.tenant_id, address)))
    throw new Refusal(
      'validation_error',
      `${domain ?? address} isn't a verified domain of this workspace. An Owner or Admin can verify it under Domains.`,
      { extra: { scim: 'scim_domain_unverified' } },
    );
  await assertFreeSeat(tx, ctx);
  const [account] = await tx.$queryRaw<{ id: string; created: boolean }[]>`
    select id::text, created from scim_account(${newId()}::uuid, ${address}, ${domain}, ${fullName}, ${ctx.now})`;
  if (!account) throw new Error('there is no account for the address');
  await addMembership(tx, { tenant_id: ctx.tenant_id, user_id: account.id, role: 'member', source: 'scim', now: ctx.now });
  const entry: AuditEntry = {
    action: 'create',
    resource_type: 'member',
    resource_id: account.id,
    name: address,
    details: { via: 'scim', role: 'member', ...(account.created ? { account: 'created' } : {}) },
    workspace_level: true,
  };
  return { user_id: account.id, entry, mail: await welcome(tx, ctx, address) };
}

const DAY = 24 * 3_600_000;

/** At most one mail a day: a directory that turns a person off and on needn't say so each time. */
async function welcome(tx: Tx, ctx: Ctx, address: string): Promise<string | null> {
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const letter = directoryWelcome({ workspace: workspace.name, email: address }, `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/test`);
  const since = new Date(ctx.now.getTime() - DAY);
  const [row] = await tx.$queryRaw<{ told: boolean }[]>`select mailed_since(${address}, ${WELCOME}, ${letter.subject}, ${since}) as told`;
  return row?.told ? null : postColleagueMail(tx, { to: address, kind: WELCOME, letter, now: ctx.now });
}
const WELCOME = 'directory_welcome';
