-- Domains that a workspace proved to own by a DNS record (server/domain/domains). Exact names: example.com says nothing about sub.example.com.
CREATE TABLE "tenant_domains" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "domain" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "txt_value" TEXT NOT NULL,
    "sso_required" BOOLEAN NOT NULL DEFAULT false,
    "misses" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "verified_at" TIMESTAMPTZ(3),
    "checked_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenant_domains_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "tenant_domains_status" CHECK ("status" IN ('pending', 'verified', 'expired', 'lapsed')),
    CONSTRAINT "tenant_domains_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "tenant_domains_tenant_id_domain_key" ON "tenant_domains"("tenant_id", "domain");
CREATE INDEX "tenant_domains_domain_idx" ON "tenant_domains"("domain");
-- Any number of workspaces may verify a domain, and one of them may require single sign-on of its people.
CREATE UNIQUE INDEX "tenant_domains_enforced" ON "tenant_domains"("domain") WHERE "sso_required";
SELECT register_table('tenant_domains', 'tenant');
SELECT lease_rows('tenant_domains', 'tenant_domain', '{expires_at}');

-- Whether another workspace requires single sign-on for a domain: all that one workspace learns of the others.
CREATE FUNCTION domain_taken_for_sso(name text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM tenant_domains WHERE domain = name AND sso_required AND tenant_id IS DISTINCT FROM app_tenant()) $$;
REVOKE ALL ON FUNCTION domain_taken_for_sso FROM PUBLIC;
GRANT EXECUTE ON FUNCTION domain_taken_for_sso TO sallyport_app;
