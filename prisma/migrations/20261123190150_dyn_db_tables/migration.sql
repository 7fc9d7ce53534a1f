-- Databases in which credentials are made on demand, what they are made with, and a lease for every user that may exist there.
CREATE TABLE "dyn_db_connections" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "engine" TEXT NOT NULL,
    "execution_mode" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "port" INTEGER,
    "database_name" TEXT,
    "admin_username" TEXT,
    "agent_id" UUID,
    "ssh_host" TEXT,
    "ssh_port" INTEGER,
    "ssh_username" TEXT,
    "ssh_host_fingerprint" TEXT,
    "iam_region" TEXT,
    "iam_db_user" TEXT,
    "connect_options" JSONB NOT NULL DEFAULT '{}',
    "default_ttl_seconds" INTEGER NOT NULL DEFAULT 3600,
    "max_ttl_seconds" INTEGER NOT NULL DEFAULT 86400,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "status" TEXT NOT NULL DEFAULT 'unknown',
    "last_check_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "orphans" TEXT[] NOT NULL DEFAULT '{}',
    "orphans_checked_at" TIMESTAMPTZ(3),
    "root_rotated_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "dyn_db_connections_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "dyn_db_connections_engine" CHECK ("engine" IN ('postgres', 'mysql', 'mongo', 'mssql')),
    CONSTRAINT "dyn_db_connections_mode" CHECK ("execution_mode" IN ('direct', 'agent_tunnel', 'ssh_tunnel', 'iam')),
    CONSTRAINT "dyn_db_connections_status" CHECK ("status" IN ('unknown', 'ok', 'failing'))
);

CREATE TABLE "dyn_db_passwords" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "connection_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'current',
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "dyn_db_passwords_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "dyn_db_passwords_state" CHECK ("state" IN ('current', 'pending'))
);

CREATE TABLE "dyn_db_ssh_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "connection_id" UUID NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "dyn_db_ssh_keys_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "dyn_db_roles" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "connection_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "template" TEXT,
    "creation_sql_template" TEXT,
    "revocation_sql_template" TEXT,
    "default_ttl_seconds" INTEGER,
    "max_ttl_seconds" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "dyn_db_roles_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "dyn_db_leases" (
    "id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "connection_id" UUID NOT NULL,
    "role_id" UUID NOT NULL,
    "connection_name" TEXT NOT NULL,
    "role_name" TEXT NOT NULL,
    "engine" TEXT NOT NULL,
    "execution_mode" TEXT NOT NULL,
    "username" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "phase" TEXT NOT NULL,
    "ends_as" TEXT NOT NULL DEFAULT 'expired',
    "ttl_seconds" INTEGER NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "max_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "renewable" BOOLEAN NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3),
    "revocation_sql" TEXT,
    "target" JSONB NOT NULL DEFAULT '{}',
    "minted_by_type" TEXT NOT NULL,
    "minted_by_id" TEXT,
    "minted_by_label" TEXT NOT NULL,
    "minted_from" TEXT,
    "ended_at" TIMESTAMPTZ(3),
    CONSTRAINT "dyn_db_leases_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "dyn_db_leases_status" CHECK ("status" IN ('active', 'renewing', 'errored', 'expired', 'revoked', 'failed')),
    CONSTRAINT "dyn_db_leases_phase" CHECK ("phase" IN ('none', 'creating', 'renewing', 'revoking')),
    CONSTRAINT "dyn_db_leases_ends_as" CHECK ("ends_as" IN ('expired', 'revoked', 'failed')),
    -- Ended means that the user is gone, and nothing else does.
    CONSTRAINT "dyn_db_leases_ended" CHECK (("ended_at" IS NOT NULL) = ("status" IN ('expired', 'revoked', 'failed')))
);

