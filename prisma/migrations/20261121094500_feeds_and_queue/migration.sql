-- Feeds in order of a sequence lose rows when a transaction with a smaller number commits later. A reader may pass a number only when no open
-- transaction can still bring a smaller one. So: before it draws its first number, a transaction takes a shared lock that names the last number
-- drawn so far; until it ends, everything it brings lies above that. A reader asks the horizon first and then, in a later statement (READ
-- COMMITTED, a later snapshot), for rows up to it: whoever was not seen in the locks has either ended, so its rows are visible, or draws its
-- numbers after the look, above the horizon. Transaction ids cannot tell this: neither their order nor a snapshot's xmax follows the numbers.
CREATE FUNCTION announce_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE class integer := TG_ARGV[1]; last bigint;
BEGIN
  -- Once a transaction: its later numbers lie above the first lock's, and a thousand entries must not take a thousand locks.
  IF coalesce(current_setting('app.numbers_' || class, true), '') = '' THEN
    EXECUTE format('SELECT last_value FROM %I', TG_ARGV[0]) INTO last;
    PERFORM pg_advisory_xact_lock_shared(class, (last & 2147483647)::integer);
    PERFORM set_config('app.numbers_' || class, 'announced', true);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER a_announce BEFORE INSERT ON audit_logs FOR EACH STATEMENT EXECUTE FUNCTION announce_numbers('audit_logs_seq_seq', 7301);
CREATE TRIGGER a_announce BEFORE INSERT ON audit_log_critical FOR EACH STATEMENT EXECUTE FUNCTION announce_numbers('audit_logs_seq_seq', 7301);
CREATE TRIGGER a_announce BEFORE INSERT ON request_logs FOR EACH STATEMENT EXECUTE FUNCTION announce_numbers('request_logs_id_seq', 7302);

-- The order of the two looks matters: numbers drawn between them must lie above the horizon. The lock holds 31 bits of a number; the rest is the
-- present's, since no transaction stays open for two thousand million rows.
CREATE FUNCTION feed_horizon(feed text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE last bigint; open bigint; class oid;
BEGIN
  IF feed = 'audit_logs' THEN SELECT last_value INTO last FROM audit_logs_seq_seq; class := 7301;
  ELSE SELECT last_value INTO last FROM request_logs_id_seq; class := 7302; END IF;
  SELECT min(last - ((last - objid::bigint) & 2147483647)) INTO open FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND classid = class AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
  RETURN least(last, open);
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
