-- Lists no longer remember totals and pages: the versions that told when one was out of date go, and with them a write to row_counts at every update.
DROP TRIGGER list_changed ON routes;
DROP TRIGGER list_changed ON clients;
DROP TRIGGER list_changed ON secrets;
DROP TRIGGER list_changed ON collections;
DROP FUNCTION routes_listed, clients_listed, secrets_listed, collections_listed;
DROP TRIGGER routes_configured ON route_environment_configs;
DROP TRIGGER routes_reconfigured ON route_environment_configs;
DROP TRIGGER routes_unconfigured ON route_environment_configs;
DROP FUNCTION routes_configured;

CREATE OR REPLACE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) SELECT tenant_id, sandbox, TG_TABLE_NAME, count(*) FROM changed GROUP BY 1, 2
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  ELSE
    UPDATE row_counts c SET n = c.n - d.n FROM (SELECT tenant_id, sandbox, count(*) AS n FROM changed GROUP BY 1, 2) d
      WHERE c.tenant_id = d.tenant_id AND c.sandbox = d.sandbox AND c.kind = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
ALTER TABLE "row_counts" DROP COLUMN "version";
DROP SEQUENCE list_versions;

-- A look-up gives IDs, at most so many. Pages of what finds more are read in their order.
DROP FUNCTION matching_page;
DROP FUNCTION matching_ids;
CREATE FUNCTION matching_ids(list text, pattern text, tag text, most bigint) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT id ' || matching_rows(list, pattern, tag) || ' LIMIT $5' USING app_tenant(), app_sandbox(), pattern, tag, most;
END $$;