CREATE UNIQUE INDEX "dyn_db_connections_id_tenant_id_sandbox_key" ON "dyn_db_connections"("id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "dyn_db_passwords_connection_id_state_key" ON "dyn_db_passwords"("connection_id", "state");
CREATE INDEX "dyn_db_passwords_tenant_id_tmk_version_idx" ON "dyn_db_passwords"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "dyn_db_ssh_keys_connection_id_key" ON "dyn_db_ssh_keys"("connection_id");
CREATE INDEX "dyn_db_ssh_keys_tenant_id_tmk_version_idx" ON "dyn_db_ssh_keys"("tenant_id", "tmk_version");
CREATE UNIQUE INDEX "dyn_db_roles_connection_id_name_key" ON "dyn_db_roles"("connection_id", "name");
CREATE UNIQUE INDEX "dyn_db_roles_id_tenant_id_sandbox_key" ON "dyn_db_roles"("id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "dyn_db_leases_tenant_id_sandbox_number_key" ON "dyn_db_leases"("tenant_id", "sandbox", "number");
CREATE INDEX "dyn_db_leases_connection_id_idx" ON "dyn_db_leases"("connection_id");
ALTER TABLE "dyn_db_passwords" ADD CONSTRAINT "dyn_db_passwords_connection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("connection_id", "tenant_id", "sandbox") REFERENCES "dyn_db_connections"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dyn_db_ssh_keys" ADD CONSTRAINT "dyn_db_ssh_keys_connection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("connection_id", "tenant_id", "sandbox") REFERENCES "dyn_db_connections"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dyn_db_roles" ADD CONSTRAINT "dyn_db_roles_connection_id_tenant_id_sandbox_fkey" FOREIGN KEY ("connection_id", "tenant_id", "sandbox") REFERENCES "dyn_db_connections"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a reset of Test deleted frees its name.
CREATE UNIQUE INDEX "dyn_db_connections_name" ON "dyn_db_connections"("tenant_id", "sandbox", "name") WHERE "deleted_at" IS NULL;
CREATE INDEX "dyn_db_connections_deleted" ON "dyn_db_connections"("id") WHERE "deleted_at" IS NOT NULL;
-- What counts towards limits, blocks a deletion and is listed.
CREATE INDEX "dyn_db_leases_live" ON "dyn_db_leases"("connection_id", "role_id") WHERE "ended_at" IS NULL;
CREATE INDEX "dyn_db_leases_listed" ON "dyn_db_leases"("tenant_id", "sandbox", "number" DESC) WHERE "ended_at" IS NULL;

CREATE FUNCTION dyn_db_connection_document(r dyn_db_connections) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, concat_ws(' ', r.engine, r.host), CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], concat_ws(' ', r.engine, r.host, r.database_name) $$;
SELECT register_table('dyn_db_connections', 'space', document => 'dyn_db_connection', document_columns => '{name,engine,host,database_name,enabled}');
SELECT register_table('dyn_db_passwords', 'space');
SELECT register_table('dyn_db_ssh_keys', 'space');
SELECT register_table('dyn_db_roles', 'space');
SELECT register_table('dyn_db_leases', 'space');
SELECT lease_rows('dyn_db_leases', 'dyn_db_lease', '{expires_at,next_attempt_at,claimed_until}');

-- The plan limits connections that were not deleted, and leases whose user may exist.
CREATE FUNCTION count_dyn_db_connections() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r dyn_db_connections; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; delta := delta - (OLD.deleted_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; delta := delta + (NEW.deleted_at IS NULL)::int; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'dyn_db_connections', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_connections AFTER INSERT OR UPDATE OF deleted_at OR DELETE ON dyn_db_connections FOR EACH ROW EXECUTE FUNCTION count_dyn_db_connections();

CREATE FUNCTION count_dyn_db_leases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r dyn_db_leases; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN r := OLD; delta := delta - (OLD.ended_at IS NULL)::int; END IF;
  IF TG_OP <> 'DELETE' THEN r := NEW; delta := delta + (NEW.ended_at IS NULL)::int; END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'dyn_db_leases', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_leases AFTER INSERT OR UPDATE OF ended_at OR DELETE ON dyn_db_leases FOR EACH ROW EXECUTE FUNCTION count_dyn_db_leases();

-- The palette does not find what was deleted.
CREATE FUNCTION drop_dyn_db_connection_document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM search_documents WHERE ref_id = NEW.id AND type = 'dyn_db_connection';
  RETURN NULL;
END $$;
CREATE TRIGGER drop_document AFTER UPDATE OF deleted_at ON dyn_db_connections FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION drop_dyn_db_connection_document();
REVOKE ALL ON FUNCTION count_dyn_db_connections, count_dyn_db_leases, drop_dyn_db_connection_document FROM PUBLIC;
