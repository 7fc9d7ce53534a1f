CREATE TABLE "alerts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "condition" JSONB NOT NULL,
    "route_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "environments" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "severity" TEXT NOT NULL,
    "cooldown_minutes" INTEGER NOT NULL DEFAULT 15,
    "channel_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "muted_until" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL DEFAULT 'ok',
    "last_fired_at" TIMESTAMPTZ(3),
    "watching_since" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "alerts_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "alerts_severity" CHECK ("severity" IN ('low', 'medium', 'high', 'critical')),
    CONSTRAINT "alerts_state" CHECK ("state" IN ('ok', 'firing', 'no_data'))
);
CREATE TABLE "alert_channels" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "host" TEXT,
    "recipients" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "quiet_hours" JSONB,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "last_sent_at" TIMESTAMPTZ(3),
    "last_failed_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "alert_channels_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "alert_channels_kind" CHECK ("kind" IN ('email', 'sms', 'slack', 'webhook', 'teams', 'pagerduty', 'discord', 'opsgenie'))
);
CREATE TABLE "alert_incidents" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "alert_id" UUID NOT NULL,
    "alert_name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "severity" TEXT NOT NULL,
    "group_key" TEXT NOT NULL,
    "subject" TEXT,
    "route_id" UUID,
    "state" TEXT NOT NULL DEFAULT 'open',
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),
    "clean_since" TIMESTAMPTZ(3),
    "value" DOUBLE PRECISION NOT NULL,
    "peak" DOUBLE PRECISION NOT NULL,
    "threshold" DOUBLE PRECISION NOT NULL,
    "sample_request_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "messages" INTEGER NOT NULL DEFAULT 0,
    "last_message_at" TIMESTAMPTZ(3),
    "acknowledged_at" TIMESTAMPTZ(3),
    "acknowledged_by" TEXT,
    CONSTRAINT "alert_incidents_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "alert_incidents_state" CHECK ("state" = CASE WHEN "resolved_at" IS NULL THEN 'open' ELSE 'resolved' END)
);
CREATE TABLE "alert_incident_entries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "incident_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "actor" TEXT,
    "text" TEXT,
    "message_id" UUID,
    "message" TEXT,
    "channel_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    CONSTRAINT "alert_incident_entries_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "alert_signals" (
    "alert_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "type" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "subject_name" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "alert_signals_pkey" PRIMARY KEY ("alert_id", "event_id")
);

CREATE UNIQUE INDEX "alerts_id_tenant_id_sandbox_key" ON "alerts"("id", "tenant_id", "sandbox");
CREATE INDEX "alerts_tenant_id_sandbox_name_id_idx" ON "alerts"("tenant_id", "sandbox", "name", "id");
-- What the evaluation reads, in its order.
CREATE INDEX "alerts_watched" ON "alerts"("id") WHERE "enabled";
CREATE UNIQUE INDEX "alert_channels_tenant_id_sandbox_name_key" ON "alert_channels"("tenant_id", "sandbox", "name");
CREATE INDEX "alert_channels_tenant_id_tmk_version_idx" ON "alert_channels"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "alert_incidents_id_tenant_id_sandbox_key" ON "alert_incidents"("id", "tenant_id", "sandbox");
CREATE INDEX "alert_incidents_started_at" ON "alert_incidents"("tenant_id", "sandbox", "started_at" DESC, "id" DESC);
CREATE INDEX "alert_incidents_of_alert" ON "alert_incidents"("alert_id", "started_at" DESC);
-- One open incident for each thing an alert is about.
CREATE UNIQUE INDEX "alert_incidents_open" ON "alert_incidents"("alert_id", "group_key") WHERE "resolved_at" IS NULL;
CREATE INDEX "alert_incidents_ended" ON "alert_incidents"("resolved_at") WHERE "resolved_at" IS NOT NULL;
CREATE INDEX "alert_incident_entries_incident_id_at_idx" ON "alert_incident_entries"("incident_id", "at");
CREATE INDEX "alert_signals_alert_id_occurred_at_idx" ON "alert_signals"("alert_id", "occurred_at");

ALTER TABLE "alert_incidents" ADD CONSTRAINT "alert_incidents_alert_id_tenant_id_sandbox_fkey" FOREIGN KEY ("alert_id", "tenant_id", "sandbox") REFERENCES "alerts"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "alert_incident_entries" ADD CONSTRAINT "alert_incident_entries_incident_id_tenant_id_sandbox_fkey" FOREIGN KEY ("incident_id", "tenant_id", "sandbox") REFERENCES "alert_incidents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "alert_signals" ADD CONSTRAINT "alert_signals_alert_id_tenant_id_sandbox_fkey" FOREIGN KEY ("alert_id", "tenant_id", "sandbox") REFERENCES "alerts"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE FUNCTION alert_document(r alerts) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, replace(r.type, '_', ' '), CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], replace(r.type, '_', ' ') $$;
SELECT register_table('alerts', 'space', document => 'alert', document_columns => '{name,type,enabled}', search_text => 'name');
SELECT register_table('alert_channels', 'space');
SELECT register_table('alert_incidents', 'space');
SELECT register_table('alert_incident_entries', 'space', privileges => 'SELECT, INSERT');
SELECT register_table('alert_signals', 'space');
