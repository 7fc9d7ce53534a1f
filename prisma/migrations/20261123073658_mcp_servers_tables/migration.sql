CREATE TABLE "mcp_servers" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "gateway_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT,
    "server_type" TEXT NOT NULL DEFAULT 'upstream',
    "transport" TEXT,
    "upstream_url" TEXT,
    "auth" JSONB NOT NULL DEFAULT '{}',
    "allowed_tools" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "members" JSONB NOT NULL DEFAULT '[]',
    "allowed_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rate_limit_rpm" INTEGER NOT NULL DEFAULT 600,
    "allow_elicitation" BOOLEAN NOT NULL DEFAULT false,
    "pii_inspection" BOOLEAN NOT NULL DEFAULT true,
    "pii_redact_policy_id" UUID,
    "firewall_policy_id" UUID,
    "guardrail_webhook_url" TEXT,
    "guardrail_webhook_secret_id" UUID,
    "guardrail_webhook_mode" TEXT NOT NULL DEFAULT 'off',
    "guardrail_webhook_timeout_ms" INTEGER NOT NULL DEFAULT 2000,
    "guardrail_webhook_failure_action" TEXT NOT NULL DEFAULT 'fail_closed',
    "status" TEXT NOT NULL DEFAULT 'active',
    "protocol" JSONB NOT NULL DEFAULT '{}',
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_servers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "mcp_tools" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "mcp_server_id" UUID NOT NULL,
    "tool_name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "description" TEXT,
    "input_schema" JSONB,
    "route_id" UUID,
    "operation" JSONB,
    "discovered" BOOLEAN NOT NULL DEFAULT false,
    "upstream_tool" JSONB,
    "upstream_hash" TEXT,
    "pinned_hash" TEXT,
    "pinned_tool" JSONB,
    "changed_at" TIMESTAMPTZ(3),
    "poisoning" JSONB,
    "approval" TEXT NOT NULL DEFAULT 'none',
    "argument_rules" JSONB NOT NULL DEFAULT '[]',
    "price_per_call_usd" DECIMAL(12,6),
    "last_called_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_tools_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "mcp_grants" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "mcp_server_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "external_id" TEXT NOT NULL,
    "attributed_user_id" UUID,
    "display_name" TEXT,
    "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "status" TEXT NOT NULL DEFAULT 'active',
    "issuer" TEXT NOT NULL,
    "token_endpoint" TEXT NOT NULL,
    "revocation_endpoint" TEXT,
    "client_id" TEXT NOT NULL,
    "client_auth" TEXT NOT NULL,
    "resource" TEXT,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "has_refresh_token" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3),
    "refreshing_until" TIMESTAMPTZ(3),
    "last_refreshed_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_grants_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "mcp_registrations" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "mcp_server_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "client_auth" TEXT NOT NULL,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_registrations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "mcp_consents" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "mcp_server_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "state_digest" BYTEA NOT NULL,
    "browser_digest" BYTEA NOT NULL,
    "plan" JSONB NOT NULL,
    "return_to" TEXT,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mcp_consents_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "mcp_sessions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "mcp_server_id" UUID NOT NULL,
    "token_id" UUID NOT NULL,
    "grant_id" UUID NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "protocol_version" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_sessions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "mcp_approvals" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "mcp_server_id" UUID NOT NULL,
    "tool_name" TEXT NOT NULL,
    "token_id" UUID NOT NULL,
    "token_label" TEXT NOT NULL,
    "user_id" TEXT,
    "call_digest" BYTEA NOT NULL,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "request_id" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "decided_by" UUID,
    "decided_at" TIMESTAMPTZ(3),
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "passes_until" TIMESTAMPTZ(3),
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "mcp_approvals_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "mcp_servers_id_tenant_id_sandbox_key" ON "mcp_servers"("id", "tenant_id", "sandbox");
CREATE INDEX "mcp_servers_tenant_id_sandbox_name_id_idx" ON "mcp_servers"("tenant_id", "sandbox", "name", "id");
CREATE INDEX "mcp_servers_tenant_id_sandbox_created_at_id_idx" ON "mcp_servers"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE INDEX "mcp_servers_gateway_id_idx" ON "mcp_servers"("gateway_id");
CREATE INDEX "mcp_servers_pii_redact_policy_id_idx" ON "mcp_servers"("pii_redact_policy_id");
CREATE INDEX "mcp_servers_firewall_policy_id_idx" ON "mcp_servers"("firewall_policy_id");
CREATE UNIQUE INDEX "mcp_tools_mcp_server_id_tool_name_key" ON "mcp_tools"("mcp_server_id", "tool_name");
CREATE INDEX "mcp_tools_tenant_id_sandbox_idx" ON "mcp_tools"("tenant_id", "sandbox");
CREATE INDEX "mcp_tools_route_id_idx" ON "mcp_tools"("route_id");
CREATE INDEX "mcp_grants_tenant_id_sandbox_user_id_idx" ON "mcp_grants"("tenant_id", "sandbox", "user_id");
CREATE INDEX "mcp_grants_mcp_server_id_created_at_id_idx" ON "mcp_grants"("mcp_server_id", "created_at" DESC, "id" DESC);
CREATE INDEX "mcp_grants_tenant_id_tmk_version_idx" ON "mcp_grants"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "mcp_registrations_mcp_server_id_key" ON "mcp_registrations"("mcp_server_id");
CREATE INDEX "mcp_registrations_tenant_id_sandbox_idx" ON "mcp_registrations"("tenant_id", "sandbox");
CREATE INDEX "mcp_registrations_tenant_id_tmk_version_idx" ON "mcp_registrations"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "mcp_consents_state_digest_key" ON "mcp_consents"("state_digest");
CREATE INDEX "mcp_consents_tenant_id_sandbox_idx" ON "mcp_consents"("tenant_id", "sandbox");
CREATE INDEX "mcp_consents_expires_at_idx" ON "mcp_consents"("expires_at");
CREATE UNIQUE INDEX "mcp_sessions_mcp_server_id_token_id_grant_id_key" ON "mcp_sessions"("mcp_server_id", "token_id", "grant_id");
CREATE INDEX "mcp_sessions_tenant_id_sandbox_idx" ON "mcp_sessions"("tenant_id", "sandbox");
CREATE INDEX "mcp_sessions_tenant_id_tmk_version_idx" ON "mcp_sessions"("tenant_id", "tmk_version");
CREATE INDEX "mcp_sessions_last_used_at_idx" ON "mcp_sessions"("last_used_at");
CREATE INDEX "mcp_approvals_tenant_id_sandbox_created_at_id_idx" ON "mcp_approvals"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE INDEX "mcp_approvals_tenant_id_tmk_version_idx" ON "mcp_approvals"("tenant_id", "tmk_version");

ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_gateway_id_tenant_id_sandbox_fkey" FOREIGN KEY ("gateway_id", "tenant_id", "sandbox") REFERENCES "ai_gateways"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_pii_redact_policy_id_tenant_id_sandbox_fkey" FOREIGN KEY ("pii_redact_policy_id", "tenant_id", "sandbox") REFERENCES "ai_pii_policies"("id", "tenant_id", "sandbox") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_firewall_policy_id_tenant_id_sandbox_fkey" FOREIGN KEY ("firewall_policy_id", "tenant_id", "sandbox") REFERENCES "ai_firewall_policies"("id", "tenant_id", "sandbox") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "mcp_tools" ADD CONSTRAINT "mcp_tools_mcp_server_id_tenant_id_sandbox_fkey" FOREIGN KEY ("mcp_server_id", "tenant_id", "sandbox") REFERENCES "mcp_servers"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_grants" ADD CONSTRAINT "mcp_grants_mcp_server_id_tenant_id_sandbox_fkey" FOREIGN KEY ("mcp_server_id", "tenant_id", "sandbox") REFERENCES "mcp_servers"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_registrations" ADD CONSTRAINT "mcp_registrations_mcp_server_id_tenant_id_sandbox_fkey" FOREIGN KEY ("mcp_server_id", "tenant_id", "sandbox") REFERENCES "mcp_servers"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_consents" ADD CONSTRAINT "mcp_consents_mcp_server_id_tenant_id_sandbox_fkey" FOREIGN KEY ("mcp_server_id", "tenant_id", "sandbox") REFERENCES "mcp_servers"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_sessions" ADD CONSTRAINT "mcp_sessions_mcp_server_id_tenant_id_sandbox_fkey" FOREIGN KEY ("mcp_server_id", "tenant_id", "sandbox") REFERENCES "mcp_servers"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_approvals" ADD CONSTRAINT "mcp_approvals_mcp_server_id_tenant_id_sandbox_fkey" FOREIGN KEY ("mcp_server_id", "tenant_id", "sandbox") REFERENCES "mcp_servers"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- An archived server frees its slug.
CREATE UNIQUE INDEX "mcp_servers_slug" ON "mcp_servers"("tenant_id", "sandbox", "slug") WHERE "status" <> 'archived';
-- A person has one live grant per server, and an external ID names one person there.
CREATE UNIQUE INDEX "mcp_grants_live" ON "mcp_grants"("mcp_server_id", "external_id") WHERE "status" = 'active';
CREATE UNIQUE INDEX "mcp_grants_live_person" ON "mcp_grants"("mcp_server_id", "user_id") WHERE "status" = 'active';
-- A call that is repeated while it waits joins the approval that waits already.
CREATE UNIQUE INDEX "mcp_approvals_pending" ON "mcp_approvals"("mcp_server_id", "call_digest") WHERE "status" = 'pending';
CREATE INDEX "mcp_approvals_passing" ON "mcp_approvals"("mcp_server_id", "call_digest") WHERE "status" = 'approved' AND "used_at" IS NULL;

ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_upstream" CHECK (("server_type" = 'upstream') = ("upstream_url" IS NOT NULL));
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_values" CHECK ("server_type" IN ('upstream', 'collection', 'toolset') AND "status" IN ('active', 'paused', 'archived')
  AND "guardrail_webhook_mode" IN ('off', 'request', 'response', 'both') AND "guardrail_webhook_failure_action" IN ('fail_open', 'fail_closed'));
