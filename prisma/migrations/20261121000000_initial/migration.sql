-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "key_id" TEXT NOT NULL,
    "key_prefix" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "key_type" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "role_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "scoped" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3),
    "ip_allowlist" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rate_limit_requests" INTEGER,
    "rate_limit_window_sec" INTEGER,
    "created_by" JSONB,
    "replaces_key_id" TEXT,
    "revoke_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credential_usage" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_ip" TEXT,

    CONSTRAINT "credential_usage_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "principal" TEXT NOT NULL,
    "key_hmac" BYTEA NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER,
    "content_type" TEXT,
    "body_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "body_tmk" INTEGER,
    "request_id" TEXT,
    "service_version" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_logs" (
    "id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "txid" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "action" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" TEXT,
    "details" JSONB NOT NULL,
    "ip_address" TEXT,
    "actor_type" TEXT NOT NULL,
    "actor_id" TEXT,
    "actor_label" TEXT,
    "request_id" TEXT,
    "user_agent" TEXT,
    "session_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_logs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_log_critical" (
    "id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "txid" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,
    "chain_id" TEXT NOT NULL,
    "sequence_number" BIGINT NOT NULL,
    "prev_hash" BYTEA NOT NULL,
    "row_hash" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "tenant_id" UUID,
    "actor_id" TEXT,
    "action" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" TEXT NOT NULL,
    "details" JSONB NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,

    CONSTRAINT "audit_log_critical_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_checkpoints" (
    "id" UUID NOT NULL,
    "chain_id" TEXT NOT NULL,
    "sequence_number" BIGINT NOT NULL,
    "row_hash" BYTEA NOT NULL,
    "signature" BYTEA NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_checkpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "clients" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL DEFAULT 'server',
    "ip_address" TEXT NOT NULL,
    "ip_notes" JSONB NOT NULL DEFAULT '{}',
    "description" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "collection_id" UUID,
    "created_by" TEXT,
    "agent_version" TEXT,
    "agent_os" TEXT,
    "agent_arch" TEXT,
    "agent_hostname" TEXT,
    "agent_last_seen" TIMESTAMPTZ(3),
    "agent_mode" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "clients_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "client_credentials" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "client_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "label" TEXT,
    "data" JSONB NOT NULL DEFAULT '{}',
    "secret_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "ip_range" TEXT,
    "thumbprint" TEXT,
    "is_primary" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "client_credentials_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "client_authorities" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "certificate_pem" TEXT NOT NULL,
    "key_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "client_authorities_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateTable
CREATE TABLE "route_client_assignments" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "route_id" UUID NOT NULL,
    "environment_id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_client_assignments_pkey" PRIMARY KEY ("route_id","environment_id","client_id")
);

-- CreateTable
CREATE TABLE "collections" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT,
    "color" TEXT,
    "icon" TEXT,
    "expected_environments" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "collections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "collection_variables" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "collection_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "type" TEXT NOT NULL DEFAULT 'value',
    "value" TEXT,
    "secret_id" UUID,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "collection_variables_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "collection_environment_defaults" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "collection_id" UUID NOT NULL,
    "environment_name" TEXT NOT NULL,
    "base_url" TEXT,
    "default_client_ids" UUID[] DEFAULT ARRAY[]::UUID[],

    CONSTRAINT "collection_environment_defaults_pkey" PRIMARY KEY ("collection_id","environment_name")
);

