import { leafCertificate, newKeyPair, newSerial, type Usage } from '#server/crypto/pki/authority.ts';
import { pemOf } from '#server/crypto/pki/pem.ts';
import { subjectText } from '#server/crypto/pki/subject.ts';
import { limitOf } from '#server/domain/plans/service.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { openAuthority } from './ca-keys.ts';
import { BACKDATING_MS } from './crls.ts';
import { notActive, SHORTEST_MS, wholeSecond } from './intermediates.ts';
import { judgeCommonName, judgeName, normalizeIp } from './names.shared.ts';
import { fingerprint } from './roots.ts';
import { MOST_TEST_TTL, type SOURCES } from './schema.ts';
import { activeIntermediate, type IntermediateRow, type RoleRow, type RootRow, roleByRef, rootByRef } from './store.ts';
import { ATTRIBUTES, type Attribute, longNames, type SubjectFields } from './subject.schema.ts';
import { urlsUnder } from './urls.ts';

/** Leaves of one root in a second (interface rule 43 §9). */
const MOST_A_SECOND = 50;

type Source = (typeof SOURCES)[number];
/** What a caller asks for. Of `subject`, what is left out comes from the root and null drops it. */
export type Wanted = {
  subject: Partial<Record<string, string | null>>;
  san_dns?: readonly string[] | undefined;
  san_ip?: readonly string[] | undefined;
  ttl_seconds?: number | undefined;
};
/** What a role has agreed to; nothing is signed and nothing spent. */
export type Plan = {
  root: RootRow;
  role: RoleRow;
  intermediate: IntermediateRow;
  subject: SubjectFields;
  san_dns: string[];
  san_ip: string[];
  not_before: Date;
  not_after: Date;
};
export type SignedLeaf = Plan & { id: string; serial_hex: string; certificate: Buffer };

/**
 * A certificate with a key of ours, which the answer shows and nothing keeps.
 * @throws Refusal not_found, validation_error, root_not_active, plan_limit, rate_limit_exceeded, tenant_sealed
 */
export async function issueCertificate(ctx: Ctx, { name, role, ...wanted }: Wanted & { name: string; role: string }) {
  const plan = await planLeaf(ctx, { name, role }, wanted, 'pki:issue');
  const key = newKeyPair();
  try {
    const signed = await issueUnder(ctx, plan, key.publicKey, 'issue');
    return { ...signed, private_key_pem: pemOf('PRIVATE KEY', key.privateKey) };
  } finally {
    key.privateKey.fill(0);
  }
}

/**
 * The same for a public key (SPKI DER) whose private key stays where it is: certificate requests and ACME. The caller has checked that the requester holds
 * it. The audit entry names the actor of `ctx`.
 * @throws Refusal as issueCertificate
 */
export async function issueForKey(
  ctx: Ctx,
  {
    name,
    role,
    source,
    publicKey,
    ...wanted
  }: Wanted & { name: string; role: string; source: Exclude<Source, 'issue'>; publicKey: Uint8Array },
) {
  const plan = await planLeaf(ctx, { name, role }, wanted, 'pki:sign');
  return issueUnder(ctx, plan, publicKey, source);
}

async function issueUnder(ctx: Ctx, plan: Plan, publicKey: Uint8Array, source: Source) {
  const giveBack = await spendQuota(ctx, plan.root);
  try {
    const leaf = await signLeaf(ctx, plan, publicKey);
    await mutate(ctx, async (tx) => audited(null, await recordLeaf(tx, ctx, leaf, source)));
    return answerOf(leaf);
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** What an answer shows of a signed leaf. */
export const answerOf = ({ serial_hex, certificate, intermediate, root, not_before, not_after }: SignedLeaf) => ({
  serial_hex,
  cert_pem: pemOf('CERTIFICATE', certificate),
  ca_chain_pem: pemOf('CERTIFICATE', intermediate.certificate) + pemOf('CERTIFICATE', root.certificate),
  not_before,
  not_after,
});

/**
 * Judges names and lifetime against the role. What is asked for longer than role and intermediate allow is cut, with a warning.
 * @throws Refusal not_found, validation_error, root_not_active, forbidden
 */
export async function planLeaf(
  ctx: Ctx,
  ref: { name: string; role: string },
  wanted: Wanted,
  capability: 'pki:issue' | 'pki:sign',
): Promise<Plan> {
  const { root, role, intermediate } = await read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, ref.name);
    const role = await roleByRef(tx, ctx, root.id, ref.role);
    return { root, role, intermediate: await activeIntermediate(tx, ctx, root.id) };
  });
  const policy = await denyingPolicy(ctx, capability, { id: root.id, name: `${root.name}/${role.name}` });
  if (policy) throw policyDenied(ctx, policy, capability);
  const names = agreedNames(role, wanted);
  const left = intermediate && root.status === 'active' ? intermediate.not_after.getTime() - ctx.now.getTime() : 0;
  if (root.status !== 'active') throw notActive(root);
  if (!intermediate || left < SHORTEST_MS)
    throw new Refusal('root_not_active', `The root ${root.name} has no intermediate that lasts another minute. Rotate it first.`);
  const ends = agreedEnd(ctx, role, intermediate, wanted.ttl_seconds);
  return {
    ...{ root, role, intermediate, ...names },
    subject: inherited(root.subject_fields, names.common_name, longNames(wanted.subject)),
    not_before: wholeSecond(ctx.now.getTime() - BACKDATING_MS),
    not_after: wholeSecond(ends),
  };
}

