-- The list of a route's calls tells its true total. Summing the minutes costs as much as there are minutes: a busy route keeps 130,000 of them.
CREATE TABLE "route_log_totals" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "route_id" UUID NOT NULL,
    "n" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "route_log_totals_pkey" PRIMARY KEY ("tenant_id","sandbox","route_id")
);
GRANT SELECT ON route_log_totals TO sallyport_app;
ALTER TABLE route_log_totals ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON route_log_totals TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox());

INSERT INTO route_log_totals (tenant_id, sandbox, route_id, n) SELECT tenant_id, sandbox, route_id, sum(count) FROM request_rollups GROUP BY 1, 2, 3;

-- In one order always, so that two writers never wait for each other in a circle.
CREATE FUNCTION total_calls() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO route_log_totals (tenant_id, sandbox, route_id, n) SELECT tenant_id, sandbox, route_id, sum(count) FROM added GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (tenant_id, sandbox, route_id) DO UPDATE SET n = route_log_totals.n + excluded.n;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO route_log_totals (tenant_id, sandbox, route_id, n)
      SELECT tenant_id, sandbox, route_id, sum(count) FROM (
        SELECT tenant_id, sandbox, route_id, count FROM added UNION ALL SELECT tenant_id, sandbox, route_id, -count FROM removed) d
      GROUP BY 1, 2, 3 HAVING sum(count) <> 0 ORDER BY 1, 2, 3
      ON CONFLICT (tenant_id, sandbox, route_id) DO UPDATE SET n = route_log_totals.n + excluded.n;
  ELSE
    PERFORM FROM route_log_totals t WHERE (tenant_id, sandbox, route_id) IN (SELECT tenant_id, sandbox, route_id FROM removed) ORDER BY tenant_id, sandbox, route_id FOR UPDATE;
    UPDATE route_log_totals t SET n = t.n - d.n FROM (SELECT tenant_id, sandbox, route_id, sum(count) AS n FROM removed GROUP BY 1, 2, 3) d
      WHERE t.tenant_id = d.tenant_id AND t.sandbox = d.sandbox AND t.route_id = d.route_id;
    -- Nothing is left of it: its route may be gone as well.
    DELETE FROM route_log_totals t USING (SELECT DISTINCT tenant_id, sandbox, route_id FROM removed) d
      WHERE t.tenant_id = d.tenant_id AND t.sandbox = d.sandbox AND t.route_id = d.route_id AND t.n = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER total_added AFTER INSERT ON request_rollups REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION total_calls();
CREATE TRIGGER total_changed AFTER UPDATE ON request_rollups REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION total_calls();
CREATE TRIGGER total_removed AFTER DELETE ON request_rollups REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION total_calls();