-- CreateTable
CREATE TABLE "environments" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "description" TEXT,
    "color" TEXT NOT NULL DEFAULT '#6366f1',
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "environments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenant_master_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "wrap_method" TEXT NOT NULL DEFAULT 'global',
    "wrapped_key" BYTEA,
    "root_key_id" TEXT,
    "kms_provider" TEXT,
    "kms_key_ref" TEXT,
    "kms_key_version" TEXT,
    "status" TEXT NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "rewrap_completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenant_master_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rewrap_leases" (
    "id" BIGSERIAL NOT NULL,
    "tenant_id" UUID NOT NULL,
    "from_version" INTEGER NOT NULL,
    "to_version" INTEGER NOT NULL,
    "owner" TEXT,
    "heartbeat_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "rows_done" BIGINT NOT NULL DEFAULT 0,
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rewrap_leases_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deployment_values" (
    "name" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "sealed" BYTEA,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deployment_values_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified_at" TIMESTAMPTZ(3),
    "full_name" TEXT NOT NULL DEFAULT '',
    "password_hash" TEXT,
    "timezone" TEXT,
    "date_format" TEXT,
    "locale" TEXT,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memberships" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "reveal_secrets" BOOLEAN NOT NULL DEFAULT false,
    "migration_reviewer" BOOLEAN NOT NULL DEFAULT true,
    "source" TEXT NOT NULL DEFAULT 'signup',
    "added_by" UUID,
    "joined_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "csrf_token" TEXT NOT NULL,
    "auth_methods" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "mfa_at" TIMESTAMPTZ(3),
    "keep" BOOLEAN NOT NULL DEFAULT false,
    "scope_tenant_id" UUID,
    "active_tenant_id" UUID,
    "ip" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mail_codes" (
    "id" UUID NOT NULL,
    "purpose" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "user_id" UUID,
    "code_digest" BYTEA,
    "token_digest" BYTEA,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "data" JSONB NOT NULL DEFAULT '{}',
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mail_codes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signup_claims" (
    "id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "email" TEXT NOT NULL,
    "full_name" TEXT NOT NULL,
    "tenant_name" TEXT NOT NULL,
    "tenant_slug" TEXT,
    "country" TEXT,
    "region" TEXT NOT NULL,
    "password_hash" TEXT,
    "token_digest" BYTEA,
    "tenant_id" UUID,
    "user_id" UUID,
    "ip" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ready_at" TIMESTAMPTZ(3),
    "collected_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "signup_claims_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mails" (
    "id" UUID NOT NULL,
    "recipient" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "html" TEXT,
    "kind" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_logs" (
    "id" BIGSERIAL NOT NULL,
    "request_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "route_id" UUID,
    "matched_client_id" UUID,
    "identification_method" TEXT,
    "method" TEXT,
    "status_code" INTEGER,
    "src_ip" TEXT,
    "environment" TEXT,
    "sandbox" BOOLEAN,
    "ts" TIMESTAMPTZ(3) NOT NULL,
    "path" TEXT,
    "latency_ms" INTEGER,
    "upstream_host" TEXT,
    "error" TEXT,
    "rate_limited" BOOLEAN,
    "proxy_mode" TEXT,
    "client_origin" TEXT NOT NULL DEFAULT 'direct',
    "origin" TEXT,
    "upstream_status" INTEGER,
    "upstream_ms" INTEGER,
    "attempts" INTEGER,
    "request_bytes" BIGINT,
    "response_bytes" BIGINT,
    "slug" TEXT,
    "route_name" TEXT,
    "client_name" TEXT,
    "user_agent" TEXT,
    "signature_valid" BOOLEAN,
    "api_key_id" UUID,
    "oauth_client_id" TEXT,
    "user_id" UUID,
    "secrets_used" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "warnings" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "error_detail" TEXT,
    "node_id" TEXT,
    "injected" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "trace" JSONB,
    "txid" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,

    CONSTRAINT "request_logs_pkey" PRIMARY KEY ("id","ts")
) PARTITION BY RANGE ("ts");

-- CreateTable
CREATE TABLE "request_rollups" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "route_id" UUID NOT NULL,
    "environment" TEXT NOT NULL,
    "status_class" INTEGER NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "errors" BIGINT NOT NULL DEFAULT 0,
    "rate_limited" BIGINT NOT NULL DEFAULT 0,
    "bytes_in" BIGINT NOT NULL DEFAULT 0,
    "bytes_out" BIGINT NOT NULL DEFAULT 0,
    "latency" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "upstream" INTEGER[] DEFAULT ARRAY[]::INTEGER[],

    CONSTRAINT "request_rollups_pkey" PRIMARY KEY ("tenant_id","sandbox","minute","route_id","environment","status_class")
);

