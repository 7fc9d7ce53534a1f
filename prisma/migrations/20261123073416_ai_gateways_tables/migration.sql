ALTER TABLE "routes" ADD COLUMN     "managed_by" TEXT;

CREATE TABLE "ai_firewall_policies" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "heuristics" JSONB NOT NULL DEFAULT '[]',
    "canary_enabled" BOOLEAN NOT NULL DEFAULT false,
    "action" TEXT NOT NULL DEFAULT 'warn',
    "managed_by" TEXT,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_firewall_policies_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_pii_policies" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "recognizer_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "default_action" TEXT NOT NULL DEFAULT 'redact',
    "description" TEXT,
    "managed_by" TEXT,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_pii_policies_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_pii_recognizers" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "pattern" TEXT NOT NULL,
    "context_words" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "confidence" DECIMAL(4,3) NOT NULL DEFAULT 0.85,
    "action" TEXT NOT NULL DEFAULT 'redact',
    "format" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "managed_by" TEXT,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_pii_recognizers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_gateways" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT,
    "budget_daily_usd" DECIMAL(12,4),
    "budget_monthly_usd" DECIMAL(12,4),
    "budget_overage_action" TEXT NOT NULL DEFAULT 'block',
    "model_aliases" JSONB NOT NULL DEFAULT '{}',
    "user_attribution" TEXT NOT NULL DEFAULT 'optional',
    "status" TEXT NOT NULL DEFAULT 'active',
    "paused_reason" TEXT,
    "paused_automatically" BOOLEAN NOT NULL DEFAULT false,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_gateways_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_agents" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "gateway_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT,
    "provider" TEXT,
    "primary_route_id" UUID,
    "fallback_route_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "default_model" TEXT,
    "model_allowlist" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "model_denylist" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "model_rewrite" JSONB NOT NULL DEFAULT '{}',
    "budget_daily_usd" DECIMAL(12,4),
    "budget_monthly_usd" DECIMAL(12,4),
    "budget_per_call_max_tokens" INTEGER,
    "budget_overage_action" TEXT NOT NULL DEFAULT 'block',
    "fallback_agent_id" UUID,
    "unpriced_action" TEXT NOT NULL DEFAULT 'allow',
    "pii_redact_policy_id" UUID,
    "pii_request_mode" TEXT NOT NULL DEFAULT 'tokenize',
    "pii_response_mode" TEXT NOT NULL DEFAULT 'detokenize',
    "pii_streaming_mode" TEXT NOT NULL DEFAULT 'holdback',
    "pii_streaming_holdback_chars" INTEGER NOT NULL DEFAULT 96,
    "tags" JSONB NOT NULL DEFAULT '{}',
    "cache_mode" TEXT NOT NULL DEFAULT 'off',
    "cache_ttl_seconds" INTEGER NOT NULL DEFAULT 0,
    "cache_similarity_threshold" DECIMAL(4,3) NOT NULL DEFAULT 0.95,
    "cache_embedding_model" TEXT,
    "streaming_enabled" BOOLEAN NOT NULL DEFAULT true,
    "firewall_policy_id" UUID,
    "tool_allowlist" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "output_schema" JSONB,
    "output_validation_action" TEXT NOT NULL DEFAULT 'warn',
    "guardrail_webhook_url" TEXT,
    "guardrail_webhook_secret_id" UUID,
    "guardrail_webhook_mode" TEXT NOT NULL DEFAULT 'off',
    "guardrail_webhook_timeout_ms" INTEGER NOT NULL DEFAULT 2000,
    "guardrail_webhook_failure_action" TEXT NOT NULL DEFAULT 'fail_closed',
    "routing_policy" JSONB NOT NULL DEFAULT '{}',
    "data_residency_region" TEXT,
    "cmek_key_id" UUID,
    "rate_limit_rpm" INTEGER,
    "rate_limit_tpm" INTEGER,
    "max_concurrency" INTEGER,
    "status" TEXT NOT NULL DEFAULT 'active',
    "paused_reason" TEXT,
    "paused_automatically" BOOLEAN NOT NULL DEFAULT false,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_agents_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_tokens" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "gateway_id" UUID NOT NULL,
    "agent_id" UUID,
    "name" TEXT,
    "token_hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "scope_jsonb" JSONB NOT NULL DEFAULT '{}',
    "dpop_required" BOOLEAN NOT NULL DEFAULT false,
    "dpop_jkt" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "lifetime_seconds" INTEGER NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "rotated_from" UUID,
    "capability_hmac" TEXT NOT NULL,
    "hmac_key_version" INTEGER NOT NULL,
    "oneshot_consumed_at" TIMESTAMPTZ(3),
    "step_up_required" BOOLEAN NOT NULL DEFAULT false,
    "last_geo" JSONB,
    "origin" TEXT NOT NULL DEFAULT 'minted',
    "oidc_binding_id" UUID,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_tokens_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_attributed_users" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "external_id" TEXT NOT NULL,
    "display_name" TEXT,
    "email" TEXT,
    "team" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "first_seen_at" TIMESTAMPTZ(3),
    "last_seen_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_attributed_users_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_oidc_bindings" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "audience" TEXT NOT NULL DEFAULT 'service:gateway',
    "claim_rules" JSONB NOT NULL,
    "gateway_id" UUID NOT NULL,
    "agent_id" UUID,
    "kind" TEXT NOT NULL,
    "scope" JSONB NOT NULL DEFAULT '{}',
    "token_ttl_seconds" INTEGER NOT NULL DEFAULT 900,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "use_count" INTEGER NOT NULL DEFAULT 0,
    "last_used_at" TIMESTAMPTZ(3),
    "last_subject" TEXT,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_oidc_bindings_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ai_exchange_claims" (
    "hash" BYTEA NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "binding_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ai_exchange_claims_pkey" PRIMARY KEY ("hash")
);

