CREATE TABLE "vaults" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "token_format" TEXT NOT NULL DEFAULT 'generic',
    "alphabet" TEXT,
    "crypto_key_id" UUID NOT NULL,
    "custody_mode" TEXT NOT NULL DEFAULT 'managed',
    "default_ttl_seconds" INTEGER,
    "metadata_jsonb" JSONB NOT NULL DEFAULT '{}',
    "description" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "dedupe" BOOLEAN NOT NULL DEFAULT false,
    "allowed_hosts" JSONB,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "rewrap_to" INTEGER,
    "rewrap_after" UUID,
    "rewrap_done" BIGINT NOT NULL DEFAULT 0,
    "rewrap_total" BIGINT NOT NULL DEFAULT 0,
    "rewrap_started_at" TIMESTAMPTZ(3),
    "rewrap_finished_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "vaults_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "vaults_custody_mode" CHECK ("custody_mode" IN ('managed', 'dual')),
    CONSTRAINT "vaults_alphabet" CHECK (("token_format" = 'ff1') = ("alphabet" IS NOT NULL)),
    CONSTRAINT "vaults_dual" CHECK ("custody_mode" = 'managed' OR ("token_format" = 'generic' AND NOT "dedupe")),
    -- Only a vault with dedupe has an index key, and a deleted one has none.
    CONSTRAINT "vaults_index_key" CHECK (num_nonnulls("value_ct", "cek_wrapped", "tmk_version") = CASE WHEN "dedupe" AND "deleted_at" IS NULL THEN 3 ELSE 0 END)
);

CREATE TABLE "vault_tokens" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "vault_id" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "wrapped_value" BYTEA,
    "crypto_key_version" INTEGER NOT NULL,
    "metadata" JSONB,
    "expires_at" TIMESTAMPTZ(3),
    "card_exp" DATE,
    "value_hmac" BYTEA,
    "created_by_api_key_id" UUID,
    "created_by_user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "vault_tokens_pkey" PRIMARY KEY ("id"),
    -- A deleted token has lost its value, and what finds it by its value.
    CONSTRAINT "vault_tokens_erased" CHECK ("deleted_at" IS NULL OR ("wrapped_value" IS NULL AND "value_hmac" IS NULL AND "metadata" IS NULL))
);

CREATE TABLE "vault_token_counts" (
    "vault_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "n" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "vault_token_counts_pkey" PRIMARY KEY ("vault_id")
);

CREATE TABLE "vault_card_notices" (
    "token_id" UUID NOT NULL,
    "days_before" INTEGER NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "vault_card_notices_pkey" PRIMARY KEY ("token_id","days_before")
);

CREATE UNIQUE INDEX "vaults_id_tenant_id_sandbox_key" ON "vaults"("id", "tenant_id", "sandbox");
CREATE INDEX "vaults_tenant_id_tmk_version_idx" ON "vaults"("tenant_id", "tmk_version");
-- A deleted vault frees its name. Names are ASCII.
CREATE UNIQUE INDEX "vaults_name" ON "vaults"("tenant_id", "sandbox", "name") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "vaults_folded_name" ON "vaults"("tenant_id", "sandbox", lower("name")) WHERE "deleted_at" IS NULL;
CREATE INDEX "vaults_created_at" ON "vaults"("tenant_id", "sandbox", "created_at", "id") WHERE "deleted_at" IS NULL;
-- What jobs look through: re-wraps that go on, and tombstones.
CREATE INDEX "vaults_rewrapping" ON "vaults"("id") WHERE "rewrap_to" IS NOT NULL AND "rewrap_finished_at" IS NULL;
CREATE INDEX "vaults_deleted" ON "vaults"("deleted_at") WHERE "deleted_at" IS NOT NULL;

