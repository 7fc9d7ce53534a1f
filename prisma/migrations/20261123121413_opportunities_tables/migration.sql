CREATE TABLE "opportunities" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "source" TEXT NOT NULL,
    "service" TEXT NOT NULL,
    "destination_host" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "confidence" DOUBLE PRECISION,
    "suggested_route_json" JSONB,
    "evidence_json" JSONB,
    "accepted_route_id" UUID,
    "snoozed_until" TIMESTAMPTZ(3),
    "snoozed_calls" BIGINT,
    "dismiss_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "acted_at" TIMESTAMPTZ(3),
    CONSTRAINT "opportunities_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "opportunities_source" CHECK ("source" IN ('agent_monitor', 'gateway_traffic')),
    CONSTRAINT "opportunities_status" CHECK ("status" IN ('pending', 'snoozed', 'onboarded', 'dismissed'))
);
-- A host that was dismissed isn't suggested again; one whose route was deleted may be.
CREATE UNIQUE INDEX "opportunities_live" ON "opportunities"("tenant_id", "sandbox", "destination_host", "source") WHERE "status" <> 'onboarded';
CREATE INDEX "opportunities_tenant_id_sandbox_confidence_id_idx" ON "opportunities"("tenant_id", "sandbox", "confidence" DESC, "id" DESC);
CREATE INDEX "opportunities_tenant_id_sandbox_created_at_id_idx" ON "opportunities"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
SELECT register_table('opportunities', 'space', counted => true, search_text => $$"destination_host" || ' ' || "service"$$);
SELECT lease_rows('opportunities', 'opportunity', '{snoozed_until}');

CREATE TABLE "opportunity_traffic" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "host" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "calls" BIGINT NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "methods" JSONB NOT NULL,
    "statuses" JSONB NOT NULL,
    "modes" JSONB NOT NULL,
    "prefixes" TEXT[],
    "agents" TEXT[],
    CONSTRAINT "opportunity_traffic_pkey" PRIMARY KEY ("tenant_id", "sandbox", "host", "day")
);
SELECT register_table('opportunity_traffic', 'space');

CREATE TABLE "opportunity_watermarks" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "read_until" TIMESTAMPTZ(3) NOT NULL,
    "refreshed_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "opportunity_watermarks_pkey" PRIMARY KEY ("tenant_id", "sandbox")
);
SELECT register_table('opportunity_watermarks', 'space');

CREATE TABLE "egress_observations" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "host" TEXT NOT NULL,
    "first_segment" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "header_name" TEXT NOT NULL,
    "total_count" BIGINT NOT NULL,
    "days_seen" INTEGER NOT NULL DEFAULT 1,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,
    "sdks" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "reporter_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    CONSTRAINT "egress_observations_pkey" PRIMARY KEY ("tenant_id", "sandbox", "host", "first_segment", "method", "header_name")
);
CREATE INDEX "egress_observations_tenant_id_sandbox_last_seen_idx" ON "egress_observations"("tenant_id", "sandbox", "last_seen");
CREATE INDEX "egress_observations_last_seen_idx" ON "egress_observations"("last_seen");
SELECT register_table('egress_observations', 'space', counted => true);

CREATE TABLE "egress_ignored_hosts" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "host" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "egress_ignored_hosts_pkey" PRIMARY KEY ("tenant_id", "sandbox", "host")
);
SELECT register_table('egress_ignored_hosts', 'space');

-- What suggestions are computed from: few of all calls.
CREATE INDEX "request_logs_routeless" ON "request_logs"("tenant_id", "sandbox", "ts") WHERE "proxy_mode" IN ('ephemeral', 'wrap_gateway');
CREATE INDEX "route_environment_configs_intercept" ON "route_environment_configs"("tenant_id", "sandbox", "route_id") WHERE "intercept_enabled";
