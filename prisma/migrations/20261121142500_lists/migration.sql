-- Lists cost the same whatever a workspace holds. Every filter and sort they offer has an index that ends in the sort key, so that a page and its
-- total come from the index alone.

CREATE INDEX "routes_tenant_id_sandbox_name_id_idx" ON "routes"("tenant_id", "sandbox", "name", "id");
CREATE INDEX "collections_tenant_id_sandbox_name_id_idx" ON "collections"("tenant_id", "sandbox", "name", "id");

-- Few rows are in a collection, off, of another type or of the smaller kind: indexes of those alone cost the other rows nothing.
DROP INDEX routes_collection_id_idx;
DROP INDEX secrets_collection_id_idx;
DROP INDEX clients_collection_id_idx;
CREATE INDEX routes_in_collection ON routes (tenant_id, sandbox, collection_id, created_at DESC, id DESC) WHERE collection_id IS NOT NULL;
CREATE INDEX secrets_in_collection ON secrets (tenant_id, sandbox, collection_id, name, id) WHERE collection_id IS NOT NULL;
CREATE INDEX clients_in_collection ON clients (tenant_id, sandbox, collection_id, created_at DESC, id DESC) WHERE collection_id IS NOT NULL;
CREATE INDEX clients_disabled ON clients (tenant_id, sandbox, created_at DESC, id DESC) WHERE NOT enabled;
CREATE INDEX secrets_of_other_types ON secrets (tenant_id, sandbox, secret_type, name, id) WHERE secret_type <> 'string';
CREATE INDEX api_keys_inactive ON api_keys (tenant_id, sandbox, created_at DESC, id DESC) WHERE NOT active;
CREATE INDEX api_keys_of_other_types ON api_keys (tenant_id, sandbox, key_type, created_at DESC, id DESC) WHERE key_type <> 'standard';

CREATE INDEX "route_environment_configs_tenant_id_sandbox_environment_nam_idx" ON "route_environment_configs"("tenant_id", "sandbox", "environment_name", "route_id");
CREATE INDEX "api_keys_tenant_id_sandbox_id_idx" ON "api_keys"("tenant_id", "sandbox", "id");
CREATE INDEX "credential_usage_tenant_id_sandbox_last_used_at_id_idx" ON "credential_usage"("tenant_id", "sandbox", "last_used_at" DESC, "id" DESC);

-- What ends soon, and what is still to be wiped.
CREATE INDEX secrets_ending ON secrets (tenant_id, sandbox, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX secret_environments_ending ON secret_environments (tenant_id, sandbox, expires_at_override, secret_id) WHERE expires_at_override IS NOT NULL;
DROP INDEX secret_values_superseded_at_idx;
CREATE INDEX secret_values_to_wipe ON secret_values (superseded_at) WHERE wiped_at IS NULL AND superseded_at IS NOT NULL;

-- The rows of a route's log are counted and skipped by its index alone, which needs the columns that row-level security asks for.
DROP INDEX request_logs_route_id_ts_id_idx;
CREATE INDEX "request_logs_route_id_ts_id_tenant_id_sandbox_idx" ON "request_logs"("route_id", "ts" DESC, "id" DESC, "tenant_id", "sandbox");

-- The audit list is in order of time and number: so are the indexes of its filters.
DROP INDEX audit_logs_tenant_id_sandbox_action_created_at_idx;
CREATE INDEX "audit_logs_tenant_id_sandbox_action_created_at_seq_idx" ON "audit_logs"("tenant_id", "sandbox", "action", "created_at" DESC, "seq" DESC);
DROP INDEX audit_logs_tenant_id_sandbox_resource_type_created_at_idx;
CREATE INDEX "audit_logs_tenant_id_sandbox_resource_type_created_at_seq_idx" ON "audit_logs"("tenant_id", "sandbox", "resource_type", "created_at" DESC, "seq" DESC);
CREATE INDEX "audit_logs_tenant_id_sandbox_actor_id_created_at_seq_idx" ON "audit_logs"("tenant_id", "sandbox", "actor_id", "created_at" DESC, "seq" DESC);

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Search for a part of a name. The text is folded once, when it is written; in the "C" collation a comparison is one of bytes.
ALTER TABLE routes ADD COLUMN search_text text COLLATE "C" GENERATED ALWAYS AS (lower(name || E'\n' || coalesce(slug, ''))) STORED;
ALTER TABLE clients ADD COLUMN search_text text COLLATE "C" GENERATED ALWAYS AS (lower(name || E'\n' || ip_address)) STORED;
ALTER TABLE secrets ADD COLUMN search_text text COLLATE "C" GENERATED ALWAYS AS (lower(name)) STORED;
ALTER TABLE collections ADD COLUMN search_text text COLLATE "C" GENERATED ALWAYS AS (lower(name)) STORED;
CREATE FUNCTION audit_search_text(details jsonb, resource_id text, actor_label text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce(details ->> 'name', '') || E'\n' || coalesce(resource_id, '') || E'\n' || coalesce(actor_label, '')) COLLATE "C" $$;
CREATE INDEX "secrets_tags_idx" ON "secrets" USING GIN ("tags");

-- Trigrams make such a search a look-up, and with the space in the index it never looks at another workspace's words. The extensions may be created by
-- a database's owner, where the server has them; where it has not, or forbids it, the same searches read the workspace's rows. To be called again once
-- an administrator has installed them. Returns whether the indexes are there.
CREATE FUNCTION add_search_indexes() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE extension text; t text; ops text;
BEGIN
  FOREACH extension IN ARRAY ARRAY['pg_trgm', 'btree_gin'] LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I SCHEMA public', extension);
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE '% is not available: searches read every row of their workspace (%)', extension, SQLERRM;
    END;
  END LOOP;
  SELECT format('%I.%I', n.nspname, c.opcname) INTO ops FROM pg_opclass c JOIN pg_namespace n ON n.oid = c.opcnamespace
    JOIN pg_am a ON a.oid = c.opcmethod WHERE c.opcname = 'gin_trgm_ops' AND a.amname = 'gin';
  IF ops IS NULL OR NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'btree_gin') THEN RETURN false; END IF;
  FOREACH t IN ARRAY ARRAY['routes', 'secrets', 'clients', 'collections'] LOOP
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I USING gin (tenant_id, sandbox, search_text %s) WHERE search_text IS NOT NULL', t || '_search', t, ops);
  END LOOP;
  EXECUTE format('CREATE INDEX IF NOT EXISTS audit_logs_search ON audit_logs USING gin (tenant_id, sandbox, audit_search_text(details, resource_id, actor_label) %s)', ops);
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION add_search_indexes FROM PUBLIC;
SELECT add_search_indexes();

