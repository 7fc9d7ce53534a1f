import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import { sql } from '#server/platform/sql.ts';
import type { ClaimPatterns } from './claims.shared.ts';

/** A binding as an exchange sees it, before anybody knows whose workspace the token is for. */
export type Candidate = {
  id: string;
  name: string;
  tenant_id: string;
  sandbox: boolean;
  client_row_id: string;
  client_id: string;
  client_name: string;
  issuer: string;
  audience: string;
  subject: string | null;
  claims: Record<string, ClaimPatterns>;
  scopes: string[];
  ttl_seconds: number;
  single_use: boolean;
};

/** Where the caller says that its token belongs. */
export type Hints = { tenant?: string | undefined; client_id?: string | undefined };

/** What a verified token has, so that the database needn't hand over every binding of an issuer that thousands trust. */
export type Presented = { audiences: readonly string[]; subject: string };

/** More than this many of one workspace can't exist; of a shared issuer none of the others could be told apart by its owner. */
const MOST = 2_000;

/** Enabled bindings of active clients for this issuer, newest first. With `presented` only those whose audience and literal beginning of the subject fit. */
export async function candidatesFor(
  issuer: string,
  { tenant, client_id }: Hints,
  presented?: Presented,
  most = MOST,
): Promise<Candidate[]> {
  const { rows } = await sql().query<Candidate>({
    name: 'trust-candidates',
    text: `select b.id, b.name, b.tenant_id, b.sandbox, b.client_row_id, c.client_id, c.name as client_name, b.issuer, b.audience, b.subject, b.claims, b.scopes,
        b.ttl_seconds, b.single_use
      from oauth_trust_bindings b join oauth_clients c on c.id = b.client_row_id join tenants t on t.id = b.tenant_id
      where b.issuer = $1 and b.enabled and c.active and c.revoked_at is null and t.deleted_at is null and $2 = any(c.grant_types)
        and ($3::text is null or t.slug = $3) and ($4::text is null or c.client_id = $4)
        and ($5::text[] is null or b.audience = any($5))
        and ($6::text is null or b.subject is null or starts_with($6, split_part(b.subject, '*', 1)))
      order by b.created_at desc, b.id desc limit $7`,
    values: [issuer, TOKEN_EXCHANGE, tenant ?? null, client_id ?? null, presented?.audiences ?? null, presented?.subject ?? null, most],
  });
  return rows;
}