CREATE UNIQUE INDEX "ai_firewall_policies_id_tenant_id_sandbox_key" ON "ai_firewall_policies"("id", "tenant_id", "sandbox");

CREATE UNIQUE INDEX "ai_firewall_policies_tenant_id_sandbox_name_version_key" ON "ai_firewall_policies"("tenant_id", "sandbox", "name", "version");

CREATE UNIQUE INDEX "ai_pii_policies_id_tenant_id_sandbox_key" ON "ai_pii_policies"("id", "tenant_id", "sandbox");

CREATE UNIQUE INDEX "ai_pii_policies_tenant_id_sandbox_name_key" ON "ai_pii_policies"("tenant_id", "sandbox", "name");

CREATE UNIQUE INDEX "ai_pii_recognizers_id_tenant_id_sandbox_key" ON "ai_pii_recognizers"("id", "tenant_id", "sandbox");

CREATE UNIQUE INDEX "ai_pii_recognizers_tenant_id_sandbox_name_key" ON "ai_pii_recognizers"("tenant_id", "sandbox", "name");

CREATE INDEX "ai_gateways_tenant_id_sandbox_created_at_id_idx" ON "ai_gateways"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

CREATE UNIQUE INDEX "ai_gateways_id_tenant_id_sandbox_key" ON "ai_gateways"("id", "tenant_id", "sandbox");

CREATE INDEX "ai_agents_tenant_id_sandbox_gateway_id_created_at_id_idx" ON "ai_agents"("tenant_id", "sandbox", "gateway_id", "created_at" DESC, "id" DESC);

CREATE INDEX "ai_agents_pii_redact_policy_id_idx" ON "ai_agents"("pii_redact_policy_id");

CREATE INDEX "ai_agents_firewall_policy_id_idx" ON "ai_agents"("firewall_policy_id");

CREATE UNIQUE INDEX "ai_agents_id_tenant_id_sandbox_key" ON "ai_agents"("id", "tenant_id", "sandbox");

CREATE UNIQUE INDEX "ai_tokens_token_hash_key" ON "ai_tokens"("token_hash");

CREATE INDEX "ai_tokens_tenant_id_agent_id_idx" ON "ai_tokens"("tenant_id", "agent_id");

CREATE INDEX "ai_tokens_tenant_id_gateway_id_idx" ON "ai_tokens"("tenant_id", "gateway_id");

CREATE INDEX "ai_tokens_tenant_id_hmac_key_version_idx" ON "ai_tokens"("tenant_id", "hmac_key_version");

CREATE INDEX "ai_tokens_tenant_id_created_by_idx" ON "ai_tokens"("tenant_id", "created_by");

CREATE INDEX "ai_tokens_expires_at_idx" ON "ai_tokens"("expires_at");

CREATE INDEX "ai_attributed_users_tenant_id_sandbox_created_at_id_idx" ON "ai_attributed_users"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

CREATE UNIQUE INDEX "ai_attributed_users_id_tenant_id_sandbox_key" ON "ai_attributed_users"("id", "tenant_id", "sandbox");

CREATE UNIQUE INDEX "ai_attributed_users_tenant_id_sandbox_external_id_key" ON "ai_attributed_users"("tenant_id", "sandbox", "external_id");

CREATE INDEX "ai_oidc_bindings_tenant_id_sandbox_issuer_idx" ON "ai_oidc_bindings"("tenant_id", "sandbox", "issuer");

