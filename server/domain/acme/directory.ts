import type { NameRules } from '#server/domain/pki/names.shared.ts';
import { publicUrl } from '#server/domain/pki/service.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import type { Actor, Ctx } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { sql } from '#server/platform/sql.ts';

/** The ACME server of one role of one root. */
export type Directory = {
  tenant_id: string;
  sandbox: boolean;
  plan: PlanName;
  /** Whether the workspace's subscription allows work. */
  served: boolean;
  root: { id: string; name: string };
  role: { id: string; name: string } & NameRules;
  /** What all its URLs begin with, without a slash at the end. Signed requests name it, so it never comes from the Host header. */
  base: string;
};

/** The directory at a public path, or null: unknown, not published, and of a workspace that is gone are one answer. */
export async function findDirectory(at: { slug: string; sandbox: boolean; root_id: string; role: string }): Promise<Directory | null> {
  if (!isUuid(at.root_id)) return null;
  const { rows } = await sql().query<Row>({
    name: 'acme-directory',
    text: `select r.id, r.name, r.tenant_id, r.public_slug, r.publish, o.id as role_id, o.name as role_name, o.allowed_domains, o.allow_subdomains, o.allow_wildcards,
        t.subscription_plan, t.subscription_status
      from pki_roots r join pki_roles o on o.ca_root_id = r.id join tenants t on t.id = r.tenant_id
      where r.id = $1 and r.public_slug = $2 and r.sandbox = $3 and o.name = $4 and r.publish and t.deleted_at is null`,
    values: [at.root_id.toLowerCase(), at.slug, at.sandbox, at.role],
  });
  const [row] = rows;
  if (!row) return null;
  const { allowed_domains, allow_subdomains, allow_wildcards } = row;
  return {
    tenant_id: row.tenant_id,
    sandbox: at.sandbox,
    plan: row.subscription_plan,
    served: isServableStatus(row.subscription_status),
    root: { id: row.id, name: row.name },
    role: { id: row.role_id, name: row.role_name, allowed_domains, allow_subdomains, allow_wildcards },
    base: directoryBase({ ...row, sandbox: at.sandbox }, row.role_name),
  };
}

type Row = NameRules & {
  id: string;
  name: string;
  tenant_id: string;
  public_slug: string;
  publish: boolean;
  role_id: string;
  role_name: string;
  subscription_plan: PlanName;
  subscription_status: string;
};

/** At the scheme of the API, also where certificates name plain http: what ACME clients send must not be read or changed on the way (RFC 8555 §6.1). */
export const directoryBase = (root: Parameters<typeof publicUrl>[0], role: string): string =>
  `${env.PUBLIC_API_URL}${new URL(publicUrl(root)).pathname}/acme/${role}`;

export const directoryUrl = (base: string): string => `${base}/directory`;
export const accountUrl = (base: string, id: string): string => `${base}/account/${id}`;

/** What is known of a request besides its content. */
export type Asked = { ip: string | null; user_agent: string | null; request_id: string; now: Date };

/** The context of a request. Until its account is known nobody acts. */
export const contextOf = (directory: Directory, { ip, user_agent, request_id, now }: Asked): Ctx => ({
  db: db(),
  tenant_id: directory.tenant_id,
  sandbox: directory.sandbox,
  actor: NOBODY,
  plan: directory.plan,
  request_id,
  ip,
  user_agent,
  now,
  warnings: [],
});

export const NOBODY: Actor = { type: 'anonymous', id: null, label: 'ACME client', capabilities: new Set() };
