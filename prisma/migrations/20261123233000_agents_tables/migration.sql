CREATE TABLE "agents" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "require_verified_build" BOOLEAN NOT NULL DEFAULT false,
    "environment" TEXT,
    "allowed_route_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "allowed_cidrs" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "version" TEXT,
    "hostname" TEXT,
    "os" TEXT,
    "arch" TEXT,
    "build_sig" TEXT,
    "build_verified" BOOLEAN,
    "fingerprint" TEXT,
    "fingerprint_at" TIMESTAMPTZ(3),
    "last_ip" TEXT,
    "last_seen_at" TIMESTAMPTZ(3),
    "last_heartbeat_at" TIMESTAMPTZ(3),
    "last_session_issued_at" TIMESTAMPTZ(3),
    "last_bundle_etag" TEXT,
    "last_bundle_window" TEXT,
    "told_connectivity" TEXT NOT NULL DEFAULT 'never_connected',
    "tamper_count" INTEGER NOT NULL DEFAULT 0,
    "health" JSONB,
    "created_by" UUID,
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "agent_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "agent_keys_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "agent_install_tokens" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "token_digest" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "created_by" UUID,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "used_from_ip" TEXT,
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "agent_install_tokens_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "agent_sessions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "token_digest" BYTEA NOT NULL,
    "window" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "version" TEXT,
    "ip" TEXT,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    CONSTRAINT "agent_sessions_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "agent_nonces" (
    "agent_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "nonce" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "agent_nonces_pkey" PRIMARY KEY ("agent_id", "nonce")
);
CREATE TABLE "agent_tamper_events" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "version_reported" TEXT,
    "build_sig_reported" TEXT,
    "src_ip" TEXT,
    "action_taken" TEXT,
    "detected_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "agent_tamper_events_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "agent_commands" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "command" TEXT NOT NULL,
    "args" JSONB NOT NULL DEFAULT '{}',
    "status" TEXT NOT NULL DEFAULT 'queued',
    "output" JSONB,
    "error" TEXT,
    "created_by" UUID,
    "requested_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "sent_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    CONSTRAINT "agent_commands_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "agent_metrics" (
    "agent_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "requests" INTEGER NOT NULL,
    "errors" INTEGER NOT NULL,
    "intercepted" INTEGER NOT NULL,
    "passed" INTEGER NOT NULL,
    "p95_ms" INTEGER,
    "mem_mb" INTEGER,
    "cpu" DOUBLE PRECISION,
    CONSTRAINT "agent_metrics_pkey" PRIMARY KEY ("agent_id", "at")
);
CREATE UNIQUE INDEX "agents_agent_id_key" ON "agents"("agent_id");
CREATE UNIQUE INDEX "agents_id_tenant_id_sandbox_key" ON "agents"("id", "tenant_id", "sandbox");
CREATE INDEX "agents_tenant_id_sandbox_created_at_id_idx" ON "agents"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE INDEX "agent_keys_agent_id_idx" ON "agent_keys"("agent_id");
CREATE INDEX "agent_keys_tenant_id_tmk_version_idx" ON "agent_keys"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "agent_install_tokens_token_digest_key" ON "agent_install_tokens"("token_digest");
CREATE INDEX "agent_install_tokens_agent_id_created_at_idx" ON "agent_install_tokens"("agent_id", "created_at" DESC);
CREATE UNIQUE INDEX "agent_sessions_token_digest_key" ON "agent_sessions"("token_digest");
CREATE INDEX "agent_sessions_agent_id_issued_at_idx" ON "agent_sessions"("agent_id", "issued_at" DESC);
CREATE INDEX "agent_sessions_expires_at_idx" ON "agent_sessions"("expires_at");
CREATE INDEX "agent_nonces_expires_at_idx" ON "agent_nonces"("expires_at");
CREATE INDEX "agent_tamper_events_agent_id_detected_at_id_idx" ON "agent_tamper_events"("agent_id", "detected_at" DESC, "id" DESC);
CREATE INDEX "agent_commands_agent_id_created_at_id_idx" ON "agent_commands"("agent_id", "created_at" DESC, "id" DESC);
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_install_tokens" ADD CONSTRAINT "agent_install_tokens_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_sessions" ADD CONSTRAINT "agent_sessions_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_nonces" ADD CONSTRAINT "agent_nonces_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_tamper_events" ADD CONSTRAINT "agent_tamper_events_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_commands" ADD CONSTRAINT "agent_commands_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_metrics" ADD CONSTRAINT "agent_metrics_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "agents" ADD CONSTRAINT "agents_mode" CHECK ("mode" IN ('control', 'intercept', 'server', 'proxy')),
  ADD CONSTRAINT "agents_status" CHECK (("status" = 'active' AND "revoked_at" IS NULL) OR ("status" = 'revoked' AND "revoked_at" IS NOT NULL));
