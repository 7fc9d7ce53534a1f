CREATE TABLE "client_tokens" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "action" TEXT NOT NULL,
    "payload_sha256" BYTEA,
    "payload_fp" TEXT,
    "key_id" UUID,
    "vault_id" UUID,
    "token_id" UUID,
    "origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "role" TEXT,
    "minted_by_type" TEXT NOT NULL,
    "minted_by_id" UUID NOT NULL,
    "minted_by_label" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "consumed_ip" TEXT,
    "consumed_origin" TEXT,
    "failed_attempts" INTEGER NOT NULL DEFAULT 0,
    "burned_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "client_tokens_pkey" PRIMARY KEY ("id"),
    -- A token is bound to what exists already, or to the vault and the pages that will make it; never to both.
    CONSTRAINT "client_tokens_binding" CHECK (CASE "action"
      WHEN 'tokenize' THEN "payload_sha256" IS NULL AND "vault_id" IS NOT NULL AND cardinality("origins") BETWEEN 1 AND 10
      WHEN 'decrypt' THEN "payload_sha256" IS NOT NULL AND "origins" = '{}'
      WHEN 'detokenize' THEN "payload_sha256" IS NOT NULL AND "origins" = '{}'
      ELSE false END)
);

CREATE UNIQUE INDEX "client_tokens_token_hash_key" ON "client_tokens"("token_hash");
CREATE INDEX "client_tokens_tenant_id_sandbox_created_at_id_idx" ON "client_tokens"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE INDEX "client_tokens_tenant_id_sandbox_minted_by_id_idx" ON "client_tokens"("tenant_id", "sandbox", "minted_by_id");
CREATE INDEX "client_tokens_expires_at_idx" ON "client_tokens"("expires_at");
-- What ends with a vault.
CREATE INDEX "client_tokens_open_of_vault" ON "client_tokens"("vault_id") WHERE "vault_id" IS NOT NULL AND "consumed_at" IS NULL AND "revoked_at" IS NULL;

SELECT register_table('client_tokens', 'space');

-- What a credential minted ends with it, whichever way it ends.
CREATE FUNCTION revoke_client_tokens_of_minter() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE client_tokens SET revoked_at = now()
    WHERE tenant_id = OLD.tenant_id AND sandbox = OLD.sandbox AND minted_by_id = OLD.id
      AND consumed_at IS NULL AND burned_at IS NULL AND revoked_at IS NULL AND expires_at > now();
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION revoke_client_tokens_of_minter FROM PUBLIC;
CREATE TRIGGER revoke_client_tokens AFTER UPDATE OF active, revoked_at ON api_keys FOR EACH ROW
  WHEN (NEW.revoked_at IS NOT NULL OR NOT NEW.active) EXECUTE FUNCTION revoke_client_tokens_of_minter();
CREATE TRIGGER revoke_client_tokens_of_deleted AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION revoke_client_tokens_of_minter();
CREATE TRIGGER revoke_client_tokens AFTER UPDATE OF active, revoked_at, epoch ON oauth_clients FOR EACH ROW
  WHEN (NEW.revoked_at IS NOT NULL OR NOT NEW.active OR NEW.epoch <> OLD.epoch) EXECUTE FUNCTION revoke_client_tokens_of_minter();
CREATE TRIGGER revoke_client_tokens_of_deleted AFTER DELETE ON oauth_clients FOR EACH ROW EXECUTE FUNCTION revoke_client_tokens_of_minter();
