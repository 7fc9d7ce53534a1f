CREATE TABLE "secret_migrations" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "provider" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "region" TEXT NOT NULL DEFAULT '',
    "scope" JSONB NOT NULL DEFAULT '{}',
    "credentials_summary" JSONB NOT NULL DEFAULT '{}',
    "review_ttl_hours" INTEGER NOT NULL DEFAULT 168,
    "denylist" JSONB NOT NULL DEFAULT '[]',
    "name_template" TEXT NOT NULL DEFAULT '{name}',
    "default_environment" TEXT,
    "default_collection_id" UUID,
    "discovered_count" INTEGER NOT NULL DEFAULT 0,
    "pending_count" INTEGER NOT NULL DEFAULT 0,
    "approved_count" INTEGER NOT NULL DEFAULT 0,
    "rejected_count" INTEGER NOT NULL DEFAULT 0,
    "committed_count" INTEGER NOT NULL DEFAULT 0,
    "expired_count" INTEGER NOT NULL DEFAULT 0,
    "denylisted_count" INTEGER NOT NULL DEFAULT 0,
    "error_details" JSONB,
    "cursor" JSONB,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_owner" TEXT,
    "lease_expires_at" TIMESTAMPTZ(3),
    "last_heartbeat_at" TIMESTAMPTZ(3),
    "safe_to_delete" BOOLEAN NOT NULL DEFAULT false,
    "verified_at" TIMESTAMPTZ(3),
    "verification_window_days" INTEGER NOT NULL DEFAULT 30,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "run_started_at" TIMESTAMPTZ(3),
    "pull_finished_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_migrations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "secret_migration_items" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "migration_id" UUID NOT NULL,
    "source_ref" TEXT NOT NULL,
    "source_name" TEXT NOT NULL,
    "source_version" TEXT NOT NULL DEFAULT '',
    "source_region" TEXT NOT NULL DEFAULT '',
    "source_updated_at" TIMESTAMPTZ(3),
    "kind" TEXT NOT NULL DEFAULT 'string',
    "value_length" INTEGER,
    "source_tags" JSONB NOT NULL DEFAULT '{}',
    "discovered_via" TEXT NOT NULL DEFAULT 'pull',
    "bucket" TEXT,
    "suggested" JSONB NOT NULL DEFAULT '{}',
    "status" TEXT NOT NULL DEFAULT 'pending_review',
    "fetch_error" TEXT,
    "decision" JSONB,
    "target" JSONB,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "expires_at" TIMESTAMPTZ(3),
    "expiring_told_at" TIMESTAMPTZ(3),
    "committed_secret_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_migration_items_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "secret_migration_credentials" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "migration_id" UUID NOT NULL,
    "value_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "wiped_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_migration_credentials_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "secret_migration_events" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "migration_id" UUID NOT NULL,
    "secret_migration_item_id" UUID,
    "event_type" TEXT NOT NULL,
    "endpoint_url" TEXT,
    "outcome" TEXT NOT NULL,
    "details" JSONB NOT NULL DEFAULT '{}',
    "source" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_migration_events_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "migration_intercept_rules" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "migration_id" UUID NOT NULL,
    "match_host" TEXT NOT NULL,
    "match_path_prefix" TEXT NOT NULL DEFAULT '/',
    "match_secret_ref" TEXT NOT NULL,
    "committed_secret_id" UUID NOT NULL,
    "environment" TEXT,
    "response_format" TEXT NOT NULL,
    "agent_id" TEXT,
    "allowed_uids" BIGINT[] DEFAULT ARRAY[]::BIGINT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "migration_intercept_rules_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "migration_db_routes" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "migration_id" UUID NOT NULL,
    "protocol" TEXT NOT NULL,
    "upstream_host" TEXT NOT NULL,
    "upstream_port" INTEGER NOT NULL,
    "upstream_database" TEXT,
    "upstream_username" TEXT,
    "tls_mode" TEXT NOT NULL DEFAULT 'prefer',
    "local_port" INTEGER NOT NULL,
    "agent_id" TEXT,
    "allowed_uids" BIGINT[] DEFAULT ARRAY[]::BIGINT[],
    "committed_secret_id" UUID NOT NULL,
    "secret_migration_item_id" UUID,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "migration_db_routes_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "migration_denylists" (
    "tenant_id" UUID NOT NULL,
    "patterns" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "migration_denylists_pkey" PRIMARY KEY ("tenant_id")
);

