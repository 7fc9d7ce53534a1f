-- Workflows: graphs of nodes, the versions they had, their runs, and what starts them. See server/domain/workflows (interface rule 62).
CREATE TABLE "workflows" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "definition" JSONB NOT NULL DEFAULT '{}',
    "environment" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT false,
    "disabled_reason" TEXT DEFAULT 'manual',
    "version" INTEGER NOT NULL DEFAULT 1,
    "timeout_seconds" INTEGER,
    "published_at" TIMESTAMPTZ(3),
    "draft" JSONB,
    "draft_revision" INTEGER NOT NULL DEFAULT 0,
    "draft_by" UUID,
    "draft_at" TIMESTAMPTZ(3),
    "trigger_type" TEXT,
    "run_count" BIGINT NOT NULL DEFAULT 0,
    "dropped_count" BIGINT NOT NULL DEFAULT 0,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflows_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "workflows_disabled" CHECK ("enabled" = ("disabled_reason" IS NULL))
);

CREATE TABLE "workflow_versions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "workflow_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "definition" JSONB NOT NULL,
    "note" TEXT,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_versions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "workflow_executions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "workflow_id" UUID NOT NULL,
    "workflow_version" INTEGER,
    "definition" JSONB,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "trigger_type" TEXT NOT NULL,
    "triggered_by" JSONB NOT NULL,
    "environment" TEXT,
    "timeout_seconds" INTEGER NOT NULL,
    "retry_of" UUID,
    "operations" INTEGER NOT NULL DEFAULT 0,
    "chain" UUID[] DEFAULT ARRAY[]::UUID[],
    "error_code" TEXT,
    "error_message" TEXT,
    "response_run" UUID,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "locked_by" UUID,
    "locked_until" TIMESTAMPTZ(3),
    "wakes_at" TIMESTAMPTZ(3),
    "cancel_at" TIMESTAMPTZ(3),
    "lost" INTEGER NOT NULL DEFAULT 0,
    "active_ms" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "execution_time_ms" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_executions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "workflow_node_executions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "execution_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "node_name" TEXT NOT NULL,
    "node_type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "iteration" INTEGER,
    "path" TEXT NOT NULL DEFAULT '',
    "handles" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" DOUBLE PRECISION,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "error_code" TEXT,
    "error_message" TEXT,
    "truncated" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "workflow_node_executions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "workflow_timers" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "execution_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "path" TEXT NOT NULL DEFAULT '',
    "kind" TEXT NOT NULL,
    "fire_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_timers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "workflow_schedules" (
    "workflow_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "cron" TEXT,
    "every_minutes" INTEGER,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "overlap" TEXT NOT NULL DEFAULT 'skip',
    "next_fire_at" TIMESTAMPTZ(3) NOT NULL,
    "last_fire_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_schedules_pkey" PRIMARY KEY ("workflow_id"),
    CONSTRAINT "workflow_schedules_kind" CHECK (("cron" IS NULL) <> ("every_minutes" IS NULL))
);

CREATE TABLE "workflow_hooks" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "workflow_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "workflow_hooks_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "workflows_id_tenant_id_sandbox_key" ON "workflows"("id", "tenant_id", "sandbox");
CREATE INDEX "workflows_created_at" ON "workflows"("tenant_id", "sandbox", "created_at", "id");
CREATE INDEX "workflows_updated_at" ON "workflows"("tenant_id", "sandbox", "updated_at", "id");
CREATE INDEX "workflows_name" ON "workflows"("tenant_id", "sandbox", "name", "id");
CREATE UNIQUE INDEX "workflow_versions_workflow_id_version_key" ON "workflow_versions"("workflow_id", "version");
CREATE UNIQUE INDEX "workflow_executions_id_tenant_id_sandbox_key" ON "workflow_executions"("id", "tenant_id", "sandbox");
CREATE INDEX "workflow_executions_of_workflow" ON "workflow_executions"("workflow_id", "created_at" DESC, "id" DESC);
CREATE INDEX "workflow_executions_of_space" ON "workflow_executions"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE INDEX "workflow_executions_tenant_id_tmk_version_idx" ON "workflow_executions"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "workflow_node_executions_execution_id_path_node_id_key" ON "workflow_node_executions"("execution_id", "path", "node_id");
CREATE INDEX "workflow_node_executions_tenant_id_tmk_version_idx" ON "workflow_node_executions"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "workflow_timers_execution_id_path_node_id_key" ON "workflow_timers"("execution_id", "path", "node_id");
CREATE UNIQUE INDEX "workflow_hooks_workflow_id_key" ON "workflow_hooks"("workflow_id");
CREATE UNIQUE INDEX "workflow_hooks_token_hash_key" ON "workflow_hooks"("token_hash");
CREATE INDEX "workflow_hooks_tenant_id_tmk_version_idx" ON "workflow_hooks"("tenant_id", "tmk_version");

