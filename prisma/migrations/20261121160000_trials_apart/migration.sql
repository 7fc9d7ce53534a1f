-- Calls of the Test tab are rows of the log, but say nothing of how a route does for its callers: they are counted apart from all figures.
-- Minutes from before this keep them among their calls until retention takes those minutes.
ALTER TABLE "request_rollups" ADD COLUMN "trials" BIGINT NOT NULL DEFAULT 0;

-- The total stays what it was: how many rows the list of a route has, trials among them.
CREATE OR REPLACE FUNCTION total_calls() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO route_log_totals (tenant_id, sandbox, route_id, n) SELECT tenant_id, sandbox, route_id, sum(count + trials) FROM added GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (tenant_id, sandbox, route_id) DO UPDATE SET n = route_log_totals.n + excluded.n;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO route_log_totals (tenant_id, sandbox, route_id, n)
      SELECT tenant_id, sandbox, route_id, sum(n) FROM (
        SELECT tenant_id, sandbox, route_id, count + trials AS n FROM added UNION ALL SELECT tenant_id, sandbox, route_id, -(count + trials) FROM removed) d
      GROUP BY 1, 2, 3 HAVING sum(n) <> 0 ORDER BY 1, 2, 3
      ON CONFLICT (tenant_id, sandbox, route_id) DO UPDATE SET n = route_log_totals.n + excluded.n;
  ELSE
    PERFORM FROM route_log_totals t WHERE (tenant_id, sandbox, route_id) IN (SELECT tenant_id, sandbox, route_id FROM removed) ORDER BY tenant_id, sandbox, route_id FOR UPDATE;
    UPDATE route_log_totals t SET n = t.n - d.n FROM (SELECT tenant_id, sandbox, route_id, sum(count + trials) AS n FROM removed GROUP BY 1, 2, 3) d
      WHERE t.tenant_id = d.tenant_id AND t.sandbox = d.sandbox AND t.route_id = d.route_id;
    -- Nothing is left of it: its route may be gone as well.
    DELETE FROM route_log_totals t USING (SELECT DISTINCT tenant_id, sandbox, route_id FROM removed) d
      WHERE t.tenant_id = d.tenant_id AND t.sandbox = d.sandbox AND t.route_id = d.route_id AND t.n = 0;
  END IF;
  RETURN NULL;
END $$;