-- CreateTable
CREATE TABLE "request_log_anchors" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "from_id" BIGINT NOT NULL,
    "to_id" BIGINT NOT NULL,
    "leaf_count" INTEGER NOT NULL,
    "merkle_root" BYTEA NOT NULL,
    "algo" TEXT NOT NULL DEFAULT 'sha256-merkle-v1',
    "sequence_number" BIGINT NOT NULL,
    "chain_row_hash" BYTEA,
    "anchored_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "request_log_anchors_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "routes" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "base_environment_id" UUID NOT NULL,
    "collection_id" UUID,
    "favicon_url" TEXT,
    "favicon_updated_at" TIMESTAMPTZ(3),
    "favicon_data" TEXT,
    "config_version" BIGINT NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "routes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "route_environment_configs" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "route_id" UUID NOT NULL,
    "environment_id" UUID NOT NULL,
    "environment_name" TEXT NOT NULL,
    "is_base" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN,
    "target_base_url" TEXT,
    "inject_headers_json" JSONB,
    "inject_body_json" JSONB,
    "inject_query_json" JSONB,
    "require_signature" BOOLEAN,
    "signature_tolerance_sec" INTEGER,
    "signature_require_nonce" BOOLEAN,
    "signature_scheme" TEXT,
    "rate_limit_enabled" BOOLEAN,
    "rate_limit_requests" INTEGER,
    "rate_limit_window_sec" INTEGER,
    "rate_limit_burst" INTEGER,
    "rate_limit_per_client" BOOLEAN,
    "allowed_methods" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "http_method_restrictions_enabled" BOOLEAN,
    "method_configs" JSONB,
    "use_method_specific_configs" BOOLEAN,
    "requires_clients" BOOLEAN,
    "mtls_certificate_id" UUID,
    "upstream_ca_certificate_id" UUID,
    "ip_allowlist" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "intercept_enabled" BOOLEAN,
    "timeout_ms" INTEGER,
    "retry_attempts" INTEGER,
    "body_placeholders" TEXT,
    "forward_client_ip" BOOLEAN,
    "log_payloads" TEXT,
    "payload_structure" JSONB,
    "overridden_fields" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_environment_configs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secrets" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "shortcode_name" TEXT NOT NULL,
    "secret_type" TEXT NOT NULL DEFAULT 'string',
    "base_environment" TEXT,
    "collection_id" UUID,
    "description" TEXT,
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "strict_expiry_enforcement" BOOLEAN NOT NULL DEFAULT false,
    "allowed_hosts" JSONB,
    "provider_label" TEXT,
    "is_escrow" BOOLEAN NOT NULL DEFAULT false,
    "rotate_every_days" INTEGER,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret_environments" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "secret_id" UUID NOT NULL,
    "environment_name" TEXT NOT NULL,
    "value_version" INTEGER NOT NULL DEFAULT 0,
    "expires_at_override" TIMESTAMPTZ(3),
    "current_value_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_environments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret_values" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "secret_environment_id" UUID NOT NULL,
    "value_version" INTEGER NOT NULL,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER NOT NULL,
    "superseded_at" TIMESTAMPTZ(3),
    "wiped_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_values_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret_references" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "secret_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "referrer_id" UUID NOT NULL,
    "referrer_env" TEXT,
    "field_path" TEXT NOT NULL,
    "by" TEXT NOT NULL,

    CONSTRAINT "secret_references_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenants" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "region" TEXT NOT NULL DEFAULT 'us',
    "country" TEXT,
    "subscription_plan" TEXT NOT NULL DEFAULT 'free',
    "subscription_status" TEXT NOT NULL DEFAULT 'active',
    "pause_reason" TEXT,
    "trial_start_at" TIMESTAMPTZ(3),
    "trial_end_at" TIMESTAMPTZ(3),
    "subscription_current_period_start" TIMESTAMPTZ(3),
    "subscription_current_period_end" TIMESTAMPTZ(3),
    "subscription_cancel_at" TIMESTAMPTZ(3),
    "enterprise_ended_by" TEXT,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "reserved_slugs" (
    "slug" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reserved_slugs_pkey" PRIMARY KEY ("slug")
);

-- CreateTable
CREATE TABLE "tenant_limit_overrides" (
    "tenant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "value" INTEGER,
    "reason" TEXT,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenant_limit_overrides_pkey" PRIMARY KEY ("tenant_id","kind")
);

-- CreateTable
CREATE TABLE "tenant_policies" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "actions" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "subjects" JSONB NOT NULL,
    "resources" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "space" TEXT NOT NULL DEFAULT 'both',
    "reason" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tenant_policies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "row_counts" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "kind" TEXT NOT NULL,
    "n" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "row_counts_pkey" PRIMARY KEY ("tenant_id","sandbox","kind")
);

-- CreateTable
CREATE TABLE "usage_counters" (
    "tenant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "year" INTEGER NOT NULL,
    "month" INTEGER NOT NULL,
    "n" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_counters_pkey" PRIMARY KEY ("tenant_id","kind","year","month")
);

