-- Captured payloads of calls: see server/gateway/route/payloads and server/domain/request-logs/payloads.
-- What the gateway kept of a call when it ended: 1 the request, 2 the response, 4 it had no room for them. Null: nothing was to be kept.
ALTER TABLE request_logs ADD COLUMN payload_flags SMALLINT;

CREATE TABLE "log_payloads" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "request_id" UUID NOT NULL,
    "side" TEXT NOT NULL,
    "ts" TIMESTAMPTZ(3) NOT NULL,
    "content_type" TEXT,
    "body_bytes" BIGINT NOT NULL,
    "truncated" BOOLEAN NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "log_payloads_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "log_payloads_tenant_id_sandbox_request_id_side_key" ON "log_payloads"("tenant_id", "sandbox", "request_id", "side");
CREATE INDEX "log_payloads_tenant_id_sandbox_ts_idx" ON "log_payloads"("tenant_id", "sandbox", "ts");
CREATE INDEX "log_payloads_tenant_id_tmk_version_idx" ON "log_payloads"("tenant_id", "tmk_version");
ALTER TABLE log_payloads ADD CONSTRAINT log_payloads_side CHECK (side IN ('request', 'response'));
-- Written by the gateway, as the rows of the log are; a reset of Test deletes.
SELECT register_table('log_payloads', 'space', privileges => 'SELECT, DELETE');
