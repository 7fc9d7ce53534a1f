import { randomBase62 } from '#server/crypto/random.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { lookupTxt, type TxtAnswer } from '#server/platform/dns-txt.ts';
import { throttled } from '#server/platform/throttle.ts';
import { endLoginsForSso, isTaken } from './holders.ts';
import { ownableDomain } from './names.ts';
import { entryOf, txtName, VERIFIED } from './rows.ts';
import type { DomainStatus } from './schema.ts';

export { claimForSso, domainHolders, endLoginsForSso, isVerifiedFor, releaseFromSso, verifiedIn } from './holders.ts';
export { domainOf } from './names.ts';
export { recheckDomains } from './recheck.ts';

const PENDING_MS = 14 * 24 * 3_600_000;
const MOST_DOMAINS = 100;

const view = <R extends { domain: string; status: string }>(row: R) => ({
  ...row,
  status: row.status as DomainStatus,
  txt_name: txtName(row.domain),
});

/** All domains of the workspace by name; they are the same in both spaces. */
export async function listDomains(ctx: Ctx) {
  const rows = await read(ctx, (tx) => tx.tenant_domains.findMany({ where: { tenant_id: ctx.tenant_id }, orderBy: { domain: 'asc' } }));
  return rows.map(view);
}

/** A domain to be verified; one that expired gets a new value to publish. @throws Refusal validation_error, conflict when it is there already */
export function createDomain(ctx: Ctx, input: { domain: string }) {
  const domain = ownableDomain(input.domain);
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:domains`);
    await tx.tenant_domains.deleteMany({ where: { tenant_id: ctx.tenant_id, domain, status: 'expired' } });
    if ((await tx.tenant_domains.count({ where: { tenant_id: ctx.tenant_id } })) >= MOST_DOMAINS)
      throw new Refusal('conflict', `A workspace can have at most ${MOST_DOMAINS} domains. Remove one first.`);
    const row = await tx.tenant_domains
      .create({
        data: {
          id: newId(),
          tenant_id: ctx.tenant_id,
          domain,
          txt_value: `svc-domain-verification=${randomBase62(32)}`,
          expires_at: new Date(ctx.now.getTime() + PENDING_MS),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('This workspace already has this domain.'));
    return audited(view(row), { action: 'create', ...entryOf(row) });
  });
}

/**
 * Looks for the TXT record now. An exact value at either resolver proves the domain.
 * @throws Refusal not_found, conflict for an expired request, domain_txt_not_found with what was seen, rate_limited
 */
export async function verifyDomain(ctx: Ctx, input: { id: string }) {
  const asked = await read(ctx, (tx) => domainById(tx, ctx, input.id));
  if (asked.status === 'expired') throw expired();
  await throttled([{ what: 'domain-verify', subject: ctx.tenant_id, limit: 30, window_sec: 300 }], ctx.now, 'rate_limited');
  const answers = await lookupTxt(txtName(asked.domain));
  if (!answers.some(({ values }) => values.includes(asked.txt_value))) throw txtNotFound(asked, answers);
  return setVerified(ctx, asked.id);
}

/** Marks a domain as verified, whatever DNS says: the caller has looked, or is the operator. */
export function setVerified(ctx: Ctx, id: string) {
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:domains`);
    const before = await domainById(tx, ctx, id);
    if (before.status === 'expired') throw expired();
    const { sso_required } = settingsOf(
      (await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { settings: true } })).settings,
    );
    const claims = sso_required && !before.sso_required && !(await isTaken(tx, before.domain));
    if (sso_required && !before.sso_required && !claims)
      ctx.warnings.push(`Another workspace requires single sign-on for ${before.domain}, so it isn't required here for its members.`);
    const row = await tx.tenant_domains.update({
      where: { id },
      data: {
        ...VERIFIED,
        ...(claims ? { sso_required: true } : {}),
        verified_at: before.status === 'pending' ? ctx.now : before.verified_at,
        checked_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    const apps = claims ? await endLoginsForSso(tx, [row.domain], ctx.now) : 0;
    if (before.status === 'verified' && !claims) return unchanged(view(row));
    return audited(view(row), {
      action: 'update',
      ...entryOf(row),
      details: { state: 'verified', ...(claims ? { sso_required: true, apps } : {}) },
    });
  });
}

/** Sign-in and provisioning stop trusting it at once; people who joined by it stay. @throws Refusal not_found */
export function deleteDomain(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:domains`);
    const row = await domainById(tx, ctx, input.id);
    await tx.tenant_domains.delete({ where: { id: row.id } });
    const details = { state: row.status, ...(row.sso_required ? { sso_required: true } : {}) };
    return audited({ deleted: true as const }, { action: 'delete', ...entryOf(row), details });
  });
}

/** @throws Refusal not_found */
export async function domainById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.tenant_domains.findFirst({ where: { id, tenant_id: ctx.tenant_id } }) : null;
  if (!row) throw notFound();
  return row;
}

const expired = () => new Refusal('conflict', 'This request has expired. Add the domain again to get a new value to publish.');

const MOST_SEEN = 10;

/** Says what each resolver has, because a typing error in a record is found by reading it. */
function txtNotFound({ domain, txt_value }: { domain: string; txt_value: string }, answers: readonly TxtAnswer[]): Refusal {
  const seen = answers.map(({ resolver, reached, values }) => ({
    resolver,
    reached,
    values: values.slice(0, MOST_SEEN).map((value) => value.slice(0, 255)),
  }));
  const reached = answers.some((answer) => answer.reached);
  const others = new Set(seen.flatMap(({ values }) => values)).size;
  const message = !reached
    ? "No DNS resolver answered. Your record isn't the problem: try again in a minute."
    : others === 0
      ? `There is no TXT record at ${txtName(domain)} yet. Publish it, then verify again; new records can take up to an hour.`
      : `None of the TXT records at ${txtName(domain)} has the expected value. Compare what was found with the value to publish.`;
  return new Refusal('domain_txt_not_found', message, { extra: { txt_name: txtName(domain), expected: txt_value, seen } });
}
