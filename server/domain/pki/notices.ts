import { raise } from '#server/domain/events/service.ts';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Db } from '#server/kernel/tx.ts';
import { env } from '#server/platform/env.ts';
import { rootEnding } from './letters.ts';

/** Days before the end of a root at which Owners are told, and of a leaf at which its event is raised (interface rule 43 §4.2, §9). */
const ROOT_DAYS = [90, 30, 7];
const LEAF_DAYS = [30, 7, 1];
const BATCH = 500;

/** Mails Owners about roots that end; each threshold once. @returns roots told of */
export async function tellOfEndingRoots(db: Db, now: Date): Promise<number> {
  const told = await db.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<
      {
        id: string;
        tenant_id: string;
        sandbox: boolean;
        name: string;
        subject: string;
        ends: Date;
        days: number;
        workspace: string;
        slug: string;
      }[]
    >`
      select r.id, r.tenant_id, r.sandbox, r.name, r.subject, r.not_after as ends, d.days, t.name as workspace, t.slug
      from pki_roots r join tenants t on t.id = r.tenant_id
        cross join lateral (select min(n) as days from unnest(${ROOT_DAYS}::int[]) n where r.not_after <= ${now}::timestamptz + n * interval '1 day') d
      where r.not_after > ${now} and r.status <> 'revoked' and t.deleted_at is null and d.days is not null and (r.told_days is null or r.told_days > d.days)
      order by r.id limit ${BATCH} for update of r skip locked`;
    const mails: string[] = [];
    for (const { id, tenant_id, sandbox, slug, ...about } of rows) {
      const space = spaceOf(sandbox);
      const letter = rootEnding({ ...about, space }, `${env.PUBLIC_ADMIN_URL}/${slug}/${space}/pki/${id}`);
      mails.push(...(await postTeamMails(tx, { tenant_id, kind: 'pki_root_ending', letter, now })));
      await tx.pki_roots.update({ where: { id }, data: { told_days: about.days }, select: { id: true } });
    }
    return { roots: rows.length, mails };
  });
  for (const id of told.mails) dispatch(db, id);
  return told.roots;
}

type Leaf = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  root: string;
  role_name: string;
  serial_hex: string;
  subject: string;
  san_dns: string[];
  san_ip: string[];
  not_after: Date;
  days: number;
};

/**
 * Raises `pki.certificate.expiring` for leaves that end in 30, 7 and 1 days, each once, unless a newer one of the same root has the same subject and names.
 * A threshold that was closer than the whole life of a leaf is no news. @returns leaves announced
 */
export async function announceEndingLeaves(db: Db, now: Date): Promise<number> {
  for (let announced = 0; ; ) {
    const rows = await db.$transaction(async (tx) => {
      const leaves = await tx.$queryRaw<Leaf[]>`
        select c.id, c.tenant_id, c.sandbox, r.name as root, c.role_name, c.serial_hex, c.subject, c.san_dns, c.san_ip, c.not_after, d.days
        from pki_certificates c join pki_roots r on r.id = c.ca_root_id join tenants t on t.id = c.tenant_id
          cross join lateral (select min(n) as days from unnest(${LEAF_DAYS}::int[]) n where c.not_after <= ${now}::timestamptz + n * interval '1 day') d
        where c.revoked_at is null and c.not_after > ${now} and c.not_after <= ${new Date(now.getTime() + 30 * 86_400_000)} and t.deleted_at is null
          and d.days is not null and (c.told_days is null or c.told_days > d.days) and c.not_after - d.days * interval '1 day' > c.created_at
          and not exists (select from pki_certificates n where n.ca_root_id = c.ca_root_id and n.not_after > c.not_after and n.revoked_at is null
            and n.subject = c.subject and n.san_dns = c.san_dns and n.san_ip = c.san_ip)
        order by c.not_after limit ${BATCH} for update of c skip locked`;
      for (const own of Map.groupBy(leaves, ({ tenant_id, sandbox }) => `${tenant_id} ${sandbox}`).values()) {
        const [{ tenant_id, sandbox }] = own as [Leaf];
        await raise(
          tx,
          { tenant_id, sandbox, now },
          own.map(({ id, root, role_name: role, serial_hex, subject, san_dns, san_ip, not_after, days: days_left }) => ({
            type: 'pki.certificate.expiring',
            source_id: id,
            data: { id, root, role, serial_hex, subject, san_dns, san_ip, not_after, days_left },
          })),
        );
      }
      for (const days of LEAF_DAYS)
        await tx.pki_certificates.updateMany({
          where: { id: { in: leaves.filter((leaf) => leaf.days === days).map(({ id }) => id) } },
          data: { told_days: days },
        });
      return leaves.length;
    });
    announced += rows;
    if (rows < BATCH) return announced;
  }
}