ALTER TABLE "agent_commands" ADD CONSTRAINT "agent_commands_status" CHECK ("status" IN ('queued', 'sent', 'succeeded', 'failed', 'expired'));
-- A revoked agent's name is free.
CREATE UNIQUE INDEX "agents_active_name" ON "agents"("tenant_id", "sandbox", "name") WHERE "status" = 'active';
-- What connectivity is judged from, and the commands that wait for a heartbeat.
CREATE INDEX "agents_active" ON "agents"("last_heartbeat_at") WHERE "status" = 'active';
CREATE INDEX "agent_commands_waiting" ON "agent_commands"("agent_id", "created_at") WHERE "status" IN ('queued', 'sent');
-- Only one key has no end.
CREATE UNIQUE INDEX "agent_keys_current" ON "agent_keys"("agent_id") WHERE "expires_at" IS NULL;

CREATE FUNCTION agent_document(r agents) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, coalesce(r.hostname, r.mode), CASE WHEN r.status = 'revoked' THEN '{revoked}' ELSE ARRAY[r.mode] END::text[], concat_ws(' ', r.agent_id, r.hostname) $$;
SELECT register_table('agents', 'space', document => 'agent', document_columns => '{name,hostname,mode,status}');
SELECT register_table('agent_keys', 'space');
SELECT register_table('agent_install_tokens', 'space');
SELECT register_table('agent_sessions', 'space');
SELECT register_table('agent_nonces', 'space');
SELECT register_table('agent_tamper_events', 'space');
SELECT register_table('agent_commands', 'space');
SELECT register_table('agent_metrics', 'space');

-- The plan limits the agents that were not revoked.
CREATE FUNCTION count_agents() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r agents; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; delta := delta - (OLD.revoked_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; delta := delta + (NEW.revoked_at IS NULL)::int; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'agents', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_agents AFTER INSERT OR UPDATE OF revoked_at OR DELETE ON agents FOR EACH ROW EXECUTE FUNCTION count_agents();

-- What gateways remember of a session is dropped: one by one, `<workspace>:<hex of its digest>`, or for what the agent may do, the whole workspace's.
CREATE FUNCTION announce_agent_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('agent_session_changed', concat_ws(':', OLD.tenant_id, encode(OLD.token_digest, 'hex')));
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER UPDATE OF revoked_at, expires_at OR DELETE ON agent_sessions FOR EACH ROW EXECUTE FUNCTION announce_agent_session();
CREATE FUNCTION announce_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('agent_session_changed', OLD.tenant_id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER UPDATE OF status, mode, allowed_route_ids, allowed_cidrs ON agents FOR EACH ROW EXECUTE FUNCTION announce_agent();
REVOKE ALL ON FUNCTION count_agents, announce_agent_session, announce_agent FROM PUBLIC;

-- What agents decrypt with has changed: they fetch their bundle at their next heartbeat. One order that waits is enough.
CREATE FUNCTION order_agent_refresh(tenant uuid, test boolean, reason text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  INSERT INTO agent_commands (id, tenant_id, sandbox, agent_id, command, requested_by)
    SELECT gen_random_uuid(), a.tenant_id, a.sandbox, a.id, 'refresh', reason FROM agents a
    WHERE a.tenant_id = tenant AND a.sandbox = test AND a.status = 'active' AND a.mode IN ('server', 'proxy', 'intercept')
      AND NOT EXISTS (SELECT FROM agent_commands c WHERE c.agent_id = a.id AND c.command = 'refresh' AND c.status = 'queued') $$;
CREATE FUNCTION refresh_agents_of_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM crypto_keys k WHERE k.id = NEW.key_id AND k.mode = 'bundled') THEN
    PERFORM order_agent_refresh(NEW.tenant_id, NEW.sandbox, 'A crypto key changed');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER refresh_agents AFTER INSERT OR UPDATE OF status, destroy_after ON crypto_key_versions FOR EACH ROW EXECUTE FUNCTION refresh_agents_of_key();
CREATE FUNCTION refresh_agents_of_secret() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM order_agent_refresh(NEW.tenant_id, NEW.sandbox, 'A secret changed');
  RETURN NULL;
END $$;
-- A first value is new to everybody: the agent learns of it with its next bundle.
CREATE TRIGGER refresh_agents AFTER INSERT ON secret_values FOR EACH ROW WHEN (NEW.value_version > 1) EXECUTE FUNCTION refresh_agents_of_secret();
REVOKE ALL ON FUNCTION order_agent_refresh, refresh_agents_of_key, refresh_agents_of_secret FROM PUBLIC;
