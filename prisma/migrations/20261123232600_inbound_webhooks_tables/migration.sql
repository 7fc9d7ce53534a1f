-- Receivers that verify what others sign. See server/domain/inbound-webhooks.
CREATE TABLE "inbound_webhooks" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "format" TEXT NOT NULL,
    "header_name" TEXT,
    "replay_window_seconds" INTEGER NOT NULL DEFAULT 300,
    "forward_url" TEXT,
    "forward_route_id" UUID,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "secret_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "verified_count" BIGINT NOT NULL DEFAULT 0,
    "refused_count" BIGINT NOT NULL DEFAULT 0,
    "undelivered_count" BIGINT NOT NULL DEFAULT 0,
    "last_verified_at" TIMESTAMPTZ(3),
    "last_refused_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbound_webhooks_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "inbound_webhooks_format" CHECK ("format" IN ('legacy', 'stripe', 'github', 'slack', 'aws-sns', 'custom', 'standard-webhooks')),
    CONSTRAINT "inbound_webhooks_header" CHECK (("format" = 'custom') = ("header_name" IS NOT NULL)),
    CONSTRAINT "inbound_webhooks_target" CHECK ("forward_url" IS NULL OR "forward_route_id" IS NULL)
);
CREATE UNIQUE INDEX "inbound_webhooks_tenant_id_sandbox_name_key" ON "inbound_webhooks"("tenant_id", "sandbox", "name");
CREATE INDEX "inbound_webhooks_created_at" ON "inbound_webhooks"("tenant_id", "sandbox", "created_at", "id");
CREATE INDEX "inbound_webhooks_tenant_id_tmk_version_idx" ON "inbound_webhooks"("tenant_id", "tmk_version");

CREATE FUNCTION inbound_webhook_document(r inbound_webhooks) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, '/in/' || r.name, CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[],
    concat_ws(' ', r.format, substring(r.forward_url from '^[a-z]+://([^/?#]+)'), r.description) $$;
SELECT register_table('inbound_webhooks', 'space', counted => true, document => 'inbound_webhook',
  document_columns => '{name,format,forward_url,description,enabled}', search_text => $$name || E'\n' || coalesce(forward_url, '')$$);