/** The first of what the caller, the role, the space and the intermediate allow. A warning names the one that cut it short. */
function agreedEnd(ctx: Ctx, role: RoleRow, intermediate: IntermediateRow, ttl_seconds: number | undefined): number {
  const after = (seconds: number) => ctx.now.getTime() + seconds * 1_000;
  const asked = after(ttl_seconds ?? role.default_ttl_seconds);
  const bounds: [ends: number, why: string][] = [
    [after(role.max_ttl_seconds), 'the role allows no more'],
    ...(ctx.sandbox ? [[after(MOST_TEST_TTL), 'certificates of Test last 30 days at most'] as [number, string]] : []),
    [intermediate.not_after.getTime(), 'its intermediate ends then'],
  ];
  const [ends, why] = bounds.reduce((least, bound) => (bound[0] < least[0] ? bound : least));
  if (ends >= asked) return asked;
  const wish = ttl_seconds === undefined ? 'the role says' : 'ttl_seconds asks for';
  ctx.warnings.push(`The certificate ends ${new Date(ends).toISOString()}, sooner than ${wish}: ${why}.`);
  return ends;
}

/** The names in their one spelling, the common name among them where it is one of a host. @throws Refusal validation_error */
function agreedNames(role: RoleRow, { subject, san_dns = [], san_ip = [] }: Wanted) {
  const common_name = longNames(subject).common_name ?? undefined;
  if (common_name === undefined && san_dns.length === 0 && san_ip.length === 0)
    throw invalid('subject', 'must have a common_name unless san_dns or san_ip names something');
  const dns = san_dns.map((text, i) => allowedName(role, `san_dns.${i}`, text));
  const ip = san_ip.map((text, i) => allowedIp(role, `san_ip.${i}`, text));
  if (common_name !== undefined) {
    // Clients take a common name that reads as an address for one.
    if (normalizeIp(common_name) !== null) ip.push(allowedIp(role, 'subject.common_name', common_name));
    else {
      const verdict = judgeCommonName(role, common_name);
      if (!verdict.allowed) throw notAllowed(role, 'subject.common_name', common_name);
      if (verdict.host) dns.push(verdict.name);
    }
  }
  const normal = common_name === undefined ? undefined : (normalizeIp(common_name) ?? hostSpelling(role, common_name));
  return { san_dns: [...new Set(dns)], san_ip: [...new Set(ip)], common_name: normal };
}

function hostSpelling(role: RoleRow, common_name: string): string {
  const verdict = judgeCommonName(role, common_name);
  // An A-label may be longer than a common name can be.
  return verdict.allowed && verdict.host && verdict.name.length <= 64 ? verdict.name : common_name;
}

function allowedName(role: RoleRow, field: string, text: string): string {
  const verdict = judgeName(role, text);
  if (verdict.allowed) return verdict.name;
  if (verdict.why !== 'malformed') throw notAllowed(role, field, text);
  throw invalid(field, normalizeIp(text) === null ? `${quoted(text)} is no host name` : `${quoted(text)} is an address. Send it in san_ip`);
}

function allowedIp(role: RoleRow, field: string, text: string): string {
  const address = normalizeIp(text);
  if (address === null) throw invalid(field, `${quoted(text)} is no IPv4 or IPv6 address`);
  if (!role.allow_ip_sans) throw invalid(field, `the role ${role.name} allows no IP addresses, such as ${quoted(text)}`);
  return address;
}

const notAllowed = (role: RoleRow, field: string, text: string): Refusal =>
  invalid(
    field,
    `the role ${role.name} doesn't allow the name ${quoted(text)}${role.allowed_domains.length === 0 ? ': its allowed_domains are empty. Add the domains that it may issue for' : ''}`,
  );
/** As JSON: a name may hold what would look like the end of the sentence. */
const quoted = (text: string): string => JSON.stringify(text.slice(0, 253));

/** The attributes of the root but for its common name, unless the caller says otherwise. */
function inherited(root: SubjectFields, common_name: string | undefined, given: Partial<Record<Attribute, string | null>>): SubjectFields {
  const subject: SubjectFields = common_name === undefined ? {} : { common_name };
  for (const name of ATTRIBUTES) {
    if (name === 'common_name') continue;
    const value = given[name] === undefined ? root[name] : given[name];
    if (value !== undefined && value !== null) subject[name] = value;
  }
  return subject;
}