CREATE INDEX "ai_oidc_bindings_tenant_id_sandbox_created_at_id_idx" ON "ai_oidc_bindings"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

CREATE INDEX "ai_exchange_claims_expires_at_idx" ON "ai_exchange_claims"("expires_at");

ALTER TABLE "ai_agents" ADD CONSTRAINT "ai_agents_gateway_id_tenant_id_sandbox_fkey" FOREIGN KEY ("gateway_id", "tenant_id", "sandbox") REFERENCES "ai_gateways"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "ai_agents" ADD CONSTRAINT "ai_agents_fallback_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("fallback_agent_id", "tenant_id", "sandbox") REFERENCES "ai_agents"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "ai_agents" ADD CONSTRAINT "ai_agents_pii_redact_policy_id_tenant_id_sandbox_fkey" FOREIGN KEY ("pii_redact_policy_id", "tenant_id", "sandbox") REFERENCES "ai_pii_policies"("id", "tenant_id", "sandbox") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "ai_agents" ADD CONSTRAINT "ai_agents_firewall_policy_id_tenant_id_sandbox_fkey" FOREIGN KEY ("firewall_policy_id", "tenant_id", "sandbox") REFERENCES "ai_firewall_policies"("id", "tenant_id", "sandbox") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "ai_tokens" ADD CONSTRAINT "ai_tokens_gateway_id_tenant_id_sandbox_fkey" FOREIGN KEY ("gateway_id", "tenant_id", "sandbox") REFERENCES "ai_gateways"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "ai_tokens" ADD CONSTRAINT "ai_tokens_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "ai_agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "ai_oidc_bindings" ADD CONSTRAINT "ai_oidc_bindings_gateway_id_tenant_id_sandbox_fkey" FOREIGN KEY ("gateway_id", "tenant_id", "sandbox") REFERENCES "ai_gateways"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "ai_oidc_bindings" ADD CONSTRAINT "ai_oidc_bindings_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "ai_agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;


-- What the service relies on, whoever writes the row.
ALTER TABLE "ai_gateways" ADD CONSTRAINT "ai_gateways_values" CHECK ("budget_overage_action" IN ('block', 'warn') AND "user_attribution" IN ('off', 'optional', 'required')
  AND "status" IN ('active', 'paused', 'archived'));
ALTER TABLE "ai_agents" ADD CONSTRAINT "ai_agents_values" CHECK ("budget_overage_action" IN ('block', 'warn', 'fallback') AND "unpriced_action" IN ('allow', 'block')
  AND "pii_request_mode" IN ('off', 'tokenize') AND "pii_response_mode" IN ('redact', 'detokenize') AND "pii_streaming_mode" IN ('holdback', 'buffer', 'monitor')
  AND "cache_mode" IN ('off', 'exact', 'semantic') AND "output_validation_action" IN ('block', 'retry', 'warn')
  AND "guardrail_webhook_mode" IN ('off', 'request', 'response', 'both') AND "guardrail_webhook_failure_action" IN ('fail_open', 'fail_closed')
  AND "status" IN ('active', 'paused', 'archived') AND "fallback_agent_id" IS DISTINCT FROM "id");
ALTER TABLE "ai_tokens" ADD CONSTRAINT "ai_tokens_values" CHECK ("kind" IN ('agent', 'read', 'tool', 'oneshot') AND "origin" IN ('minted', 'exchange', 'oauth')
  -- Only tool tokens are of a whole gateway.
  AND ("agent_id" IS NOT NULL OR "kind" = 'tool')
  -- What ends a token takes its signature, so that a cleared flag brings nothing back.
  AND ("capability_hmac" = '' OR ("revoked_at" IS NULL AND "oneshot_consumed_at" IS NULL)));
ALTER TABLE "ai_oidc_bindings" ADD CONSTRAINT "ai_oidc_bindings_values" CHECK ("kind" IN ('agent', 'read', 'tool') AND ("agent_id" IS NOT NULL OR "kind" = 'tool')
  AND "token_ttl_seconds" BETWEEN 60 AND 3600);
ALTER TABLE "ai_firewall_policies" ADD CONSTRAINT "ai_firewall_policies_values" CHECK ("action" IN ('block', 'warn', 'tag'));
ALTER TABLE "ai_pii_policies" ADD CONSTRAINT "ai_pii_policies_values" CHECK ("default_action" IN ('redact', 'tokenize', 'whitelist', 'warn'));
ALTER TABLE "ai_pii_recognizers" ADD CONSTRAINT "ai_pii_recognizers_values" CHECK ("action" IN ('redact', 'tokenize', 'whitelist', 'warn')
  AND ("format" IS NULL OR "action" = 'tokenize'));

