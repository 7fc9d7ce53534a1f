-- A wrap credential is a secret that was handed over for use by the gateway: in which header it goes, and behind which text.
ALTER TABLE "secrets" ADD COLUMN "header_name" TEXT, ADD COLUMN "value_prefix" TEXT;
CREATE INDEX "secrets_escrow" ON "secrets"("tenant_id", "sandbox", "created_at" DESC, "id" DESC) WHERE "is_escrow";

CREATE TABLE "wrap_tokens" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "secret_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "host" TEXT NOT NULL,
    "label" TEXT,
    "style" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_reason" TEXT,
    "exposure_told_at" TIMESTAMPTZ(3),
    CONSTRAINT "wrap_tokens_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "wrap_tokens_token_hash_key" ON "wrap_tokens"("token_hash");
CREATE INDEX "wrap_tokens_tenant_id_sandbox_created_at_id_idx" ON "wrap_tokens"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE INDEX "wrap_tokens_secret_id_idx" ON "wrap_tokens"("secret_id");
-- What the mail about tokens that travelled in clear looks through.
CREATE INDEX "wrap_tokens_exposed" ON "wrap_tokens"("id") WHERE "revoked_reason" = 'exposed' AND "exposure_told_at" IS NULL;
ALTER TABLE "wrap_tokens" ADD CONSTRAINT "wrap_tokens_secret_id_tenant_id_sandbox_fkey" FOREIGN KEY ("secret_id", "tenant_id", "sandbox") REFERENCES "secrets"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
SELECT register_table('wrap_tokens', 'space');

-- The plan limits the tokens that were not revoked. An expired one counts until the daily job revokes it.
CREATE FUNCTION count_wrap_tokens() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r wrap_tokens; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; delta := delta - (OLD.revoked_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; delta := delta + (NEW.revoked_at IS NULL)::int; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'wrap_tokens', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_tokens AFTER INSERT OR UPDATE OF revoked_at OR DELETE ON wrap_tokens FOR EACH ROW EXECUTE FUNCTION count_wrap_tokens();

-- What gateways remember of a token is dropped one by one: `<workspace>:<hex of its hash>`.
CREATE FUNCTION announce_wrap_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('wrap_token_changed', concat_ws(':', OLD.tenant_id, encode(OLD.token_hash, 'hex')));
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER UPDATE OF revoked_at, expires_at OR DELETE ON wrap_tokens FOR EACH ROW EXECUTE FUNCTION announce_wrap_token();
REVOKE ALL ON FUNCTION count_wrap_tokens, announce_wrap_token FROM PUBLIC;
