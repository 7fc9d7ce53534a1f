-- Feeds in order of a sequence lose rows when a transaction with a smaller number commits later. A reader may pass a row only when every
-- transaction that could still add a smaller number has ended. So: the transaction gets its id before the numbers are drawn, and each row
-- remembers the first transaction id that was free after its own number was drawn. Whoever drew a smaller number has an id below that, and
-- a reader serves rows with txid <= pg_snapshot_xmin(pg_current_snapshot()), stopping at the first that is not.
CREATE FUNCTION take_txid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_current_xact_id(); RETURN NULL; END $$;
CREATE FUNCTION stamp_txid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.txid := pg_snapshot_xmax(pg_current_snapshot())::text::bigint; RETURN NEW; END $$;
DO $$ DECLARE t text; BEGIN
  FOREACH t IN ARRAY ARRAY['audit_logs', 'audit_log_critical', 'request_logs'] LOOP
    EXECUTE format('CREATE TRIGGER a_take_txid BEFORE INSERT ON %I FOR EACH STATEMENT EXECUTE FUNCTION take_txid()', t);
    EXECUTE format('CREATE TRIGGER a_stamp_txid BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION stamp_txid()', t);
  END LOOP;
END $$;

-- The merged audit list knows its total without counting the chain.
CREATE FUNCTION count_critical() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  IF NEW.tenant_id IS NOT NULL THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (NEW.tenant_id, coalesce((NEW.details ->> 'sandbox')::boolean, false), 'audit_log_critical', 1)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON audit_log_critical FOR EACH ROW EXECUTE FUNCTION count_critical();

-- The total of one route's calls is the sum of its rollups.
CREATE INDEX "request_rollups_route_id_minute_idx" ON "request_rollups"("route_id", "minute");

-- A job in the caller's transaction, also under the row-level-security role, which has no rights on the queue's own schema.
CREATE FUNCTION enqueue_job(name text, payload jsonb, run_at timestamptz, job_key text, max_attempts integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF to_regnamespace('graphile_worker') IS NULL THEN
    RAISE EXCEPTION 'the job queue is not prepared: no worker has started on this database yet' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  EXECUTE 'SELECT FROM graphile_worker.add_job($1, $2::json, run_at => $3, job_key => $4, max_attempts => $5)' USING name, payload, run_at, job_key, max_attempts;
END $$;
REVOKE ALL ON FUNCTION enqueue_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION enqueue_job TO sallyport_app;
