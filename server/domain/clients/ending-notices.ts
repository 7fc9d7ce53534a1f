import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import type { Letter } from '#server/domain/mail/templates.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Db } from '#server/kernel/tx.ts';
import { env } from '#server/platform/env.ts';

/** Days before the end of a credential or of its certificate at which Owners and Admins are told (interface rule 11 §3). */
const AHEAD = [30, 7, 1];
const BATCH = 500;
/** Credentials named in one mail. */
const NAMED = 20;

type Ending = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  client: string;
  kind: string;
  label: string | null;
  ends: Date;
  days: number;
};

/**
 * Mails about credentials that are on and end within 30, 7 and 1 days: each threshold once, all of a space and a threshold in one mail. A threshold that was
 * closer than the whole life of a credential is no news. @returns credentials told of
 */
export async function tellOfEndingCredentials(db: Db, now: Date): Promise<number> {
  for (let told = 0; ; ) {
    const { rows, mails } = await db.$transaction(async (tx) => {
      const rows = await tx.$queryRaw<Ending[]>`
        select k.id, k.tenant_id, k.sandbox, c.name as client, k.kind, k.label, e.ends, d.days
        from client_credentials k join clients c on c.id = k.client_id join tenants t on t.id = k.tenant_id
          cross join lateral (select least(k.expires_at, (k.data->>'not_after')::timestamptz) as ends) e
          cross join lateral (select min(n) as days from unnest(${AHEAD}::int[]) n where e.ends <= ${now}::timestamptz + n * interval '1 day') d
        where k.enabled and c.enabled and t.deleted_at is null and e.ends > ${now} and d.days is not null
          and (k.told_days is null or k.told_days > d.days) and e.ends - d.days * interval '1 day' > k.created_at
        order by k.tenant_id, k.sandbox, e.ends, k.id limit ${BATCH} for update of k skip locked`;
      const mails: string[] = [];
      for (const own of Map.groupBy(rows, ({ tenant_id, sandbox, days }) => `${tenant_id} ${sandbox} ${days}`).values()) {
        const [{ tenant_id, sandbox, days }] = own as [Ending];
        const { name, slug } = await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { name: true, slug: true } });
        const space = spaceOf(sandbox);
        const letter = credentialsEnding(
          { workspace: name, space, days, credentials: own },
          `${env.PUBLIC_ADMIN_URL}/${slug}/${space}/clients`,
        );
        mails.push(...(await postTeamMails(tx, { tenant_id, kind: 'client_credential_ending', to: ['owner', 'admin'], letter, now })));
        await tx.client_credentials.updateMany({ where: { id: { in: own.map(({ id }) => id) } }, data: { told_days: days } });
      }
      return { rows: rows.length, mails };
    });
    for (const id of mails) dispatch(db, id);
    told += rows;
    if (rows < BATCH) return told;
  }
}

const KINDS: Record<string, string> = {
  ip: 'address',
  mtls_thumbprint: 'certificate',
  signature_hmac: 'HMAC key',
  signature_ed25519: 'Ed25519 key',
};

type Told = { workspace: string; space: string; days: number; credentials: readonly Pick<Ending, 'client' | 'kind' | 'label' | 'ends'>[] };

function credentialsEnding({ workspace, space, days, credentials }: Told, url: string): Letter {
  const count = credentials.length === 1 ? 'A credential of a client ends' : `${credentials.length} credentials of clients end`;
  const named = credentials
    .slice(0, NAMED)
    .map(({ client, kind, label, ends }) => `${client}: ${KINDS[kind] ?? kind}${label ? ` “${label}”` : ''}, ${ends.toUTCString()}`);
  const more = credentials.length > NAMED ? [`And ${credentials.length - NAMED} more.`] : [];
  return {
    subject: `${count} in ${days === 1 ? 'a day' : `${days} days`} or less`,
    paragraphs: [
      `In ${workspace} (${space}), calls are not recognized by these any more from then on:`,
      ...named,
      ...more,
      'Add new ones to their clients before that, and delete these afterwards.',
    ],
    button: { label: 'Open clients', url },
  };
}