/** Counts one leaf of the month and of the second; what it hands back takes the month's back. @throws Refusal plan_limit, rate_limit_exceeded */
export async function spendQuota(ctx: Ctx, root: RootRow): Promise<() => void> {
  const second = Math.floor(Date.now() / 1_000);
  if ((await windowCounter()(`pki:${root.id}`, second, 1, MOST_A_SECOND + 1)) > MOST_A_SECOND)
    throw new Refusal('rate_limit_exceeded', `A root issues at most ${MOST_A_SECOND} certificates a second.`, { retryAfter: 1 });
  // Monthly meters count Live only (interface rule 20 §3).
  if (ctx.sandbox) return () => {};
  const limit = await read(ctx, (tx) => limitOf(tx, ctx, 'pki_certificates'));
  const { allowed, used, giveBack } = await takeFromMonth(ctx.tenant_id, 'pki_certificates', 1, limit, ctx.now);
  if (!allowed)
    throw new Refusal(
      'plan_limit',
      `The ${ctx.plan} plan allows ${limit} certificates a month, and ${used} were issued. Wait for the next month or ${moreRoom(ctx.plan)}.`,
    );
  return giveBack;
}

/** Counts a leaf for which there was room when it was checked. */
export async function countLeaf(ctx: Ctx): Promise<void> {
  if (!ctx.sandbox) await takeFromMonth(ctx.tenant_id, 'pki_certificates', 1, null, ctx.now);
}

/** Signs what was planned, for a public key (SPKI DER). @throws Refusal tenant_sealed */
export async function signLeaf(ctx: Ctx, plan: Plan, publicKey: Uint8Array, usages?: readonly Usage[]): Promise<SignedLeaf> {
  const serial_hex = newSerial();
  const certificate = leafCertificate({
    issuer: await openAuthority(ctx, plan.intermediate),
    publicKey: Buffer.from(publicKey),
    subject: plan.subject,
    sanDns: plan.san_dns,
    sanIp: plan.san_ip,
    ...(usages ? { usages } : {}),
    serial: serial_hex,
    notBefore: plan.not_before,
    notAfter: plan.not_after,
    urls: urlsUnder(plan.root, plan.intermediate.id),
  });
  return { ...plan, id: newId(), serial_hex, certificate };
}

/**
 * Writes the record in the caller's transaction, which must write the entry as well. What was revoked or deleted since the plan gets no leaf.
 * @throws Refusal root_not_active
 */
export async function recordLeaf(tx: Tx, ctx: Ctx, leaf: SignedLeaf, source: Source): Promise<AuditEntry> {
  const { root, role, intermediate } = leaf;
  const [state] = await tx.$queryRaw<{ issues: boolean }[]>`
    select r.status = 'active' and i.status in ('active', 'retired') as issues from pki_roots r join pki_intermediates i on i.ca_root_id = r.id
    where r.id = ${root.id}::uuid and i.id = ${intermediate.id}::uuid for share`;
  if (!state?.issues) throw new Refusal('root_not_active', `The root ${root.name} stopped issuing certificates a moment ago.`);
  const subject = subjectText(leaf.subject);
  await tx.pki_certificates.create({
    data: {
      ...own(ctx),
      id: leaf.id,
      ca_root_id: root.id,
      intermediate_id: intermediate.id,
      role_name: role.name,
      serial_hex: leaf.serial_hex,
      subject,
      san_dns: leaf.san_dns,
      san_ip: leaf.san_ip,
      certificate: new Uint8Array(leaf.certificate),
      fingerprint_sha256: fingerprint(leaf.certificate),
      not_before: leaf.not_before,
      not_after: leaf.not_after,
      source,
      issued_by: auditActor(ctx.actor),
      created_at: ctx.now,
    },
    select: { id: true },
  });
  const entry = leafEntry(leaf, source);
  return ctx.actor.type === 'acme_account' ? { ...entry, details: { ...entry.details, acme_account: ctx.actor.id } } : entry;
}

export const leafEntry = (leaf: SignedLeaf, source: Source): AuditEntry => ({
  action: 'pki.leaf.issue',
  resource_type: 'pki_leaf',
  resource_id: leaf.id,
  name: subjectText(leaf.subject) || (leaf.san_dns[0] ?? leaf.san_ip[0] ?? ''),
  details: {
    root: leaf.root.name,
    role: leaf.role.name,
    serial: leaf.serial_hex,
    subject: subjectText(leaf.subject),
    san: [...leaf.san_dns, ...leaf.san_ip],
    not_after: leaf.not_after,
    source,
  },
});