ALTER TABLE "mcp_tools" ADD CONSTRAINT "mcp_tools_values" CHECK ("approval" IN ('none', 'required'));
ALTER TABLE "mcp_approvals" ADD CONSTRAINT "mcp_approvals_values" CHECK ("status" IN ('pending', 'approved', 'denied', 'expired'));
-- Tokens are destroyed with a grant, not flagged.
ALTER TABLE "mcp_grants" ADD CONSTRAINT "mcp_grants_tokens" CHECK (num_nonnulls("value_ct", "cek_wrapped", "tmk_version") = CASE "status" WHEN 'active' THEN 3 ELSE 0 END);
ALTER TABLE "mcp_registrations" ADD CONSTRAINT "mcp_registrations_secret" CHECK (num_nonnulls("value_ct", "cek_wrapped", "tmk_version") IN (0, 3));
ALTER TABLE "mcp_approvals" ADD CONSTRAINT "mcp_approvals_arguments" CHECK (num_nonnulls("value_ct", "cek_wrapped", "tmk_version") IN (0, 3));

CREATE FUNCTION mcp_server_document(r mcp_servers) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, coalesce(host_of(r.upstream_url), r.server_type), CASE WHEN r.status = 'active' THEN '{}' ELSE ARRAY[r.status] END::text[],
    concat_ws(' ', r.slug, r.description, host_of(r.upstream_url)) $$;