CREATE TABLE "secret_migration_notices" (
    "migration_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "reveals" INTEGER NOT NULL DEFAULT 0,
    "told_at" TIMESTAMPTZ(3),

    CONSTRAINT "secret_migration_notices_pkey" PRIMARY KEY ("migration_id", "user_id")
);

CREATE UNIQUE INDEX "secret_migrations_id_tenant_id_sandbox_key" ON "secret_migrations"("id", "tenant_id", "sandbox");
CREATE INDEX "secret_migrations_tenant_id_sandbox_created_at_id_idx" ON "secret_migrations"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "secret_migration_items_migration_id_source_ref_source_versi_key" ON "secret_migration_items"("migration_id", "source_ref", "source_version");
CREATE UNIQUE INDEX "secret_migration_items_id_tenant_id_sandbox_key" ON "secret_migration_items"("id", "tenant_id", "sandbox");
CREATE INDEX "secret_migration_items_tenant_id_sandbox_idx" ON "secret_migration_items"("tenant_id", "sandbox");
CREATE INDEX "secret_migration_items_tenant_id_tmk_version_idx" ON "secret_migration_items"("tenant_id", "tmk_version");
CREATE INDEX "secret_migration_items_migration_id_status_source_name_id_idx" ON "secret_migration_items"("migration_id", "status", "source_name", "id");
CREATE UNIQUE INDEX "secret_migration_credentials_migration_id_key" ON "secret_migration_credentials"("migration_id");
CREATE INDEX "secret_migration_credentials_tenant_id_sandbox_idx" ON "secret_migration_credentials"("tenant_id", "sandbox");
CREATE INDEX "secret_migration_credentials_tenant_id_tmk_version_idx" ON "secret_migration_credentials"("tenant_id", "tmk_version");
CREATE INDEX "secret_migration_credentials_expires_at_idx" ON "secret_migration_credentials"("expires_at");
CREATE INDEX "secret_migration_events_tenant_id_sandbox_idx" ON "secret_migration_events"("tenant_id", "sandbox");
CREATE INDEX "secret_migration_events_migration_id_created_at_id_idx" ON "secret_migration_events"("migration_id", "created_at" DESC, "id" DESC);
CREATE INDEX "migration_intercept_rules_tenant_id_sandbox_idx" ON "migration_intercept_rules"("tenant_id", "sandbox");
CREATE INDEX "migration_intercept_rules_migration_id_created_at_id_idx" ON "migration_intercept_rules"("migration_id", "created_at", "id");
CREATE INDEX "migration_db_routes_tenant_id_sandbox_local_port_idx" ON "migration_db_routes"("tenant_id", "sandbox", "local_port");
CREATE INDEX "migration_db_routes_migration_id_created_at_id_idx" ON "migration_db_routes"("migration_id", "created_at", "id");
CREATE INDEX "secret_migration_notices_tenant_id_sandbox_idx" ON "secret_migration_notices"("tenant_id", "sandbox");

