-- Webhooks: subscriptions of a space to its events, what they sign and authenticate with, and the log of attempts. See server/domain/webhooks.
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "url" TEXT NOT NULL,
    "method" TEXT NOT NULL DEFAULT 'POST',
    "event_types" TEXT[],
    "auth_type" TEXT NOT NULL DEFAULT 'none',
    "has_request_headers" BOOLEAN NOT NULL DEFAULT false,
    "route_filter" UUID[],
    "filters" JSONB NOT NULL DEFAULT '{}',
    "include_request_body" BOOLEAN NOT NULL DEFAULT true,
    "include_response_body" BOOLEAN NOT NULL DEFAULT false,
    "include_headers" BOOLEAN NOT NULL DEFAULT false,
    "timeout_seconds" INTEGER NOT NULL DEFAULT 30,
    "retry_on_failure" BOOLEAN NOT NULL DEFAULT true,
    "max_retries" INTEGER NOT NULL DEFAULT 3,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT,
    "disabled_at" TIMESTAMPTZ(3),
    "hmac_key_id" UUID,
    "hmac_format" TEXT NOT NULL DEFAULT 'legacy',
    "hmac_header_name" TEXT,
    "previous_secret_expires_at" TIMESTAMPTZ(3),
    "last_triggered_at" TIMESTAMPTZ(3),
    "last_success_at" TIMESTAMPTZ(3),
    "last_failure_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "trigger_count" BIGINT NOT NULL DEFAULT 0,
    "success_count" BIGINT NOT NULL DEFAULT 0,
    "failure_count" BIGINT NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "consecutive_failures" INTEGER NOT NULL DEFAULT 0,
    "warned_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhooks_disabled" CHECK ("enabled" = ("disabled_reason" IS NULL))
);

-- Signing secrets: the current one has no end, a replaced one signs along until its end.
CREATE TABLE "webhook_secrets" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "webhook_id" UUID NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("id")
);

-- What a webhook presents to its receiver: auth_config and request_headers as one sealed JSON text.
CREATE TABLE "webhook_auths" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "webhook_id" UUID NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_auths_pkey" PRIMARY KEY ("id")
);

-- One request to a receiver and its outcome. The sealed part has the headers and the beginning of the answer.
CREATE TABLE "webhook_attempts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "webhook_id" UUID NOT NULL,
    "delivery_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "event_type" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "http_method" TEXT,
    "target_url" TEXT,
    "response_status" INTEGER,
    "response_time_ms" INTEGER,
    "success" BOOLEAN NOT NULL,
    "error_code" TEXT,
    "error_message" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "executed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "webhooks_id_tenant_id_sandbox_key" ON "webhooks"("id", "tenant_id", "sandbox");
