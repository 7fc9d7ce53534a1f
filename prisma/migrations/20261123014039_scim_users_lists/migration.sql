-- Filters compare by code points whatever the locale of the database is, so that a prefix is a range of the index.
ALTER TABLE scim_users ALTER COLUMN user_name_folded TYPE text COLLATE "C", ALTER COLUMN external_id TYPE text COLLATE "C";

-- The number of records that aren't tombstones: the total of a list isn't counted.
CREATE FUNCTION count_scim_users() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r record; change integer := 0;
BEGIN
  IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
  IF TG_OP <> 'INSERT' AND OLD.deleted_at IS NULL THEN change := change - 1; END IF;
  IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN change := change + 1; END IF;
  IF change > 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, false, 'scim_users', change)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  ELSIF change < 0 THEN
    UPDATE row_counts c SET n = c.n + change WHERE c.tenant_id = r.tenant_id AND NOT c.sandbox AND c.kind = 'scim_users';
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION count_scim_users FROM PUBLIC;
CREATE TRIGGER count_scim_users AFTER INSERT OR DELETE OR UPDATE OF deleted_at ON scim_users FOR EACH ROW EXECUTE FUNCTION count_scim_users();
INSERT INTO row_counts (tenant_id, sandbox, kind, n) SELECT tenant_id, false, 'scim_users', count(*) FROM scim_users WHERE deleted_at IS NULL GROUP BY 1;