ALTER TABLE "secret_migration_items" ADD CONSTRAINT "secret_migration_items_migration_id_tenant_id_sandbox_fkey" FOREIGN KEY ("migration_id", "tenant_id", "sandbox") REFERENCES "secret_migrations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_migration_credentials" ADD CONSTRAINT "secret_migration_credentials_migration_id_tenant_id_sandbo_fkey" FOREIGN KEY ("migration_id", "tenant_id", "sandbox") REFERENCES "secret_migrations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_migration_events" ADD CONSTRAINT "secret_migration_events_migration_id_tenant_id_sandbox_fkey" FOREIGN KEY ("migration_id", "tenant_id", "sandbox") REFERENCES "secret_migrations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "migration_intercept_rules" ADD CONSTRAINT "migration_intercept_rules_migration_id_tenant_id_sandbox_fkey" FOREIGN KEY ("migration_id", "tenant_id", "sandbox") REFERENCES "secret_migrations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "migration_db_routes" ADD CONSTRAINT "migration_db_routes_migration_id_tenant_id_sandbox_fkey" FOREIGN KEY ("migration_id", "tenant_id", "sandbox") REFERENCES "secret_migrations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_migration_notices" ADD CONSTRAINT "secret_migration_notices_migration_id_tenant_id_sandbox_fkey" FOREIGN KEY ("migration_id", "tenant_id", "sandbox") REFERENCES "secret_migrations"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- The counts of a migration never drift: every statement that changes items also changes them, in its transaction.
CREATE FUNCTION count_migration_items() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_migration_counts(migration_id, status, count(*)::int) FROM added GROUP BY migration_id, status;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM add_migration_counts(migration_id, status, -count(*)::int) FROM removed GROUP BY migration_id, status;
  ELSE
    PERFORM add_migration_counts(migration_id, status, n::int) FROM (
      SELECT migration_id, status, sum(n) AS n FROM (
        SELECT migration_id, status, 1 AS n FROM added UNION ALL SELECT migration_id, status, -1 FROM removed) c
      GROUP BY migration_id, status) d WHERE n <> 0;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION add_migration_counts(migration uuid, item_status text, n int) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  UPDATE secret_migrations SET
    discovered_count = discovered_count + n,
    pending_count = pending_count + CASE item_status WHEN 'pending_review' THEN n ELSE 0 END,
    approved_count = approved_count + CASE item_status WHEN 'approved' THEN n ELSE 0 END,
    rejected_count = rejected_count + CASE item_status WHEN 'rejected' THEN n ELSE 0 END,
    committed_count = committed_count + CASE item_status WHEN 'committed' THEN n ELSE 0 END,
    expired_count = expired_count + CASE item_status WHEN 'expired' THEN n ELSE 0 END,
    denylisted_count = denylisted_count + CASE item_status WHEN 'denylisted' THEN n ELSE 0 END
  WHERE id = migration $$;
REVOKE ALL ON FUNCTION add_migration_counts, count_migration_items FROM PUBLIC;

CREATE TRIGGER count_inserted AFTER INSERT ON secret_migration_items REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_migration_items();
CREATE TRIGGER count_updated AFTER UPDATE ON secret_migration_items REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_migration_items();
CREATE TRIGGER count_deleted AFTER DELETE ON secret_migration_items REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_migration_items();

-- Decided values are gone, whatever code decided.
ALTER TABLE secret_migration_items ADD CONSTRAINT decided_items_hold_no_value
  CHECK (status IN ('pending_review', 'approved') OR (value_ct IS NULL AND cek_wrapped IS NULL));

CREATE INDEX secret_migration_items_due_idx ON secret_migration_items (expires_at) WHERE status IN ('pending_review', 'approved');
CREATE INDEX secret_migrations_open_idx ON secret_migrations (created_at) WHERE status IN ('pending', 'discovering');

SELECT register_table('secret_migrations', 'space');
SELECT register_table('secret_migration_items', 'space');
SELECT register_table('secret_migration_credentials', 'space');
SELECT register_table('secret_migration_events', 'space');
SELECT register_table('migration_intercept_rules', 'space');
SELECT register_table('migration_db_routes', 'space');
SELECT register_table('secret_migration_notices', 'space');
SELECT register_table('migration_denylists', 'tenant');
