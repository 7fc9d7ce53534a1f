import { domainOf, isVerifiedFor } from '#server/domain/domains/service.ts';
import { addMembership, auditCtx, canonicalEmail, createUser, endPerson, holdAddress } from '#server/domain/people/service.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { assertFreeSeat, lockMembers } from '#server/domain/team/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, writeAudit } from '#server/kernel/mutate.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { SSO_REASONS, type SsoReason } from './reasons.shared.ts';

/** What a provider said of a person, verified. */
export type Identity = {
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: boolean;
  name: string | null;
  /** amr values or authentication context classes, as asserted. */
  methods: string[];
  /** Whether they say that a second factor was used. */
  mfa: boolean;
};

export type ConnectionRow = { id: string; tenant_id: string; name: string };

/** A refused sign-in; the code of the reason travels to the sign-in page. */
export const refused = (reason: SsoReason, message: string = SSO_REASONS[reason], cause?: unknown) =>
  new Refusal('sso_refused', message, { extra: { reason }, ...(cause === undefined ? {} : { cause }) });

/** What a sign-in of this identity would do. */
export type Arrival = {
  user: { id: string; email: string; email_verified_at: Date | null } | null;
  linked: boolean;
  member: boolean;
  email: string;
};

/**
 * Who signs in (interface rule 22 §9): the person linked to issuer and subject in this connection; at the first time the account with the verified address,
 * in a domain that this very workspace has verified. Reads only. @throws Refusal sso_refused with the reason
 */
export async function arrivalOf(tx: Tx, connection: ConnectionRow, identity: Identity): Promise<Arrival> {
  const { tenant_id } = connection;
  const select = { id: true, email: true, email_verified_at: true, disabled_at: true } as const;
  const link = await tx.user_identities.findUnique({
    where: { connection_id_issuer_subject: { connection_id: connection.id, issuer: identity.issuer, subject: identity.subject } },
    select: { user: { select } },
  });
  const email = link ? link.user.email : verifiedEmail(identity);
  const user = link?.user ?? (await tx.users.findUnique({ where: { email }, select }));
  if (!link && !(await isVerifiedFor(tx, tenant_id, email))) throw refused('domain_unverified', unverifiedDomain(email));
  if (user?.disabled_at) throw refused('account_disabled');
  const memberships = user ? await tx.memberships.findMany({ where: { tenant_id, user_id: user.id }, select: { removed_at: true } }) : [];
  const member = memberships.some(({ removed_at }) => removed_at === null);
  if (!member) await assertMayJoin(tx, tenant_id, email, memberships.length > 0);
  return { user, linked: link !== null, member, email };
}

function verifiedEmail({ email, email_verified }: Identity): string {
  if (email === null || !/^[^@\s]+@[^@\s]+$/.test(email)) throw refused('email_missing');
  if (!email_verified) throw refused('email_unverified');
  return canonicalEmail(email);
}

const unverifiedDomain = (email: string) =>
  `${domainOf(email) ?? 'The domain of your email address'} isn't verified in this workspace. Ask an Owner or Admin to verify it.`;

/** Joining without an invitation (interface rule 22 §9). Who was removed comes back by an invitation only. */
async function assertMayJoin(tx: Tx, tenantId: string, email: string, removed: boolean): Promise<void> {
  if (removed) throw refused('removed');
  const { settings } = await tx.tenants.findUniqueOrThrow({ where: { id: tenantId }, select: { settings: true } });
  if (!settingsOf(settings).jit_joining) throw refused('not_a_member');
  if (!(await isVerifiedFor(tx, tenantId, email))) throw refused('domain_unverified', unverifiedDomain(email));
}

/** Links the identity, and makes account and membership where they are missing. @returns the person's id @throws Refusal sso_refused */
export async function admit(tx: Tx, ctx: PersonCtx, connection: ConnectionRow, identity: Identity): Promise<string> {
  const { tenant_id } = connection;
  if (identity.email) await holdAddress(tx, canonicalEmail(identity.email));
  const arrival = await arrivalOf(tx, connection, identity);
  const user =
    arrival.user ??
    (await createUser(tx, { email: arrival.email, full_name: nameOf(identity), password_hash: null, email_verified: true, now: ctx.now }));
  const audit = (entry: AuditEntry) =>
    writeAudit(tx, auditCtx(ctx, { id: user.id, email: user.email }, tenant_id), { ...entry, workspace_level: true });
  if (arrival.user && arrival.user.email_verified_at === null) await takeOver(tx, arrival.user.id, ctx.now);
  if (!arrival.member) {
    await assertRoom(tx, ctx, tenant_id);
    await addMembership(tx, { tenant_id, user_id: user.id, role: 'member', source: 'sso', now: ctx.now });
    await audit({
      action: 'create',
      resource_type: 'member',
      resource_id: user.id,
      name: user.email,
      details: { role: 'member', source: 'sso', connection: connection.name },
    });
  }
  const { issuer, subject } = identity;
  await tx.user_identities.upsert({
    where: { connection_id_issuer_subject: { connection_id: connection.id, issuer, subject } },
    create: {
      id: newId(),
      tenant_id,
      user_id: user.id,
      connection_id: connection.id,
      issuer,
      subject,
      created_at: ctx.now,
      last_used_at: ctx.now,
    },
    update: { last_used_at: ctx.now },
  });
  if (!arrival.linked)
    await audit({
      action: 'update',
      resource_type: 'user',
      resource_id: user.id,
      name: user.email,
      details: { field: 'identity', issuer, connection: connection.name },
    });
  return user.id;
}

/**
 * An account whose address was never proven may be a stranger's, made ahead of its owner: nothing that its maker set up keeps working.
 */
async function takeOver(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.users.update({ where: { id: userId }, data: { email_verified_at: now, password_hash: null } });
  const theirs = { where: { user_id: userId } };
  await tx.webauthn_credentials.deleteMany(theirs);
  await tx.totp_secrets.deleteMany(theirs);
  await tx.recovery_codes.deleteMany(theirs);
  await endPerson(tx, { user_id: userId, reason: 'account_taken_over', now });
}

async function assertRoom(tx: Tx, ctx: PersonCtx, tenantId: string): Promise<void> {
  await lockMembers(tx, tenantId);
  const { subscription_plan } = await tx.tenants.findUniqueOrThrow({ where: { id: tenantId }, select: { subscription_plan: true } });
  const member = { ...auditCtx(ctx, { id: tenantId, email: '' }, tenantId), plan: subscription_plan as PlanName };
  await assertFreeSeat(tx, member).catch((error: unknown) => {
    throw error instanceof Refusal ? refused('member_limit') : error;
  });
}

const nameOf = ({ name }: Identity) =>
  (name ?? '')
    .replace(/[\u0000-\u001f\u007f]/g, ' ')
    .trim()
    .slice(0, 120);
