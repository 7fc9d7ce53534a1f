-- The ID of a logged call told how many calls all workspaces had made so far. From here on it tells the time of its insert, in microseconds, and eleven
-- random bits: the time is in the row anyway. Older rows keep their IDs, which are smaller than every new one. Two rows of one time, one microsecond and
-- the same bits collide on the primary key; the batch is then written again and draws anew.

-- Microseconds since 1970, also after the clock of the machine was set back: the sequence holds the latest answer. Two callers at once may leave the
-- smaller of their two answers, which is microseconds old, and by then the clock is past both.
CREATE FUNCTION log_clock() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE last bigint; now_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
BEGIN
  SELECT last_value INTO last FROM request_logs_id_seq;
  IF now_us > last THEN
    PERFORM setval('request_logs_id_seq', now_us);
    last := now_us;
  END IF;
  RETURN last;
END $$;

-- While the clock is behind the floor, the sequence counts on: numbers stay unique and above it.
CREATE FUNCTION request_log_id() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT ((CASE WHEN t.clock > t.floor THEN t.clock ELSE nextval('request_logs_id_seq') END) << 11) | (random() * 2047)::bigint
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock,
    coalesce(nullif(current_setting('app.log_floor', true), ''), '0')::bigint AS floor OFFSET 0) t
$$;
ALTER TABLE request_logs ALTER COLUMN id SET DEFAULT request_log_id();

-- As announce_numbers (feeds_and_queue), in milliseconds. The lock comes first and the floor after it: a reader that did not see the lock has read the
-- clock before, and everything this transaction brings lies above that.
CREATE FUNCTION announce_log_ids() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('app.log_floor', true), '') = '' THEN
    PERFORM pg_advisory_xact_lock_shared(7302, ((log_clock() / 1000) & 2147483647)::integer);
    PERFORM set_config('app.log_floor', log_clock()::text, true);
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER a_announce ON request_logs;
CREATE TRIGGER a_announce BEFORE INSERT ON request_logs FOR EACH STATEMENT EXECUTE FUNCTION announce_log_ids();

CREATE OR REPLACE FUNCTION feed_horizon(feed text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE last bigint; open bigint; class oid;
BEGIN
  IF feed = 'audit_logs' THEN SELECT last_value INTO last FROM audit_logs_seq_seq; class := 7301;
  ELSE last := log_clock() / 1000; class := 7302; END IF;
  SELECT min(last - ((last - objid::bigint) & 2147483647)) INTO open FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND classid = class AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
  IF feed = 'audit_logs' THEN RETURN least(last, open); END IF;
  RETURN ((least(last, open) * 1000) << 11) - 1;
END $$;