SELECT register_table('mcp_servers', 'space', announced => true, document => 'mcp_server', document_columns => '{name,slug,description,status,upstream_url}',
  search_text => $$name || E'\n' || slug || E'\n' || coalesce(upstream_url, '')$$);
-- What the gateway only writes down (the last call, what a probe saw) is no change of what it serves from.
SELECT register_table('mcp_tools', 'space', announced => true,
  announced_columns => '{tool_name,enabled,description,input_schema,route_id,operation,pinned_hash,approval,argument_rules,price_per_call_usd}');
SELECT register_table('mcp_grants', 'space');
SELECT register_table('mcp_registrations', 'space');
SELECT register_table('mcp_consents', 'space');
SELECT register_table('mcp_sessions', 'space');
SELECT register_table('mcp_approvals', 'space');

-- The plan limits servers that aren't archived, and the palette finds only those.
CREATE TRIGGER leave_out_archived AFTER INSERT OR UPDATE OR DELETE ON mcp_servers FOR EACH ROW EXECUTE FUNCTION leave_out_archived('mcp_server');

-- Wakes the call that waits for this decision, in whichever gateway it waits.
CREATE FUNCTION announce_mcp_decision() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('mcp_decided', NEW.id::text);
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION announce_mcp_decision FROM PUBLIC;
CREATE TRIGGER announce_decision AFTER UPDATE OF status ON mcp_approvals FOR EACH ROW
  WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION announce_mcp_decision();