-- A token names its value without its vault, so its text is unique in the whole space. The text of a deleted token stays taken until the row goes.
CREATE UNIQUE INDEX "vault_tokens_tenant_id_sandbox_token_key" ON "vault_tokens"("tenant_id", "sandbox", "token");
CREATE UNIQUE INDEX "vault_tokens_value" ON "vault_tokens"("vault_id", "value_hmac") WHERE "value_hmac" IS NOT NULL;
CREATE INDEX "vault_tokens_created_at" ON "vault_tokens"("vault_id", "created_at", "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "vault_tokens_expires_at" ON "vault_tokens"("vault_id", "expires_at", "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "vault_tokens_key_version" ON "vault_tokens"("vault_id", "crypto_key_version", "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "vault_tokens_metadata" ON "vault_tokens" USING gin ("metadata" jsonb_path_ops) WHERE "metadata" IS NOT NULL;
CREATE INDEX "vault_tokens_expiring" ON "vault_tokens"("expires_at") WHERE "expires_at" IS NOT NULL AND "deleted_at" IS NULL;
CREATE INDEX "vault_tokens_deleted" ON "vault_tokens"("deleted_at") WHERE "deleted_at" IS NOT NULL;
CREATE INDEX "vault_tokens_card_exp" ON "vault_tokens"("card_exp") WHERE "card_exp" IS NOT NULL AND "deleted_at" IS NULL;
CREATE UNIQUE INDEX "vault_token_counts_vault_id_tenant_id_sandbox_key" ON "vault_token_counts"("vault_id", "tenant_id", "sandbox");

ALTER TABLE "vaults" ADD CONSTRAINT "vaults_crypto_key_id_tenant_id_sandbox_fkey" FOREIGN KEY ("crypto_key_id", "tenant_id", "sandbox") REFERENCES "crypto_keys"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "vault_tokens" ADD CONSTRAINT "vault_tokens_vault_id_tenant_id_sandbox_fkey" FOREIGN KEY ("vault_id", "tenant_id", "sandbox") REFERENCES "vaults"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "vault_token_counts" ADD CONSTRAINT "vault_token_counts_vault_id_tenant_id_sandbox_fkey" FOREIGN KEY ("vault_id", "tenant_id", "sandbox") REFERENCES "vaults"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "vault_card_notices" ADD CONSTRAINT "vault_card_notices_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "vault_tokens"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE FUNCTION vault_document(r vaults) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.token_format, CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], concat_ws(' ', r.token_format, r.description) $$;
SELECT register_table('vaults', 'space', document => 'vault', document_columns => '{name,description,enabled}');
SELECT register_table('vault_tokens', 'space');
SELECT register_table('vault_token_counts', 'space', privileges => 'SELECT');
SELECT register_table('vault_card_notices', 'space');

-- The plan limits vaults and tokens that were not deleted. A vault's own counter goes when the vault is deleted, and takes its tokens off the total: what
-- the job removes later counts no more.
CREATE FUNCTION count_vaults() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE delta bigint := 0; tenant uuid := coalesce(NEW.tenant_id, OLD.tenant_id); test boolean := coalesce(NEW.sandbox, OLD.sandbox);
BEGIN
  IF TG_OP <> 'INSERT' THEN delta := delta - (OLD.deleted_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN delta := delta + (NEW.deleted_at IS NULL)::int; END IF;
  IF TG_OP = 'INSERT' THEN INSERT INTO vault_token_counts (vault_id, tenant_id, sandbox) VALUES (NEW.id, tenant, test); END IF;
  IF TG_OP = 'UPDATE' AND delta < 0 THEN
    DELETE FROM vault_token_counts WHERE vault_id = NEW.id;
    DELETE FROM search_documents WHERE ref_id = NEW.id AND type = 'vault';
  END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (tenant, test, 'vaults', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_vaults AFTER INSERT OR UPDATE OF deleted_at OR DELETE ON vaults FOR EACH ROW EXECUTE FUNCTION count_vaults();

CREATE FUNCTION forget_vault_count() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF OLD.n <> 0 THEN
    UPDATE row_counts SET n = n - OLD.n WHERE tenant_id = OLD.tenant_id AND sandbox = OLD.sandbox AND kind = 'vault_tokens';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_count AFTER DELETE ON vault_token_counts FOR EACH ROW EXECUTE FUNCTION forget_vault_count();

-- Refuses (SQLSTATE SP402) what would pass app.vault_token_limit. The counters are locked in the order of their keys, so that two writers never wait for
-- each other.
CREATE FUNCTION count_vault_tokens() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE ids uuid[]; deltas bigint[]; total bigint; most bigint := nullif(current_setting('app.vault_token_limit', true), '')::bigint;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(v), array_agg(d) INTO ids, deltas FROM (SELECT vault_id AS v, count(*) AS d FROM arrived WHERE deleted_at IS NULL GROUP BY 1) c;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(v), array_agg(d) INTO ids, deltas FROM (SELECT vault_id AS v, -count(*) AS d FROM gone WHERE deleted_at IS NULL GROUP BY 1) c;
  ELSE
    SELECT array_agg(v), array_agg(d) INTO ids, deltas FROM (SELECT o.vault_id AS v, sum((n.deleted_at IS NULL)::int - (o.deleted_at IS NULL)::int) AS d
      FROM gone o JOIN arrived n ON n.id = o.id WHERE (n.deleted_at IS NULL) <> (o.deleted_at IS NULL) GROUP BY 1) c;
  END IF;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM vault_token_counts WHERE vault_id = ANY (ids) ORDER BY vault_id FOR NO KEY UPDATE;
  WITH counted AS (
    UPDATE vault_token_counts c SET n = c.n + d.d FROM unnest(ids, deltas) AS d(v, d) WHERE c.vault_id = d.v RETURNING c.tenant_id, c.sandbox, d.d),
  totals AS (
    INSERT INTO row_counts AS r (tenant_id, sandbox, kind, n) SELECT tenant_id, sandbox, 'vault_tokens', sum(d) FROM counted GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = r.n + excluded.n RETURNING r.n)
  SELECT max(n) INTO total FROM totals;
  IF TG_OP = 'INSERT' AND total > most THEN
    RAISE EXCEPTION 'more tokens than the plan allows' USING ERRCODE = 'SP402', DETAIL = (total - (SELECT sum(d) FROM unnest(deltas) d))::text;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON vault_tokens REFERENCING NEW TABLE AS arrived FOR EACH STATEMENT EXECUTE FUNCTION count_vault_tokens();
CREATE TRIGGER count_updated AFTER UPDATE ON vault_tokens REFERENCING OLD TABLE AS gone NEW TABLE AS arrived FOR EACH STATEMENT EXECUTE FUNCTION count_vault_tokens();
CREATE TRIGGER count_deleted AFTER DELETE ON vault_tokens REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_vault_tokens();
REVOKE ALL ON FUNCTION count_vaults, forget_vault_count, count_vault_tokens FROM PUBLIC;
