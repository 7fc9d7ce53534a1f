CREATE TABLE "pki_roots" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "subject_fields" JSONB NOT NULL,
    "serial_hex" TEXT NOT NULL,
    "certificate" BYTEA NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "intermediate_ttl_seconds" INTEGER NOT NULL,
    "publish" BOOLEAN NOT NULL DEFAULT true,
    "public_slug" TEXT NOT NULL,
    "intermediates_made" INTEGER NOT NULL DEFAULT 0,
    "told_days" INTEGER,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pki_roots_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pki_roots_status" CHECK ("status" IN ('active', 'retired', 'revoked'))
);

CREATE TABLE "pki_intermediates" (
    "id" UUID NOT NULL,
    "ca_root_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "n" INTEGER NOT NULL,
    "serial_hex" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "certificate" BYTEA NOT NULL,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "revoked_at" TIMESTAMPTZ(3),
    "revocation_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pki_intermediates_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pki_intermediates_status" CHECK ("status" IN ('active', 'retired', 'expired', 'revoked')),
    CONSTRAINT "pki_intermediates_revoked" CHECK (("status" = 'revoked') = ("revoked_at" IS NOT NULL)),
    -- What signs has a key, and nothing else keeps one.
    CONSTRAINT "pki_intermediates_erased" CHECK (num_nonnulls("value_ct", "cek_wrapped", "tmk_version") = CASE WHEN "status" IN ('active', 'retired') THEN 3 ELSE 0 END)
);

CREATE TABLE "pki_crls" (
    "id" UUID NOT NULL,
    "ca_root_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "number" INTEGER NOT NULL DEFAULT 0,
    "der" BYTEA,
    "this_update" TIMESTAMPTZ(3),
    "next_update" TIMESTAMPTZ(3),
    "entries" INTEGER NOT NULL DEFAULT 0,
    "stale_since" TIMESTAMPTZ(3),

    CONSTRAINT "pki_crls_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "pki_roles" (
    "id" UUID NOT NULL,
    "ca_root_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "allowed_domains" TEXT[],
    "allow_subdomains" BOOLEAN NOT NULL DEFAULT true,
    "allow_wildcards" BOOLEAN NOT NULL DEFAULT false,
    "allow_ip_sans" BOOLEAN NOT NULL DEFAULT true,
    "default_ttl_seconds" INTEGER NOT NULL,
    "max_ttl_seconds" INTEGER NOT NULL,
    "key_algorithm" TEXT NOT NULL DEFAULT 'ecdsa-p256',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pki_roles_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pki_roles_ttl" CHECK ("default_ttl_seconds" BETWEEN 60 AND "max_ttl_seconds")
);

CREATE TABLE "pki_certificates" (
    "id" UUID NOT NULL,
    "ca_root_id" UUID NOT NULL,
    "intermediate_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "role_name" TEXT NOT NULL,
    "serial_hex" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "san_dns" TEXT[],
    "san_ip" TEXT[],
    "certificate" BYTEA NOT NULL,
    "fingerprint_sha256" TEXT NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revocation_reason" TEXT,
    "source" TEXT NOT NULL,
    "issued_by" JSONB NOT NULL,
    "told_days" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pki_certificates_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pki_certificates_source" CHECK ("source" IN ('issue', 'sign', 'acme')),
    CONSTRAINT "pki_certificates_revoked" CHECK (("revoked_at" IS NULL) = ("revocation_reason" IS NULL))
);

