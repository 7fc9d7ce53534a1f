CREATE TABLE "log_streams" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "region" TEXT,
    "prefix" TEXT,
    "access_key_id" TEXT,
    "header_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "paused_reason" TEXT,
    "position" BIGINT NOT NULL,
    "sent_count" BIGINT NOT NULL DEFAULT 0,
    "last_sent_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "wakes_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "log_streams_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "log_streams_source" CHECK ("source" IN ('audit', 'requests')),
    CONSTRAINT "log_streams_kind" CHECK ("kind" IN ('https', 'splunk', 'datadog', 'otlp', 's3'))
);
CREATE UNIQUE INDEX "log_streams_tenant_id_sandbox_name_key" ON "log_streams"("tenant_id", "sandbox", "name");
SELECT register_table('log_streams', 'space');
SELECT lease_rows('log_streams', 'log_stream', '{wakes_at}');