-- An archived gateway or agent frees its slug. The path of a call has no gateway in it, so agents are unique in their space.
CREATE UNIQUE INDEX "ai_gateways_slug" ON "ai_gateways"("tenant_id", "sandbox", "slug") WHERE "status" <> 'archived';
CREATE UNIQUE INDEX "ai_agents_slug" ON "ai_agents"("tenant_id", "sandbox", "slug") WHERE "status" <> 'archived';

CREATE FUNCTION ai_gateway_document(r ai_gateways) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.slug, CASE r.status WHEN 'active' THEN '{}' ELSE ARRAY[r.status] END::text[], concat_ws(' ', r.slug, r.description) $$;
CREATE FUNCTION ai_agent_document(r ai_agents) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.slug, CASE r.status WHEN 'active' THEN '{}' ELSE ARRAY[r.status] END::text[], concat_ws(' ', r.slug, r.provider, r.default_model, r.description) $$;
SELECT register_table('ai_gateways', 'space', announced => true, document => 'ai_gateway', document_columns => '{name,slug,description,status}');
SELECT register_table('ai_agents', 'space', announced => true, document => 'ai_agent', document_columns => '{name,slug,provider,default_model,description,status}');
SELECT register_table('ai_tokens', 'space');
SELECT register_table('ai_oidc_bindings', 'space');
SELECT register_table('ai_exchange_claims', 'space');
SELECT register_table('ai_firewall_policies', 'space', announced => true);
SELECT register_table('ai_pii_policies', 'space', announced => true);
SELECT register_table('ai_pii_recognizers', 'space', announced => true);
SELECT register_table('ai_attributed_users', 'space', announced => true, announced_columns => '{external_id,display_name,email,team,enabled}');

-- The plan limits gateways and agents that aren't archived, and the palette finds only those. It runs after `index_document`: triggers go by their names.
CREATE FUNCTION leave_out_archived() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE delta bigint := 0; tenant uuid := coalesce(NEW.tenant_id, OLD.tenant_id); test boolean := coalesce(NEW.sandbox, OLD.sandbox);
BEGIN
  IF TG_OP <> 'INSERT' THEN delta := delta - (OLD.status <> 'archived')::int; END IF;
  IF TG_OP <> 'DELETE' THEN delta := delta + (NEW.status <> 'archived')::int; END IF;
  IF TG_OP <> 'DELETE' AND NEW.status = 'archived' THEN DELETE FROM search_documents WHERE ref_id = NEW.id AND type = TG_ARGV[0]; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (tenant, test, TG_TABLE_NAME, delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION leave_out_archived FROM PUBLIC;
CREATE TRIGGER leave_out_archived AFTER INSERT OR UPDATE OR DELETE ON ai_gateways FOR EACH ROW EXECUTE FUNCTION leave_out_archived('ai_gateway');
CREATE TRIGGER leave_out_archived AFTER INSERT OR UPDATE OR DELETE ON ai_agents FOR EACH ROW EXECUTE FUNCTION leave_out_archived('ai_agent');

-- What gateways remember of a token is dropped one by one: `<workspace>:<token>:<hex of its hash>`. Uses and consumption announce nothing: the statement that
-- consumes a token decides by the row.
CREATE FUNCTION announce_ai_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('ai_token_changed', concat_ws(':', coalesce(NEW.tenant_id, OLD.tenant_id), coalesce(NEW.id, OLD.id), encode(coalesce(NEW.token_hash, OLD.token_hash), 'hex')));
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER UPDATE ON ai_tokens FOR EACH ROW
  WHEN ((OLD.revoked_at, OLD.expires_at, OLD.step_up_required, OLD.scope_jsonb, OLD.dpop_jkt, OLD.dpop_required, OLD.hmac_key_version, OLD.agent_id, OLD.gateway_id, OLD.kind)
    IS DISTINCT FROM (NEW.revoked_at, NEW.expires_at, NEW.step_up_required, NEW.scope_jsonb, NEW.dpop_jkt, NEW.dpop_required, NEW.hmac_key_version, NEW.agent_id, NEW.gateway_id, NEW.kind)
    OR (OLD.capability_hmac <> NEW.capability_hmac AND NEW.oneshot_consumed_at IS NULL))
  EXECUTE FUNCTION announce_ai_token();
-- The sweep of expired tokens tells nobody anything.
CREATE TRIGGER announce_deleted AFTER DELETE ON ai_tokens FOR EACH ROW WHEN (OLD.expires_at > now()) EXECUTE FUNCTION announce_ai_token();
