-- OAuth clients, what they are granted, and their tokens (interface rule 21 section 14). Every secret, code and token is stored as its SHA-256.
CREATE TABLE "oauth_clients" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "grant_types" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "allowed_scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "step_up_scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "redirect_uris" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "require_dpop" BOOLEAN NOT NULL DEFAULT false,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "revoked_at" TIMESTAMPTZ(3),
    "system_role" TEXT,
    "source_api_key_id" UUID,
    "source_key_type" TEXT,
    "consent_html_template" TEXT,
    "created_by" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_clients_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_client_secrets" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_client_secrets_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_trust_bindings" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "audience" TEXT NOT NULL,
    "subject" TEXT,
    "claims" JSONB NOT NULL DEFAULT '{}',
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "ttl_seconds" INTEGER NOT NULL DEFAULT 3600,
    "single_use" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "use_count" INTEGER NOT NULL DEFAULT 0,
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_trust_bindings_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_auth_requests" (
    "id" UUID NOT NULL,
    "handle_digest" BYTEA NOT NULL,
    "tenant_id" UUID,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID,
    "tenant_hint" TEXT,
    "redirect_uri" TEXT NOT NULL,
    "code_challenge" TEXT NOT NULL,
    "state" TEXT,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "scope_named" BOOLEAN NOT NULL DEFAULT false,
    "resource" TEXT,
    "dpop_jkt" TEXT,
    "prompt" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "login_hint" TEXT,
    "session_id" UUID,
    "user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_auth_requests_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_codes" (
    "digest" BYTEA NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "redirect_uri" TEXT NOT NULL,
    "code_challenge" TEXT NOT NULL,
    "resource" TEXT,
    "dpop_jkt" TEXT,
    "step_up_at" TIMESTAMPTZ(3),
    "family_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_codes_pkey" PRIMARY KEY ("digest")
);

CREATE TABLE "oauth_device_codes" (
    "id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "user_code_digest" BYTEA NOT NULL,
    "tenant_id" UUID,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "scope_named" BOOLEAN NOT NULL DEFAULT false,
    "resource" TEXT,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "interval_sec" INTEGER NOT NULL DEFAULT 5,
    "last_polled_at" TIMESTAMPTZ(3),
    "user_id" UUID,
    "family_id" UUID,
    "step_up_at" TIMESTAMPTZ(3),
    "handle_digest" BYTEA,
    "handle_until" TIMESTAMPTZ(3),
    "session_id" UUID,
    "ip" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_device_codes_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_families" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "resource" TEXT,
    "jkt" TEXT,
    "flow" TEXT NOT NULL,
    "step_up_at" TIMESTAMPTZ(3),
    "ip" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_reason" TEXT,

    CONSTRAINT "oauth_families_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_refresh" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "family_id" UUID NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_refresh_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_access" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "digest" BYTEA NOT NULL,
    "kind" TEXT NOT NULL,
    "client_row_id" UUID NOT NULL,
    "user_id" UUID,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "ceiling" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "aud" TEXT,
    "cnf_jkt" TEXT,
    "family_id" UUID,
    "source_api_key_id" UUID,
    "binding_id" UUID,
    "issued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "step_up_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_access_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_consents" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_row_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "consented_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_consents_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_assertion_uses" (
    "digest" BYTEA NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "binding_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_assertion_uses_pkey" PRIMARY KEY ("digest")
);

CREATE TABLE "dpop_jti" (
    "jkt" TEXT NOT NULL,
    "jti_digest" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "dpop_jti_pkey" PRIMARY KEY ("jkt","jti_digest")
);

CREATE UNIQUE INDEX "oauth_clients_client_id_key" ON "oauth_clients"("client_id");

CREATE UNIQUE INDEX "oauth_clients_source_api_key_id_key" ON "oauth_clients"("source_api_key_id");

CREATE INDEX "oauth_clients_tenant_id_sandbox_created_at_id_idx" ON "oauth_clients"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

CREATE UNIQUE INDEX "oauth_clients_tenant_id_sandbox_system_role_key" ON "oauth_clients"("tenant_id", "sandbox", "system_role");

