CREATE TABLE "acme_accounts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "role_id" UUID NOT NULL,
    "label" TEXT,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "jwk" JSONB,
    "thumbprint" TEXT,
    "contact" TEXT[],
    "minted_by_type" TEXT NOT NULL,
    "minted_by_id" UUID NOT NULL,
    "minted_by_label" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "registered_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "acme_accounts_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "acme_accounts_status" CHECK ("status" IN ('pending', 'valid', 'deactivated', 'revoked')),
    -- The HMAC key is kept until it was used, and not longer.
    CONSTRAINT "acme_accounts_erased" CHECK (num_nonnulls("value_ct", "cek_wrapped", "tmk_version") = CASE WHEN "status" = 'pending' THEN 3 ELSE 0 END),
    CONSTRAINT "acme_accounts_registered" CHECK (num_nonnulls("jwk", "thumbprint", "registered_at") IN (0, 3) AND ("status" IN ('pending', 'revoked') OR "registered_at" IS NOT NULL))
);

CREATE TABLE "acme_orders" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "names" TEXT[],
    "error" JSONB,
    "serial_hex" TEXT,
    "chain_pem" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "acme_orders_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "acme_orders_status" CHECK ("status" IN ('pending', 'ready', 'processing', 'valid', 'invalid')),
    CONSTRAINT "acme_orders_certificate" CHECK (num_nonnulls("serial_hex", "chain_pem") = CASE WHEN "status" = 'valid' THEN 2 ELSE 0 END)
);

CREATE TABLE "acme_authorizations" (
    "id" UUID NOT NULL,
    "order_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "wildcard" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "acme_authorizations_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "acme_authorizations_status" CHECK ("status" IN ('pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked'))
);

CREATE TABLE "acme_challenges" (
    "id" UUID NOT NULL,
    "authorization_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "token" TEXT NOT NULL,
    "error" JSONB,
    "validated_at" TIMESTAMPTZ(3),

    CONSTRAINT "acme_challenges_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "acme_challenges_type" CHECK ("type" IN ('http-01', 'dns-01', 'tls-alpn-01')),
    CONSTRAINT "acme_challenges_status" CHECK ("status" IN ('pending', 'processing', 'valid', 'invalid'))
);

CREATE TABLE "acme_nonces" (
    "digest" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "acme_nonces_pkey" PRIMARY KEY ("digest")
);

CREATE UNIQUE INDEX "acme_accounts_id_tenant_id_sandbox_key" ON "acme_accounts"("id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "acme_accounts_role_id_thumbprint_key" ON "acme_accounts"("role_id", "thumbprint");
CREATE INDEX "acme_accounts_role_id_created_at_id_idx" ON "acme_accounts"("role_id", "created_at", "id");
CREATE INDEX "acme_accounts_tenant_id_tmk_version_idx" ON "acme_accounts"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "acme_orders_id_tenant_id_sandbox_key" ON "acme_orders"("id", "tenant_id", "sandbox");
CREATE INDEX "acme_orders_account_id_id_idx" ON "acme_orders"("account_id", "id");
CREATE INDEX "acme_orders_expires_at_idx" ON "acme_orders"("expires_at");
CREATE UNIQUE INDEX "acme_authorizations_id_tenant_id_sandbox_key" ON "acme_authorizations"("id", "tenant_id", "sandbox");
CREATE INDEX "acme_authorizations_order_id_idx" ON "acme_authorizations"("order_id");
CREATE INDEX "acme_authorizations_account_id_name_idx" ON "acme_authorizations"("account_id", "name");
CREATE INDEX "acme_challenges_authorization_id_idx" ON "acme_challenges"("authorization_id");
CREATE INDEX "acme_nonces_expires_at_idx" ON "acme_nonces"("expires_at");

ALTER TABLE "acme_accounts" ADD CONSTRAINT "acme_accounts_role_id_tenant_id_sandbox_fkey" FOREIGN KEY ("role_id", "tenant_id", "sandbox") REFERENCES "pki_roles"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "acme_orders" ADD CONSTRAINT "acme_orders_account_id_tenant_id_sandbox_fkey" FOREIGN KEY ("account_id", "tenant_id", "sandbox") REFERENCES "acme_accounts"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "acme_authorizations" ADD CONSTRAINT "acme_authorizations_order_id_tenant_id_sandbox_fkey" FOREIGN KEY ("order_id", "tenant_id", "sandbox") REFERENCES "acme_orders"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "acme_challenges" ADD CONSTRAINT "acme_challenges_authorization_id_tenant_id_sandbox_fkey" FOREIGN KEY ("authorization_id", "tenant_id", "sandbox") REFERENCES "acme_authorizations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT register_table('acme_accounts', 'space');
SELECT register_table('acme_orders', 'space');
SELECT register_table('acme_authorizations', 'space');
SELECT register_table('acme_challenges', 'space');
REVOKE ALL ON acme_nonces FROM sallyport_app;
