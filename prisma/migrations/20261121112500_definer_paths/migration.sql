-- A function that runs with its owner's rights looks into the caller's temporary schema first unless that schema is named last: a temporary table
-- named row_counts or audit_log_critical would stand in for ours.
ALTER FUNCTION count_rows() SET search_path = public, pg_catalog, pg_temp;
ALTER FUNCTION count_api_keys() SET search_path = public, pg_catalog, pg_temp;
ALTER FUNCTION count_critical() SET search_path = public, pg_catalog, pg_temp;
ALTER FUNCTION follow_chain() SET search_path = public, pg_catalog, pg_temp;

-- The record of migrations is made before the grants on all tables and took part in them.
DO $$ BEGIN
  IF to_regclass('public._prisma_migrations') IS NOT NULL THEN REVOKE ALL ON _prisma_migrations FROM sallyport_app; END IF;
END $$;
