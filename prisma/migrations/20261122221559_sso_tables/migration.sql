-- Single sign-on (server/domain/sso). What is secret in a sign-in on its way, its state and the browser's part, is stored as digests.
CREATE TABLE "sso_connections" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT,
    "token_auth" TEXT NOT NULL DEFAULT 'basic',
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "sso_url" TEXT,
    "certificates" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "allow_idp_initiated" BOOLEAN NOT NULL DEFAULT false,
    "trust_mfa" BOOLEAN NOT NULL DEFAULT false,
    "tested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sso_connections_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sso_connections_kind" CHECK ("kind" IN ('oidc', 'saml')),
    CONSTRAINT "sso_connections_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "sso_connections_tenant_id_idx" ON "sso_connections"("tenant_id");

CREATE TABLE "sso_attempts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "state_digest" BYTEA NOT NULL,
    "browser_digest" BYTEA,
    "purpose" TEXT NOT NULL,
    "request_id" TEXT,
    "identity" JSONB,
    "reason" TEXT,
    "message" TEXT,
    "outcome" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sso_attempts_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sso_attempts_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "sso_connections"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "sso_attempts_state_digest_key" ON "sso_attempts"("state_digest");
CREATE INDEX "sso_attempts_connection_id_idx" ON "sso_attempts"("connection_id");
CREATE INDEX "sso_attempts_expires_at_idx" ON "sso_attempts"("expires_at");

CREATE TABLE "user_identities" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_identities_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "user_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "user_identities_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "sso_connections"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "user_identities_connection_id_issuer_subject_key" ON "user_identities"("connection_id", "issuer", "subject");
CREATE INDEX "user_identities_user_id_idx" ON "user_identities"("user_id");
CREATE INDEX "user_identities_tenant_id_idx" ON "user_identities"("tenant_id");

CREATE TABLE "sso_assertions" (
    "tenant_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sso_assertions_pkey" PRIMARY KEY ("connection_id", "digest"),
    CONSTRAINT "sso_assertions_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "sso_connections"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "sso_assertions_expires_at_idx" ON "sso_assertions"("expires_at");

SELECT register_table('sso_connections', 'tenant');
SELECT register_table('sso_attempts', 'tenant', privileges => 'SELECT, INSERT');
-- Only sign-in writes these, before anybody is a member acting in a workspace.
SELECT register_table('user_identities', 'tenant', privileges => 'SELECT');
SELECT register_table('sso_assertions', 'tenant', privileges => 'SELECT');

-- Whom a requirement concerns, and which Owners can sign in without it: numbers alone, because a workspace doesn't see how its people sign in.
CREATE FUNCTION sso_people(domains text[]) RETURNS TABLE (members_concerned int, owners int, owners_with_break_glass int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT count(*) FILTER (WHERE m.role <> 'owner' AND split_part(u.email, '@', 2) = ANY (domains))::int, count(*) FILTER (WHERE m.role = 'owner')::int,
    count(*) FILTER (WHERE m.role = 'owner' AND u.password_hash IS NOT NULL AND u.disabled_at IS NULL AND has_factor(u.id))::int
  FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.tenant_id = app_tenant() AND m.removed_at IS NULL $$;
REVOKE ALL ON FUNCTION sso_people FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sso_people TO sallyport_app;