CREATE INDEX "webhooks_created_at" ON "webhooks"("tenant_id", "sandbox", "created_at", "id");
CREATE INDEX "webhooks_name" ON "webhooks"("tenant_id", "sandbox", "name", "id");
CREATE INDEX "webhooks_enabled" ON "webhooks"("tenant_id", "sandbox", "enabled", "id");
CREATE INDEX "webhooks_hmac_key_id" ON "webhooks"("hmac_key_id") WHERE "hmac_key_id" IS NOT NULL;
CREATE INDEX "webhooks_failing" ON "webhooks"("failing_since") WHERE "failing_since" IS NOT NULL AND "enabled";
CREATE UNIQUE INDEX "webhook_secrets_current" ON "webhook_secrets"("webhook_id") WHERE "expires_at" IS NULL;
CREATE INDEX "webhook_secrets_webhook_id_idx" ON "webhook_secrets"("webhook_id");
CREATE INDEX "webhook_secrets_tenant_id_tmk_version_idx" ON "webhook_secrets"("tenant_id", "tmk_version");
CREATE INDEX "webhook_secrets_ended" ON "webhook_secrets"("expires_at") WHERE "expires_at" IS NOT NULL;
CREATE UNIQUE INDEX "webhook_auths_webhook_id_key" ON "webhook_auths"("webhook_id");
CREATE INDEX "webhook_auths_tenant_id_tmk_version_idx" ON "webhook_auths"("tenant_id", "tmk_version");
CREATE INDEX "webhook_attempts_of_webhook" ON "webhook_attempts"("webhook_id", "executed_at" DESC, "id" DESC);
CREATE INDEX "webhook_attempts_of_space" ON "webhook_attempts"("tenant_id", "sandbox", "executed_at" DESC, "id" DESC);
CREATE INDEX "webhook_attempts_of_delivery" ON "webhook_attempts"("delivery_id");
CREATE INDEX "webhook_attempts_tenant_id_tmk_version_idx" ON "webhook_attempts"("tenant_id", "tmk_version");

ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_hmac_key_id_tenant_id_sandbox_fkey" FOREIGN KEY ("hmac_key_id", "tenant_id", "sandbox") REFERENCES "crypto_keys"("id", "tenant_id", "sandbox") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_webhook_id_tenant_id_sandbox_fkey" FOREIGN KEY ("webhook_id", "tenant_id", "sandbox") REFERENCES "webhooks"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_auths" ADD CONSTRAINT "webhook_auths_webhook_id_tenant_id_sandbox_fkey" FOREIGN KEY ("webhook_id", "tenant_id", "sandbox") REFERENCES "webhooks"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_webhook_id_tenant_id_sandbox_fkey" FOREIGN KEY ("webhook_id", "tenant_id", "sandbox") REFERENCES "webhooks"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE FUNCTION webhook_document(r webhooks) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, substring(r.url from '^[a-z]+://([^/?#]+)'), CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[],
    concat_ws(' ', substring(r.url from '^[a-z]+://([^/?#]+)'), r.description) $$;
SELECT register_table('webhooks', 'space', counted => true, document => 'webhook', document_columns => '{name,url,description,enabled}',
  search_text => $$name || E'\n' || url$$);
SELECT register_table('webhook_secrets', 'space');
SELECT register_table('webhook_auths', 'space');
SELECT register_table('webhook_attempts', 'space', privileges => 'SELECT, INSERT');

-- What of an event may be matched while its data is sealed, and what a destination narrows its events to (server/domain/deliveries/matching.ts).
ALTER TABLE "events" ADD COLUMN "facts" JSONB;
ALTER TABLE "event_subscriptions" ADD COLUMN "filter" JSONB;
-- Events that a destination missed because too many were waiting for it already.
ALTER TABLE "event_subscriptions" ADD COLUMN "dropped" BIGINT NOT NULL DEFAULT 0;

-- What waits for a destination that is gone or turned off goes at once. A definer: workspaces don't write deliveries.
CREATE FUNCTION drop_unwanted_deliveries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE deliveries SET state = 'dropped', finished_at = now()
    WHERE channel = OLD.channel AND destination_id = OLD.destination_id AND state = 'pending';
  RETURN NULL;
END $$;
CREATE TRIGGER drop_unwanted AFTER DELETE ON event_subscriptions FOR EACH ROW EXECUTE FUNCTION drop_unwanted_deliveries();
CREATE TRIGGER drop_disabled AFTER UPDATE OF enabled ON event_subscriptions FOR EACH ROW WHEN (OLD.enabled AND NOT NEW.enabled) EXECUTE FUNCTION drop_unwanted_deliveries();

-- Counts the deliveries of webhooks as they are made; tests don't count. In the order of their IDs, so that two writers never wait for each other.
CREATE FUNCTION count_webhook_triggers() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM webhooks WHERE id IN (SELECT destination_id FROM arrived WHERE channel = 'webhook' AND trigger <> 'test') ORDER BY id FOR NO KEY UPDATE;
  UPDATE webhooks w SET trigger_count = w.trigger_count + a.n
    FROM (SELECT destination_id, count(*) AS n FROM arrived WHERE channel = 'webhook' AND trigger <> 'test' GROUP BY 1) a WHERE w.id = a.destination_id;
  RETURN NULL;
END $$;
CREATE TRIGGER count_webhook_triggers AFTER INSERT ON deliveries REFERENCING NEW TABLE AS arrived FOR EACH STATEMENT EXECUTE FUNCTION count_webhook_triggers();
REVOKE ALL ON FUNCTION drop_unwanted_deliveries, count_webhook_triggers FROM PUBLIC;