CREATE UNIQUE INDEX "oauth_client_secrets_digest_key" ON "oauth_client_secrets"("digest");

CREATE INDEX "oauth_client_secrets_client_row_id_idx" ON "oauth_client_secrets"("client_row_id");

CREATE INDEX "oauth_trust_bindings_client_row_id_idx" ON "oauth_trust_bindings"("client_row_id");

CREATE UNIQUE INDEX "oauth_auth_requests_handle_digest_key" ON "oauth_auth_requests"("handle_digest");

CREATE INDEX "oauth_auth_requests_expires_at_idx" ON "oauth_auth_requests"("expires_at");

CREATE UNIQUE INDEX "oauth_codes_family_id_key" ON "oauth_codes"("family_id");

CREATE INDEX "oauth_codes_client_row_id_idx" ON "oauth_codes"("client_row_id");

CREATE INDEX "oauth_codes_expires_at_idx" ON "oauth_codes"("expires_at");

CREATE UNIQUE INDEX "oauth_device_codes_digest_key" ON "oauth_device_codes"("digest");

CREATE UNIQUE INDEX "oauth_device_codes_family_id_key" ON "oauth_device_codes"("family_id");

CREATE UNIQUE INDEX "oauth_device_codes_handle_digest_key" ON "oauth_device_codes"("handle_digest");

CREATE INDEX "oauth_device_codes_client_row_id_idx" ON "oauth_device_codes"("client_row_id");

CREATE INDEX "oauth_device_codes_expires_at_idx" ON "oauth_device_codes"("expires_at");

CREATE INDEX "oauth_families_client_row_id_created_at_idx" ON "oauth_families"("client_row_id", "created_at" DESC);

CREATE INDEX "oauth_families_user_id_tenant_id_idx" ON "oauth_families"("user_id", "tenant_id");

CREATE INDEX "oauth_families_tenant_id_idx" ON "oauth_families"("tenant_id");

CREATE INDEX "oauth_families_expires_at_idx" ON "oauth_families"("expires_at");

CREATE UNIQUE INDEX "oauth_refresh_digest_key" ON "oauth_refresh"("digest");

CREATE INDEX "oauth_refresh_expires_at_idx" ON "oauth_refresh"("expires_at");

CREATE UNIQUE INDEX "oauth_refresh_family_id_generation_key" ON "oauth_refresh"("family_id", "generation");

CREATE UNIQUE INDEX "oauth_access_digest_key" ON "oauth_access"("digest");

CREATE INDEX "oauth_access_family_id_idx" ON "oauth_access"("family_id");

CREATE INDEX "oauth_access_client_row_id_idx" ON "oauth_access"("client_row_id");

CREATE INDEX "oauth_access_user_id_idx" ON "oauth_access"("user_id");

CREATE INDEX "oauth_access_expires_at_idx" ON "oauth_access"("expires_at");

CREATE INDEX "oauth_consents_expires_at_idx" ON "oauth_consents"("expires_at");

CREATE UNIQUE INDEX "oauth_consents_client_row_id_user_id_key" ON "oauth_consents"("client_row_id", "user_id");

CREATE INDEX "oauth_assertion_uses_expires_at_idx" ON "oauth_assertion_uses"("expires_at");

CREATE INDEX "dpop_jti_expires_at_idx" ON "dpop_jti"("expires_at");

ALTER TABLE "oauth_clients" ADD CONSTRAINT "oauth_clients_source_api_key_id_fkey" FOREIGN KEY ("source_api_key_id") REFERENCES "api_keys"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_client_secrets" ADD CONSTRAINT "oauth_client_secrets_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_trust_bindings" ADD CONSTRAINT "oauth_trust_bindings_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_auth_requests" ADD CONSTRAINT "oauth_auth_requests_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_codes" ADD CONSTRAINT "oauth_codes_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_device_codes" ADD CONSTRAINT "oauth_device_codes_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_families" ADD CONSTRAINT "oauth_families_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_refresh" ADD CONSTRAINT "oauth_refresh_family_id_fkey" FOREIGN KEY ("family_id") REFERENCES "oauth_families"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_consents" ADD CONSTRAINT "oauth_consents_client_row_id_fkey" FOREIGN KEY ("client_row_id") REFERENCES "oauth_clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;