ALTER TABLE "workflow_versions" ADD CONSTRAINT "workflow_versions_workflow_id_tenant_id_sandbox_fkey" FOREIGN KEY ("workflow_id", "tenant_id", "sandbox") REFERENCES "workflows"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workflow_executions" ADD CONSTRAINT "workflow_executions_workflow_id_tenant_id_sandbox_fkey" FOREIGN KEY ("workflow_id", "tenant_id", "sandbox") REFERENCES "workflows"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workflow_node_executions" ADD CONSTRAINT "workflow_node_executions_execution_id_tenant_id_sandbox_fkey" FOREIGN KEY ("execution_id", "tenant_id", "sandbox") REFERENCES "workflow_executions"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workflow_timers" ADD CONSTRAINT "workflow_timers_execution_id_tenant_id_sandbox_fkey" FOREIGN KEY ("execution_id", "tenant_id", "sandbox") REFERENCES "workflow_executions"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workflow_schedules" ADD CONSTRAINT "workflow_schedules_workflow_id_tenant_id_sandbox_fkey" FOREIGN KEY ("workflow_id", "tenant_id", "sandbox") REFERENCES "workflows"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workflow_hooks" ADD CONSTRAINT "workflow_hooks_workflow_id_tenant_id_sandbox_fkey" FOREIGN KEY ("workflow_id", "tenant_id", "sandbox") REFERENCES "workflows"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the workers look for: executions that wait for a worker, that have one (its lock may have run out), and that sleep until a timer.
CREATE INDEX "workflow_executions_queued" ON "workflow_executions"("workflow_id", "created_at", "id") INCLUDE ("tenant_id") WHERE "status" = 'queued';
CREATE INDEX "workflow_executions_held" ON "workflow_executions"("tenant_id", "workflow_id", "locked_until") WHERE "status" IN ('running', 'cancelling');
CREATE INDEX "workflow_executions_asleep" ON "workflow_executions"("wakes_at") WHERE "status" = 'waiting';
CREATE INDEX "workflow_executions_started" ON "workflow_executions"("workflow_id", "created_at");
CREATE INDEX "workflow_executions_ended" ON "workflow_executions"("completed_at") WHERE "completed_at" IS NOT NULL;
CREATE INDEX "workflow_schedules_due" ON "workflow_schedules"("next_fire_at");

CREATE FUNCTION workflow_document(r workflows) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, coalesce(r.trigger_type, 'draft'), CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], coalesce(r.description, '') $$;
SELECT register_table('workflows', 'space', counted => true, document => 'workflow', document_columns => '{name,description,enabled,trigger_type}',
  search_text => $$name || E'\n' || coalesce(description, '')$$);
SELECT register_table('workflow_versions', 'space');
SELECT register_table('workflow_executions', 'space');
SELECT register_table('workflow_node_executions', 'space');
SELECT register_table('workflow_timers', 'space');
SELECT register_table('workflow_schedules', 'space');
SELECT register_table('workflow_hooks', 'space');

-- Workers listen for executions that are queued, so that a caller who waits for the outcome doesn't wait for a tick.
CREATE FUNCTION announce_workflow_execution() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  NOTIFY workflow_executions;
  RETURN NULL;
END $$;
CREATE TRIGGER announce_queued AFTER INSERT ON workflow_executions FOR EACH STATEMENT EXECUTE FUNCTION announce_workflow_execution();
REVOKE ALL ON FUNCTION announce_workflow_execution FROM PUBLIC;

-- Mails that workflows compose may name another address to answer to.
ALTER TABLE "mails" ADD COLUMN "reply_to" TEXT;