-- CreateTable
CREATE TABLE "rate_counters" (
    "key" TEXT NOT NULL,
    "window" BIGINT NOT NULL,
    "n" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_counters_pkey" PRIMARY KEY ("key","window")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_id_key" ON "api_keys"("key_id");

-- CreateIndex
CREATE INDEX "api_keys_tenant_id_sandbox_created_at_id_idx" ON "api_keys"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "api_keys_tenant_id_sandbox_name_id_idx" ON "api_keys"("tenant_id", "sandbox", "name", "id");

-- CreateIndex
CREATE INDEX "idempotency_keys_completed_at_idx" ON "idempotency_keys"("completed_at");

-- CreateIndex
CREATE UNIQUE INDEX "idempotency_keys_tenant_id_sandbox_principal_key_hmac_key" ON "idempotency_keys"("tenant_id", "sandbox", "principal", "key_hmac");

-- CreateIndex
CREATE UNIQUE INDEX "audit_logs_seq_key" ON "audit_logs"("seq");

-- CreateIndex
CREATE INDEX "audit_logs_tenant_id_sandbox_created_at_seq_idx" ON "audit_logs"("tenant_id", "sandbox", "created_at" DESC, "seq" DESC);

-- CreateIndex
CREATE INDEX "audit_logs_tenant_id_sandbox_seq_idx" ON "audit_logs"("tenant_id", "sandbox", "seq");

-- CreateIndex
CREATE INDEX "audit_logs_tenant_id_sandbox_action_created_at_idx" ON "audit_logs"("tenant_id", "sandbox", "action", "created_at" DESC);

-- CreateIndex
CREATE INDEX "audit_logs_tenant_id_sandbox_resource_type_created_at_idx" ON "audit_logs"("tenant_id", "sandbox", "resource_type", "created_at" DESC);

-- CreateIndex
CREATE INDEX "audit_logs_tenant_id_resource_id_idx" ON "audit_logs"("tenant_id", "resource_id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_log_critical_seq_key" ON "audit_log_critical"("seq");

-- CreateIndex
CREATE INDEX "audit_log_critical_tenant_id_at_idx" ON "audit_log_critical"("tenant_id", "at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "audit_log_critical_chain_id_sequence_number_key" ON "audit_log_critical"("chain_id", "sequence_number");

-- CreateIndex
CREATE INDEX "audit_checkpoints_chain_id_created_at_idx" ON "audit_checkpoints"("chain_id", "created_at");

-- CreateIndex
CREATE INDEX "clients_tenant_id_sandbox_created_at_id_idx" ON "clients"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "clients_tenant_id_sandbox_name_id_idx" ON "clients"("tenant_id", "sandbox", "name", "id");

-- CreateIndex
CREATE INDEX "clients_tenant_id_sandbox_type_id_idx" ON "clients"("tenant_id", "sandbox", "type", "id");

-- CreateIndex
CREATE INDEX "clients_tenant_id_sandbox_ip_address_id_idx" ON "clients"("tenant_id", "sandbox", "ip_address", "id");

-- CreateIndex
CREATE INDEX "clients_collection_id_idx" ON "clients"("collection_id");

-- CreateIndex
CREATE UNIQUE INDEX "clients_id_tenant_id_sandbox_key" ON "clients"("id", "tenant_id", "sandbox");

-- CreateIndex
CREATE INDEX "client_credentials_client_id_idx" ON "client_credentials"("client_id");

-- CreateIndex
CREATE INDEX "client_credentials_tenant_id_sandbox_kind_idx" ON "client_credentials"("tenant_id", "sandbox", "kind");

-- CreateIndex
CREATE INDEX "client_credentials_tmk_version_idx" ON "client_credentials"("tmk_version");

-- CreateIndex
CREATE UNIQUE INDEX "client_authorities_id_key" ON "client_authorities"("id");

-- CreateIndex
CREATE INDEX "route_client_assignments_client_id_idx" ON "route_client_assignments"("client_id");

-- CreateIndex
CREATE INDEX "route_client_assignments_environment_id_idx" ON "route_client_assignments"("environment_id");

-- CreateIndex
CREATE UNIQUE INDEX "collections_id_tenant_id_sandbox_key" ON "collections"("id", "tenant_id", "sandbox");

-- CreateIndex
CREATE UNIQUE INDEX "collections_tenant_id_sandbox_name_key" ON "collections"("tenant_id", "sandbox", "name");

-- CreateIndex
CREATE UNIQUE INDEX "collections_tenant_id_sandbox_slug_key" ON "collections"("tenant_id", "sandbox", "slug");

-- CreateIndex
CREATE INDEX "collection_variables_secret_id_idx" ON "collection_variables"("secret_id");

-- CreateIndex
CREATE UNIQUE INDEX "collection_variables_collection_id_key_key" ON "collection_variables"("collection_id", "key");

-- CreateIndex
CREATE UNIQUE INDEX "environments_id_tenant_id_sandbox_key" ON "environments"("id", "tenant_id", "sandbox");

-- CreateIndex
CREATE UNIQUE INDEX "environments_tenant_id_sandbox_name_key" ON "environments"("tenant_id", "sandbox", "name");

-- CreateIndex
CREATE INDEX "tenant_master_keys_root_key_id_idx" ON "tenant_master_keys"("root_key_id");

-- CreateIndex
CREATE UNIQUE INDEX "tenant_master_keys_tenant_id_version_key" ON "tenant_master_keys"("tenant_id", "version");

-- CreateIndex
CREATE INDEX "rewrap_leases_tenant_id_completed_at_idx" ON "rewrap_leases"("tenant_id", "completed_at");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "memberships_user_id_idx" ON "memberships"("user_id");

-- CreateIndex
CREATE INDEX "memberships_tenant_id_idx" ON "memberships"("tenant_id");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_digest_key" ON "sessions"("digest");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "mail_codes_token_digest_key" ON "mail_codes"("token_digest");

-- CreateIndex
CREATE INDEX "mail_codes_email_purpose_idx" ON "mail_codes"("email", "purpose");

-- CreateIndex
CREATE UNIQUE INDEX "signup_claims_digest_key" ON "signup_claims"("digest");

-- CreateIndex
CREATE UNIQUE INDEX "signup_claims_token_digest_key" ON "signup_claims"("token_digest");

-- CreateIndex
CREATE INDEX "signup_claims_email_created_at_idx" ON "signup_claims"("email", "created_at");

-- CreateIndex
CREATE INDEX "mails_created_at_idx" ON "mails"("created_at");

-- CreateIndex
CREATE INDEX "mails_recipient_created_at_idx" ON "mails"("recipient", "created_at");

-- CreateIndex
CREATE INDEX "request_logs_tenant_id_sandbox_id_idx" ON "request_logs"("tenant_id", "sandbox", "id");

-- CreateIndex
CREATE INDEX "request_logs_tenant_id_sandbox_ts_id_idx" ON "request_logs"("tenant_id", "sandbox", "ts" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "request_logs_route_id_ts_id_idx" ON "request_logs"("route_id", "ts" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "request_logs_tenant_id_request_id_ts_key" ON "request_logs"("tenant_id", "request_id", "ts");

-- CreateIndex
CREATE INDEX "request_log_anchors_tenant_id_from_id_idx" ON "request_log_anchors"("tenant_id", "from_id");

-- CreateIndex
CREATE INDEX "routes_tenant_id_sandbox_created_at_id_idx" ON "routes"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "routes_tenant_id_sandbox_enabled_id_idx" ON "routes"("tenant_id", "sandbox", "enabled", "id");

-- CreateIndex
CREATE INDEX "routes_collection_id_idx" ON "routes"("collection_id");

-- CreateIndex
CREATE UNIQUE INDEX "routes_id_tenant_id_sandbox_key" ON "routes"("id", "tenant_id", "sandbox");

-- CreateIndex
CREATE UNIQUE INDEX "routes_tenant_id_sandbox_name_key" ON "routes"("tenant_id", "sandbox", "name");

-- CreateIndex
CREATE UNIQUE INDEX "routes_tenant_id_sandbox_slug_key" ON "routes"("tenant_id", "sandbox", "slug");

-- CreateIndex
CREATE INDEX "route_environment_configs_environment_id_idx" ON "route_environment_configs"("environment_id");

-- CreateIndex
CREATE UNIQUE INDEX "route_environment_configs_route_id_environment_id_key" ON "route_environment_configs"("route_id", "environment_id");

-- CreateIndex
CREATE INDEX "secrets_tenant_id_sandbox_name_id_idx" ON "secrets"("tenant_id", "sandbox", "name", "id");

-- CreateIndex
CREATE INDEX "secrets_tenant_id_sandbox_created_at_id_idx" ON "secrets"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "secrets_tenant_id_sandbox_base_environment_id_idx" ON "secrets"("tenant_id", "sandbox", "base_environment", "id");

-- CreateIndex
CREATE INDEX "secrets_collection_id_idx" ON "secrets"("collection_id");

-- CreateIndex
CREATE UNIQUE INDEX "secrets_id_tenant_id_sandbox_key" ON "secrets"("id", "tenant_id", "sandbox");

-- CreateIndex
CREATE INDEX "secret_environments_tenant_id_sandbox_environment_name_idx" ON "secret_environments"("tenant_id", "sandbox", "environment_name");

-- CreateIndex
CREATE UNIQUE INDEX "secret_environments_secret_id_environment_name_key" ON "secret_environments"("secret_id", "environment_name");

-- CreateIndex
CREATE INDEX "secret_values_secret_environment_id_idx" ON "secret_values"("secret_environment_id");

-- CreateIndex
CREATE INDEX "secret_values_tenant_id_tmk_version_idx" ON "secret_values"("tenant_id", "tmk_version");

-- CreateIndex
CREATE INDEX "secret_values_superseded_at_idx" ON "secret_values"("superseded_at");

-- CreateIndex
CREATE INDEX "secret_references_secret_id_idx" ON "secret_references"("secret_id");

-- CreateIndex
CREATE INDEX "secret_references_kind_referrer_id_idx" ON "secret_references"("kind", "referrer_id");

-- CreateIndex
CREATE UNIQUE INDEX "tenants_slug_key" ON "tenants"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "tenant_policies_tenant_id_name_key" ON "tenant_policies"("tenant_id", "name");

-- CreateIndex
CREATE INDEX "rate_counters_expires_at_idx" ON "rate_counters"("expires_at");

-- AddForeignKey
ALTER TABLE "clients" ADD CONSTRAINT "clients_collection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("collection_id", "tenant_id", "sandbox") REFERENCES "collections"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "client_credentials" ADD CONSTRAINT "client_credentials_client_id_tenant_id_sandbox_fkey" FOREIGN KEY ("client_id", "tenant_id", "sandbox") REFERENCES "clients"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route_client_assignments" ADD CONSTRAINT "route_client_assignments_route_id_tenant_id_sandbox_fkey" FOREIGN KEY ("route_id", "tenant_id", "sandbox") REFERENCES "routes"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route_client_assignments" ADD CONSTRAINT "route_client_assignments_environment_id_tenant_id_sandbox_fkey" FOREIGN KEY ("environment_id", "tenant_id", "sandbox") REFERENCES "environments"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route_client_assignments" ADD CONSTRAINT "route_client_assignments_client_id_tenant_id_sandbox_fkey" FOREIGN KEY ("client_id", "tenant_id", "sandbox") REFERENCES "clients"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "collection_variables" ADD CONSTRAINT "collection_variables_collection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("collection_id", "tenant_id", "sandbox") REFERENCES "collections"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "collection_variables" ADD CONSTRAINT "collection_variables_secret_id_tenant_id_sandbox_fkey" FOREIGN KEY ("secret_id", "tenant_id", "sandbox") REFERENCES "secrets"("id", "tenant_id", "sandbox") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "collection_environment_defaults" ADD CONSTRAINT "collection_environment_defaults_collection_id_tenant_id_sa_fkey" FOREIGN KEY ("collection_id", "tenant_id", "sandbox") REFERENCES "collections"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "routes" ADD CONSTRAINT "routes_collection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("collection_id", "tenant_id", "sandbox") REFERENCES "collections"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "routes" ADD CONSTRAINT "routes_base_environment_id_tenant_id_sandbox_fkey" FOREIGN KEY ("base_environment_id", "tenant_id", "sandbox") REFERENCES "environments"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "route_environment_configs" ADD CONSTRAINT "route_environment_configs_route_id_tenant_id_sandbox_fkey" FOREIGN KEY ("route_id", "tenant_id", "sandbox") REFERENCES "routes"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route_environment_configs" ADD CONSTRAINT "route_environment_configs_environment_id_tenant_id_sandbox_fkey" FOREIGN KEY ("environment_id", "tenant_id", "sandbox") REFERENCES "environments"("id", "tenant_id", "sandbox") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_collection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("collection_id", "tenant_id", "sandbox") REFERENCES "collections"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "secret_environments" ADD CONSTRAINT "secret_environments_secret_id_tenant_id_sandbox_fkey" FOREIGN KEY ("secret_id", "tenant_id", "sandbox") REFERENCES "secrets"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_values" ADD CONSTRAINT "secret_values_secret_environment_id_fkey" FOREIGN KEY ("secret_environment_id") REFERENCES "secret_environments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_references" ADD CONSTRAINT "secret_references_secret_id_tenant_id_sandbox_fkey" FOREIGN KEY ("secret_id", "tenant_id", "sandbox") REFERENCES "secrets"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tenant_limit_overrides" ADD CONSTRAINT "tenant_limit_overrides_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Rules that the schema language cannot say.

-- Exactly one default environment a space, one base configuration a route, one active master key a tenant, one live membership a person.
CREATE UNIQUE INDEX environments_one_default ON environments (tenant_id, sandbox) WHERE is_default;
CREATE UNIQUE INDEX route_environment_configs_one_base ON route_environment_configs (route_id) WHERE is_base;
ALTER TABLE route_environment_configs ADD CONSTRAINT route_environment_configs_base_has_target CHECK (NOT is_base OR target_base_url IS NOT NULL);
CREATE UNIQUE INDEX tenant_master_keys_one_active ON tenant_master_keys (tenant_id) WHERE status = 'active';
CREATE UNIQUE INDEX memberships_one_live ON memberships (tenant_id, user_id) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX secrets_name_folded ON secrets (tenant_id, sandbox, lower(shortcode_name));
CREATE UNIQUE INDEX client_credentials_thumbprint ON client_credentials (tenant_id, sandbox, thumbprint) WHERE enabled AND thumbprint IS NOT NULL;
ALTER TABLE clients ADD CONSTRAINT clients_type CHECK (type IN ('user', 'server'));

-- Rate-limit windows may be lost in a crash.
ALTER TABLE rate_counters SET UNLOGGED;

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Row-level security: the second line behind own(ctx). The service enters the role for every tenant-scoped transaction.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sallyport_app') THEN CREATE ROLE sallyport_app NOLOGIN; END IF;
  -- An operator may have made it and granted it without the right to grant it on.
  BEGIN
    EXECUTE format('GRANT sallyport_app TO %I', current_user);
  EXCEPTION WHEN insufficient_privilege THEN
    IF NOT pg_has_role(current_user, 'sallyport_app', 'member') THEN RAISE; END IF;
  END;
END $$;
GRANT USAGE ON SCHEMA public TO sallyport_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO sallyport_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO sallyport_app;

-- What a tenant-scoped transaction never needs. Counters are kept by security-definer triggers.
REVOKE ALL ON users, sessions, mail_codes, signup_claims, mails, deployment_values, rewrap_leases, rate_counters, audit_checkpoints, reserved_slugs FROM sallyport_app;
GRANT SELECT (id, email, full_name) ON users TO sallyport_app;
REVOKE INSERT, UPDATE, DELETE ON row_counts, usage_counters, request_rollups, request_log_anchors, tenant_limit_overrides FROM sallyport_app;
REVOKE INSERT, DELETE ON tenants FROM sallyport_app;
REVOKE UPDATE, DELETE ON audit_logs, audit_log_critical, request_logs FROM sallyport_app;

CREATE FUNCTION app_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT nullif(current_setting('app.tenant_id', true), '')::uuid $$;
CREATE FUNCTION app_sandbox() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT nullif(current_setting('app.sandbox', true), '')::boolean $$;

DO $$ DECLARE t text; BEGIN
  FOREACH t IN ARRAY ARRAY['environments', 'collections', 'collection_variables', 'collection_environment_defaults', 'clients', 'client_credentials',
    'route_client_assignments', 'secrets', 'secret_environments', 'secret_values', 'secret_references', 'routes', 'route_environment_configs',
    'api_keys', 'credential_usage', 'idempotency_keys', 'row_counts', 'request_rollups'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_space ON %I TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox()) WITH CHECK (tenant_id = app_tenant() AND sandbox = app_sandbox())', t);
  END LOOP;
  -- Shared by both spaces, or stamped per row.
  FOREACH t IN ARRAY ARRAY['memberships', 'tenant_limit_overrides', 'tenant_policies', 'tenant_master_keys', 'client_authorities', 'usage_counters', 'audit_logs', 'request_log_anchors'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO sallyport_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
  END LOOP;
END $$;
ALTER TABLE request_logs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON request_logs TO sallyport_app USING (tenant_id = app_tenant() AND coalesce(sandbox, false) = app_sandbox());
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON tenants TO sallyport_app USING (id = app_tenant()) WITH CHECK (id = app_tenant());
ALTER TABLE audit_log_critical ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON audit_log_critical TO sallyport_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant());
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_people ON users TO sallyport_app USING (EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id AND m.tenant_id = app_tenant()));

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Live row counts: list totals and plan limits never count rows.
CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) SELECT tenant_id, sandbox, TG_TABLE_NAME, count(*) FROM changed GROUP BY 1, 2
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  ELSE
    UPDATE row_counts c SET n = c.n - d.n FROM (SELECT tenant_id, sandbox, count(*) AS n FROM changed GROUP BY 1, 2) d
      WHERE c.tenant_id = d.tenant_id AND c.sandbox = d.sandbox AND c.kind = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
DO $$ DECLARE t text; BEGIN
  FOREACH t IN ARRAY ARRAY['routes', 'secrets', 'clients', 'environments', 'collections', 'audit_logs'] LOOP
    EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', t);
    EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', t);
  END LOOP;
END $$;

-- API keys count while active, under the kind api_keys; every row counts under api_keys_all.
CREATE FUNCTION count_api_keys() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE active_delta integer := 0; all_delta integer := 0; r record;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; active_delta := active_delta - OLD.active::int; all_delta := all_delta - 1; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; active_delta := active_delta + NEW.active::int; all_delta := all_delta + 1; END IF;
  IF active_delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'api_keys', active_delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  IF all_delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'api_keys_all', all_delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_keys AFTER INSERT OR UPDATE OF active OR DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION count_api_keys();

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Every change of what the gateways serve announces itself; PostgreSQL sends equal payloads of one transaction once.
CREATE FUNCTION announce_config() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  IF TG_OP = 'UPDATE' AND NEW IS NOT DISTINCT FROM OLD THEN RETURN NULL; END IF;
  IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
  PERFORM pg_notify('config_changed', r.tenant_id || ':' || CASE WHEN r.sandbox THEN 'test' ELSE 'live' END);
  RETURN NULL;
END $$;
DO $$ DECLARE t text; BEGIN
  FOREACH t IN ARRAY ARRAY['environments', 'collections', 'collection_variables', 'clients', 'client_credentials', 'route_client_assignments', 'secrets',
    'secret_environments', 'secret_values', 'routes', 'route_environment_configs', 'api_keys'] LOOP
    EXECUTE format('CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION announce_config()', t);
  END LOOP;
END $$;

CREATE FUNCTION announce_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM pg_notify('tenant_changed', CASE WHEN TG_TABLE_NAME = 'tenants' THEN to_jsonb(OLD) ->> 'id' ELSE to_jsonb(OLD) ->> 'tenant_id' END);
  ELSE PERFORM pg_notify('tenant_changed', CASE WHEN TG_TABLE_NAME = 'tenants' THEN to_jsonb(NEW) ->> 'id' ELSE to_jsonb(NEW) ->> 'tenant_id' END); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenants FOR EACH ROW EXECUTE FUNCTION announce_tenant();
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenant_limit_overrides FOR EACH ROW EXECUTE FUNCTION announce_tenant();
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenant_master_keys FOR EACH ROW EXECUTE FUNCTION announce_tenant();
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenant_policies FOR EACH ROW EXECUTE FUNCTION announce_tenant();

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Both audit stores share one identity, so that one cursor orders them.
ALTER TABLE audit_log_critical ALTER COLUMN seq SET DEFAULT nextval('audit_logs_seq_seq');
DROP SEQUENCE audit_log_critical_seq_seq;

-- Rows of both logs are evidence.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% rows are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON audit_log_critical FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER immutable_whole BEFORE TRUNCATE ON audit_log_critical FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE ON request_logs FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A chain row must follow the current tail (interface rule 31 §10.6).
CREATE FUNCTION follow_chain() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE tail record;
BEGIN
  SELECT sequence_number, row_hash INTO tail FROM audit_log_critical WHERE chain_id = NEW.chain_id ORDER BY sequence_number DESC LIMIT 1;
  IF NEW.sequence_number <> coalesce(tail.sequence_number, 0) + 1 OR NEW.prev_hash <> coalesce(tail.row_hash, decode(repeat('00', 32), 'hex')) THEN
    RAISE EXCEPTION 'the entry does not follow the chain' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER follows BEFORE INSERT ON audit_log_critical FOR EACH ROW EXECUTE FUNCTION follow_chain();

-- Request logs: a default partition takes what no daily partition claims; the retention job makes and drops the daily ones.
CREATE TABLE request_logs_default PARTITION OF request_logs DEFAULT;