-- Under row-level security PostgreSQL uses an index only for comparisons that it knows to keep quiet about the rows they reject, and LIKE and "has
-- element" are none. These functions look things up with their owner's rights and say for themselves whose rows they are. They give ids and counts of
-- the caller's own space and nothing else. A pattern's wildcards are the caller's to escape.
CREATE FUNCTION matching_ids(list text, pattern text, tag text, sort text, descending boolean, skip bigint, most bigint) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE direction text := CASE WHEN descending THEN 'DESC' ELSE 'ASC' END;
BEGIN
  RETURN QUERY EXECUTE 'SELECT id ' || matching_rows(list, pattern, tag)
    || CASE WHEN sort IS NULL THEN '' ELSE format(' ORDER BY %I %s, id %s', sort, direction, direction) END || ' OFFSET $5 LIMIT $6' USING app_tenant(), app_sandbox(), pattern, tag, skip, most;
END $$;

-- A page of what is found and how much that is, by one look-up, while it is no more than `few`; n tells one more when there are more.
CREATE FUNCTION matching_page(list text, pattern text, tag text, sort text, descending boolean, skip bigint, most bigint, few bigint)
RETURNS TABLE (id uuid, n bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20 SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE direction text := CASE WHEN descending THEN 'DESC' ELSE 'ASC' END;
BEGIN
  RETURN QUERY EXECUTE format('
    WITH found AS MATERIALIZED (SELECT id, %1$I AS key %2$s LIMIT $7 + 1),
    page AS (SELECT f.id, row_number() OVER (ORDER BY f.key %3$s, f.id %3$s) AS place FROM found f ORDER BY place OFFSET $5 LIMIT $6)
    SELECT p.id, c.n FROM (SELECT count(*) AS n FROM found) c LEFT JOIN page p ON true ORDER BY p.place', sort, matching_rows(list, pattern, tag), direction)
    USING app_tenant(), app_sandbox(), pattern, tag, skip, most, few;
END $$;

CREATE FUNCTION matching_count(list text, pattern text, tag text) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE n bigint;
BEGIN
  EXECUTE 'SELECT count(*) ' || matching_rows(list, pattern, tag) INTO n USING app_tenant(), app_sandbox(), pattern, tag;
  RETURN n;
END $$;

CREATE FUNCTION matching_rows(list text, pattern text, tag text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF list NOT IN ('routes', 'secrets', 'clients', 'collections') THEN RAISE EXCEPTION 'there is no search in %', list; END IF;
  RETURN format('FROM public.%I WHERE tenant_id = $1 AND sandbox = $2', list) || CASE WHEN pattern IS NULL THEN '' ELSE ' AND search_text LIKE lower($3)' END
    || CASE WHEN tag IS NULL THEN '' ELSE ' AND tags @> ARRAY[$4]' END;
END $$;

-- The newest audit entries that match, by number.
CREATE FUNCTION matching_audit_entries(pattern text, most bigint) RETURNS SETOF bigint LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100
SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT seq FROM public.audit_logs WHERE tenant_id = $1 AND sandbox = $2 AND audit_search_text(details, resource_id, actor_label) LIKE lower($3) LIMIT $4'
    USING app_tenant(), app_sandbox(), pattern, most;
END $$;
