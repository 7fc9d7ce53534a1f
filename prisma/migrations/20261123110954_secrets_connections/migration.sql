ALTER TABLE "secrets" ADD COLUMN "oauth2_config" JSONB;

ALTER TABLE "secret_environments"
    ADD COLUMN "oauth2_status" TEXT,
    ADD COLUMN "oauth2_expires_at" TIMESTAMPTZ(3),
    ADD COLUMN "refresh_generation" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "refresh_lease_owner" TEXT,
    ADD COLUMN "refresh_lease_until" TIMESTAMPTZ(3),
    ADD COLUMN "oauth2_refreshed_at" TIMESTAMPTZ(3),
    ADD COLUMN "oauth2_failures" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "oauth2_retry_at" TIMESTAMPTZ(3),
    ADD COLUMN "oauth2_error" TEXT,
    ADD COLUMN "oauth2_lost_at" TIMESTAMPTZ(3),
    ADD COLUMN "cert_metadata" JSONB;

CREATE TABLE "oauth_states" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "secret_id" UUID NOT NULL,
    "environment" TEXT NOT NULL,
    "state_hash" BYTEA NOT NULL,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "session_id" UUID,
    "user_id" UUID,
    "actor_label" TEXT,
    "used_at" TIMESTAMPTZ(3),
    "handle_hash" BYTEA,
    "handle_expires_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_states_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "oauth_states_state_hash_key" ON "oauth_states"("state_hash");
CREATE UNIQUE INDEX "oauth_states_handle_hash_key" ON "oauth_states"("handle_hash");
CREATE INDEX "oauth_states_tenant_id_sandbox_idx" ON "oauth_states"("tenant_id", "sandbox");
CREATE INDEX "oauth_states_expires_at_idx" ON "oauth_states"("expires_at");
CREATE INDEX "oauth_states_tenant_id_tmk_version_idx" ON "oauth_states"("tenant_id", "tmk_version");
ALTER TABLE "oauth_states" ADD CONSTRAINT "oauth_states_secret_id_tenant_id_sandbox_fkey" FOREIGN KEY ("secret_id", "tenant_id", "sandbox") REFERENCES "secrets"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
SELECT register_table('oauth_states', 'space');

-- Gateways need not hear of leases: those change nothing that calls are served from.
SELECT register_table('secret_environments', 'space', announced => true,
  announced_columns => '{environment_name,value_version,expires_at_override,current_value_id,oauth2_status,oauth2_expires_at,refresh_generation,oauth2_retry_at}');

-- A lost connection is told of by the worker, and tried again by it.
SELECT lease_rows('secret_environments', 'secret_connection', '{oauth2_lost_at,oauth2_retry_at}');
