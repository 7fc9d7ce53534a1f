CREATE TABLE "crypto_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "key_type" TEXT NOT NULL,
    "mode" TEXT NOT NULL DEFAULT 'cloud-only',
    "managed_by" TEXT NOT NULL DEFAULT 'tenant',
    "description" TEXT,
    "current_version" INTEGER NOT NULL DEFAULT 1,
    "jwt_version_from" TIMESTAMPTZ(3),
    "jwt_version" INTEGER,
    "min_decryption_version" INTEGER NOT NULL DEFAULT 1,
    "min_encryption_version" INTEGER NOT NULL DEFAULT 1,
    "deletion_allowed" BOOLEAN NOT NULL DEFAULT false,
    "jwks_public" BOOLEAN NOT NULL DEFAULT false,
    "auto_rotate_days" INTEGER,
    "derived" BOOLEAN NOT NULL DEFAULT false,
    "convergent" BOOLEAN NOT NULL DEFAULT false,
    "deleted_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "crypto_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "crypto_keys_mode" CHECK ("mode" IN ('cloud-only', 'bundled')),
    CONSTRAINT "crypto_keys_managed_by" CHECK ("managed_by" IN ('tenant', 'vault', 'service')),
    CONSTRAINT "crypto_keys_versions" CHECK ("current_version" >= 1 AND "min_decryption_version" BETWEEN 1 AND "current_version" AND "min_encryption_version" BETWEEN 1 AND "current_version"),
    CONSTRAINT "crypto_keys_convergent" CHECK ("derived" OR NOT "convergent")
);

CREATE TABLE "crypto_key_versions" (
    "id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "public_key_spki" BYTEA,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(3),
    "destroyed_at" TIMESTAMPTZ(3),
    "destroyed_by" UUID,
    "destroy_after" TIMESTAMPTZ(3),
    "encrypt_count" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "crypto_key_versions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "crypto_key_versions_status" CHECK ("status" IN ('active', 'retired', 'destroyed')),
    -- Destroyed means erased, and nothing else is.
    CONSTRAINT "crypto_key_versions_erased" CHECK (CASE WHEN "status" = 'destroyed'
      THEN num_nonnulls("value_ct", "cek_wrapped", "tmk_version", "public_key_spki", "destroy_after") = 0 AND "destroyed_at" IS NOT NULL
      ELSE num_nulls("value_ct", "cek_wrapped", "tmk_version") = 0 AND "destroyed_at" IS NULL END)
);

CREATE TABLE "crypto_key_uses" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "key_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "operation" TEXT NOT NULL,
    "n" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "crypto_key_uses_pkey" PRIMARY KEY ("key_id","day","operation")
);

CREATE UNIQUE INDEX "crypto_keys_id_tenant_id_sandbox_key" ON "crypto_keys"("id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "crypto_key_versions_key_id_version_key" ON "crypto_key_versions"("key_id", "version");
CREATE INDEX "crypto_key_versions_tenant_id_tmk_version_idx" ON "crypto_key_versions"("tenant_id", "tmk_version");

ALTER TABLE "crypto_key_versions" ADD CONSTRAINT "crypto_key_versions_key_id_tenant_id_sandbox_fkey" FOREIGN KEY ("key_id", "tenant_id", "sandbox") REFERENCES "crypto_keys"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "crypto_key_uses" ADD CONSTRAINT "crypto_key_uses_key_id_tenant_id_sandbox_fkey" FOREIGN KEY ("key_id", "tenant_id", "sandbox") REFERENCES "crypto_keys"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- A deleted key frees its name. Both indexes serve the list and the look-up by name: names are ASCII.
CREATE UNIQUE INDEX "crypto_keys_name" ON "crypto_keys"("tenant_id", "sandbox", "name") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "crypto_keys_folded_name" ON "crypto_keys"("tenant_id", "sandbox", lower("name")) WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "crypto_key_versions_active" ON "crypto_key_versions"("key_id") WHERE "status" = 'active';
-- What the hourly rotation looks through.
CREATE INDEX "crypto_keys_auto_rotate" ON "crypto_keys"("id") WHERE "auto_rotate_days" IS NOT NULL AND "deleted_at" IS NULL;
CREATE INDEX "crypto_key_versions_many_encryptions" ON "crypto_key_versions"("key_id") WHERE "status" = 'active' AND "encrypt_count" >= 2147483648;

CREATE FUNCTION crypto_key_document(r crypto_keys) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.key_type, CASE WHEN r.managed_by = 'tenant' THEN '{}' ELSE ARRAY[r.managed_by] END::text[], concat_ws(' ', r.key_type, r.description) $$;
SELECT register_table('crypto_keys', 'space', announced => true, document => 'crypto_key', document_columns => '{name,description}');
-- Counting encryptions announces nothing.
SELECT register_table('crypto_key_versions', 'space', announced => true, announced_columns => '{status,destroy_after}');
SELECT register_table('crypto_key_uses', 'space');
SELECT lease_rows('crypto_key_versions', 'crypto_key_version', '{destroy_after}');

-- The plan limits the keys that somebody created and that were not deleted: neither tombstones nor keys of vaults and of the service.
CREATE FUNCTION count_crypto_keys() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r crypto_keys; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; delta := delta - (OLD.managed_by = 'tenant' AND OLD.deleted_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; delta := delta + (NEW.managed_by = 'tenant' AND NEW.deleted_at IS NULL)::int; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'crypto_keys', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_keys AFTER INSERT OR UPDATE OF deleted_at, managed_by OR DELETE ON crypto_keys FOR EACH ROW EXECUTE FUNCTION count_crypto_keys();

-- The palette does not find what was deleted.
CREATE FUNCTION drop_crypto_key_document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM search_documents WHERE ref_id = NEW.id AND type = 'crypto_key';
  RETURN NULL;
END $$;
CREATE TRIGGER drop_document AFTER UPDATE OF deleted_at ON crypto_keys FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION drop_crypto_key_document();
REVOKE ALL ON FUNCTION count_crypto_keys, drop_crypto_key_document FROM PUBLIC;