ALTER TABLE "oauth_clients" ADD CONSTRAINT "oauth_clients_type" CHECK ("type" IN ('confidential', 'public')),
  ADD CONSTRAINT "oauth_clients_revoked" CHECK ("revoked_at" IS NULL OR NOT "active");
ALTER TABLE "oauth_device_codes" ADD CONSTRAINT "oauth_device_codes_state" CHECK ("state" IN ('pending', 'approved', 'denied', 'redeemed'));
ALTER TABLE "oauth_access" ADD CONSTRAINT "oauth_access_kind" CHECK ("kind" IN ('client', 'user', 'workload'));
CREATE UNIQUE INDEX "oauth_device_codes_pending" ON "oauth_device_codes"("user_code_digest") WHERE "state" = 'pending';
CREATE INDEX "oauth_trust_bindings_issuer" ON "oauth_trust_bindings"("issuer") WHERE "enabled";

SELECT register_table('oauth_clients', 'space');
SELECT register_table('oauth_client_secrets', 'space');
SELECT register_table('oauth_trust_bindings', 'space');
SELECT register_table('oauth_codes', 'space');
SELECT register_table('oauth_families', 'space');
SELECT register_table('oauth_refresh', 'space');
SELECT register_table('oauth_access', 'space');
SELECT register_table('oauth_consents', 'space');
SELECT register_table('oauth_assertion_uses', 'space');
-- These begin before anybody has chosen a workspace, or belong to none: only the authorization server itself reads them.
REVOKE ALL ON oauth_auth_requests, oauth_device_codes, dpop_jti FROM sallyport_app;

-- Each API key is a confidential client with the grant client_credentials. Its row follows the key.
CREATE FUNCTION mirror_api_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO oauth_clients (id, tenant_id, sandbox, client_id, name, type, grant_types, active, revoked_at, source_api_key_id, source_key_type, created_by, created_at, updated_at)
    VALUES (gen_random_uuid(), NEW.tenant_id, NEW.sandbox, NEW.key_id, NEW.name, 'confidential', '{client_credentials}', NEW.active AND NEW.revoked_at IS NULL, NEW.revoked_at, NEW.id, NEW.key_type,
      NEW.created_by, NEW.created_at, NEW.updated_at)
    ON CONFLICT (source_api_key_id) DO UPDATE SET name = excluded.name, active = excluded.active, revoked_at = excluded.revoked_at, updated_at = excluded.updated_at;
  RETURN NULL;
END $$;
CREATE TRIGGER mirror_api_key AFTER INSERT OR UPDATE OF name, active, revoked_at ON api_keys FOR EACH ROW EXECUTE FUNCTION mirror_api_key();
INSERT INTO oauth_clients (id, tenant_id, sandbox, client_id, name, type, grant_types, active, revoked_at, source_api_key_id, source_key_type, created_by, created_at, updated_at)
  SELECT gen_random_uuid(), tenant_id, sandbox, key_id, name, 'confidential', '{client_credentials}', active AND revoked_at IS NULL, revoked_at, id, key_type, created_by, created_at, updated_at FROM api_keys;

-- The plan limits clients that somebody created and that are active: neither mirrored keys nor the client of service-cli.
CREATE FUNCTION count_oauth_clients() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r oauth_clients; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; delta := delta - (OLD.source_api_key_id IS NULL AND OLD.system_role IS NULL AND OLD.revoked_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; delta := delta + (NEW.source_api_key_id IS NULL AND NEW.system_role IS NULL AND NEW.revoked_at IS NULL)::int; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'oauth_clients', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_clients AFTER INSERT OR UPDATE OF revoked_at OR DELETE ON oauth_clients FOR EACH ROW EXECUTE FUNCTION count_oauth_clients();
REVOKE ALL ON FUNCTION mirror_api_key, count_oauth_clients FROM PUBLIC;
