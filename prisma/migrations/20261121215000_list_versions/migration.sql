-- The total of a search that finds thousands takes tens of milliseconds to count. A list has a version now, which every change of what it is searched,
-- filtered or counted by replaces in the same transaction: a total counted at a version is the total for as long as the list has it. Versions are
-- drawn from a sequence and never come again, not even when a transaction that drew one is rolled back.
CREATE SEQUENCE list_versions;
ALTER TABLE "row_counts" ADD COLUMN "version" BIGINT NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n, version) SELECT tenant_id, sandbox, TG_TABLE_NAME, count(*), nextval('list_versions') FROM changed GROUP BY 1, 2
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n, version = excluded.version;
  ELSE
    UPDATE row_counts c SET n = c.n - d.n, version = nextval('list_versions') FROM (SELECT tenant_id, sandbox, count(*) AS n FROM changed GROUP BY 1, 2) d
      WHERE c.tenant_id = d.tenant_id AND c.sandbox = d.sandbox AND c.kind = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;

-- Its argument names the columns that a list's totals depend on.
CREATE FUNCTION list_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE columns text[] := string_to_array(TG_ARGV[0], ' ');
BEGIN
  EXECUTE format('UPDATE row_counts c SET version = nextval(''list_versions'')
    FROM (SELECT DISTINCT a.tenant_id, a.sandbox FROM added a JOIN removed r USING (id) WHERE ROW(%s) IS DISTINCT FROM ROW(%s)) d
    WHERE c.tenant_id = d.tenant_id AND c.sandbox = d.sandbox AND c.kind = %L',
    (SELECT string_agg(format('a.%I', c), ', ') FROM unnest(columns) c), (SELECT string_agg(format('r.%I', c), ', ') FROM unnest(columns) c), TG_TABLE_NAME);
  RETURN NULL;
END $$;
CREATE TRIGGER list_changed AFTER UPDATE ON routes REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION list_changed('search_text enabled collection_id');
CREATE TRIGGER list_changed AFTER UPDATE ON clients REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION list_changed('search_text enabled type collection_id');
CREATE TRIGGER list_changed AFTER UPDATE ON secrets REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION list_changed('search_text tags secret_type collection_id');
CREATE TRIGGER list_changed AFTER UPDATE ON collections REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION list_changed('search_text');