CREATE UNIQUE INDEX "pki_roots_id_tenant_id_sandbox_key" ON "pki_roots"("id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "pki_roots_tenant_id_sandbox_name_key" ON "pki_roots"("tenant_id", "sandbox", "name");
CREATE INDEX "pki_roots_tenant_id_tmk_version_idx" ON "pki_roots"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "pki_intermediates_ca_root_id_n_key" ON "pki_intermediates"("ca_root_id", "n");
CREATE UNIQUE INDEX "pki_intermediates_id_tenant_id_sandbox_key" ON "pki_intermediates"("id", "tenant_id", "sandbox");
CREATE INDEX "pki_intermediates_tenant_id_tmk_version_idx" ON "pki_intermediates"("tenant_id", "tmk_version");
CREATE INDEX "pki_crls_ca_root_id_idx" ON "pki_crls"("ca_root_id");
CREATE UNIQUE INDEX "pki_roles_ca_root_id_name_key" ON "pki_roles"("ca_root_id", "name");
CREATE UNIQUE INDEX "pki_roles_id_tenant_id_sandbox_key" ON "pki_roles"("id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "pki_certificates_ca_root_id_serial_hex_key" ON "pki_certificates"("ca_root_id", "serial_hex");
CREATE UNIQUE INDEX "pki_certificates_id_tenant_id_sandbox_key" ON "pki_certificates"("id", "tenant_id", "sandbox");
CREATE INDEX "pki_certificates_ca_root_id_created_at_id_idx" ON "pki_certificates"("ca_root_id", "created_at", "id");
CREATE INDEX "pki_certificates_ca_root_id_not_after_id_idx" ON "pki_certificates"("ca_root_id", "not_after", "id");
CREATE INDEX "pki_certificates_intermediate_id_idx" ON "pki_certificates"("intermediate_id");

ALTER TABLE "pki_intermediates" ADD CONSTRAINT "pki_intermediates_ca_root_id_tenant_id_sandbox_fkey" FOREIGN KEY ("ca_root_id", "tenant_id", "sandbox") REFERENCES "pki_roots"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pki_crls" ADD CONSTRAINT "pki_crls_ca_root_id_tenant_id_sandbox_fkey" FOREIGN KEY ("ca_root_id", "tenant_id", "sandbox") REFERENCES "pki_roots"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pki_roles" ADD CONSTRAINT "pki_roles_ca_root_id_tenant_id_sandbox_fkey" FOREIGN KEY ("ca_root_id", "tenant_id", "sandbox") REFERENCES "pki_roots"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pki_certificates" ADD CONSTRAINT "pki_certificates_ca_root_id_tenant_id_sandbox_fkey" FOREIGN KEY ("ca_root_id", "tenant_id", "sandbox") REFERENCES "pki_roots"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pki_certificates" ADD CONSTRAINT "pki_certificates_intermediate_id_tenant_id_sandbox_fkey" FOREIGN KEY ("intermediate_id", "tenant_id", "sandbox") REFERENCES "pki_intermediates"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE UNIQUE INDEX "pki_intermediates_active" ON "pki_intermediates"("ca_root_id") WHERE "status" = 'active';
-- What the worker looks through.
CREATE INDEX "pki_intermediates_live" ON "pki_intermediates"("not_after") WHERE "status" IN ('active', 'retired');
CREATE INDEX "pki_crls_stale" ON "pki_crls"("stale_since") WHERE "stale_since" IS NOT NULL;
CREATE INDEX "pki_certificates_ending" ON "pki_certificates"("not_after") WHERE "revoked_at" IS NULL;
-- Entries of a list.
CREATE INDEX "pki_certificates_revoked_idx" ON "pki_certificates"("intermediate_id", "not_after") WHERE "revoked_at" IS NOT NULL;

CREATE FUNCTION pki_root_document(r pki_roots) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.subject, CASE WHEN r.status = 'active' THEN '{}' ELSE ARRAY[r.status] END::text[], concat_ws(' ', r.name, r.subject) $$;
SELECT register_table('pki_roots', 'space', counted => true, document => 'pki_root', document_columns => '{status}');
SELECT register_table('pki_intermediates', 'space');
SELECT register_table('pki_crls', 'space');
SELECT register_table('pki_roles', 'space');
SELECT register_table('pki_certificates', 'space', search_text => 'subject');
