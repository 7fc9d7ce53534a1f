-- "Check payload capture": one request that a person sends to a link of five minutes, to see what their caller sends and to pick fields from it.
CREATE TABLE "payload_captures" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "route_id" UUID NOT NULL,
    "environment_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "captured_at" TIMESTAMPTZ(3),
    "content_type" TEXT,
    "bytes" INTEGER,
    "structure" JSONB,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,

    CONSTRAINT "payload_captures_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "payload_captures_token_hash_key" ON "payload_captures"("token_hash");
CREATE INDEX "payload_captures_expires_at_idx" ON "payload_captures"("expires_at");
CREATE INDEX "payload_captures_tenant_id_tmk_version_idx" ON "payload_captures"("tenant_id", "tmk_version");
-- One live link per route and environment.
CREATE UNIQUE INDEX payload_captures_live ON payload_captures (route_id, environment_id) WHERE state IN ('waiting', 'captured');
ALTER TABLE "payload_captures" ADD CONSTRAINT "payload_captures_route_id_tenant_id_sandbox_fkey" FOREIGN KEY ("route_id", "tenant_id", "sandbox") REFERENCES "routes"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE payload_captures ADD CONSTRAINT payload_captures_state CHECK (state IN ('waiting', 'captured', 'consumed', 'expired'));
-- Only a captured one holds a payload.
ALTER TABLE payload_captures ADD CONSTRAINT payload_captures_payload CHECK ((state = 'captured') = (value_ct IS NOT NULL) AND (value_ct IS NULL) = (cek_wrapped IS NULL) AND (value_ct IS NULL) = (tmk_version IS NULL));
SELECT register_table('payload_captures', 'space');
