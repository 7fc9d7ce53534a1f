-- One call gives a table what the tables of a workspace have in common, instead of lists of tables that each migration had to repeat:
--   SELECT register_table('widgets', partition => 'space', counted => true, announced => true, document => 'widget');
-- Each type that the palette finds has a function of its own that says what is found: widget_document(widgets) RETURNS search_document.
CREATE TYPE search_document AS (title text, subtitle text, badges text[], words text);

DROP FUNCTION put_document;
CREATE FUNCTION put_document(id uuid, kind text, tenant uuid, test boolean, doc search_document) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE space text := search_space(tenant, test); found text[] := search_words(concat_ws(' ', doc.title, doc.words));
BEGIN
  INSERT INTO search_documents AS d (ref_id, type, tenant_id, sandbox, title, subtitle, badges, words, keywords)
    VALUES (id, kind, tenant, test, doc.title, doc.subtitle, doc.badges, array_to_string(found, ' '),
      array_to_tsvector(ARRAY(SELECT space || w FROM unnest(found) AS w)))
    ON CONFLICT (ref_id, type) DO UPDATE SET title = excluded.title, subtitle = excluded.subtitle, badges = excluded.badges, words = excluded.words, keywords = excluded.keywords
    WHERE (d.title, d.subtitle, d.badges, d.words) IS DISTINCT FROM (excluded.title, excluded.subtitle, excluded.badges, excluded.words);
END $$;

-- Its argument is the type: the row is what <type>_document makes of it.
CREATE OR REPLACE FUNCTION index_document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM search_documents WHERE ref_id = OLD.id AND type = TG_ARGV[0];
  ELSE
    EXECUTE format('SELECT put_document($1.id, %L, $1.tenant_id, $1.sandbox, %I($1))', TG_ARGV[0], TG_ARGV[0] || '_document') USING NEW;
  END IF;
  RETURN NULL;
END $$;

-- For a table whose rows say something about another row. Arguments: the other row's type and table, and the column that holds its ID.
CREATE FUNCTION index_parent_document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE part record;
BEGIN
  IF TG_OP = 'DELETE' THEN part := OLD; ELSE part := NEW; END IF;
  EXECUTE format('SELECT put_document(p.id, %L, p.tenant_id, p.sandbox, %I(p)) FROM %I p WHERE p.id = $1.%I',
    TG_ARGV[0], TG_ARGV[0] || '_document', TG_ARGV[1], TG_ARGV[2]) USING part;
  RETURN NULL;
END $$;

-- The tables whose lists can be searched: those of a space that have the text to search in.
CREATE FUNCTION searched_tables() RETURNS SETOF name LANGUAGE sql STABLE AS $$
  SELECT c.relname FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'search_text' AND NOT a.attisdropped
    JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid AND p.polname = 'own_space'
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') $$;

CREATE OR REPLACE FUNCTION matching_rows(list text, pattern text, tag text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM searched_tables() AS t WHERE t = list) THEN RAISE EXCEPTION 'there is no search in %', list; END IF;
  RETURN format('FROM public.%I WHERE tenant_id = $1 AND sandbox = $2', list) || CASE WHEN pattern IS NULL THEN '' ELSE ' AND search_text LIKE lower($3)' END
    || CASE WHEN tag IS NULL THEN '' ELSE ' AND tags @> ARRAY[$4]' END;
END $$;

CREATE OR REPLACE FUNCTION add_search_indexes() RETURNS boolean LANGUAGE plpgsql AS $$
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
  FOR t IN SELECT searched_tables() LOOP
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I USING gin (tenant_id, sandbox, search_text %s) WHERE search_text IS NOT NULL', t || '_search', t, ops);
  END LOOP;
  -- The audit log is too large for a column of its own.
  EXECUTE format('CREATE INDEX IF NOT EXISTS audit_logs_search ON audit_logs USING gin (tenant_id, sandbox, audit_search_text(details, resource_id, actor_label) %s)', ops);
  RETURN true;
END $$;

-- partition         'space': rows belong to one space of a workspace; 'tenant': to a workspace
-- privileges        what a transaction of a workspace may do with its rows
-- counted           row_counts holds the number of rows per space, under the table's name
-- announced         a change tells every gateway to read the space again; announced_columns: only updates of these do
-- document          the type under which the palette finds a row; document_columns: only updates of these change what it finds
-- search_text       an expression: lists search in it for a part of a text
-- Calling it again replaces what an earlier call did. A table that has rows is counted and indexed at its first call.
CREATE FUNCTION register_table(tab regclass, partition text, privileges text DEFAULT 'SELECT, INSERT, UPDATE, DELETE', counted boolean DEFAULT false,
  announced boolean DEFAULT false, announced_columns text[] DEFAULT NULL, document text DEFAULT NULL, document_columns text[] DEFAULT NULL, search_text text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE
  own constant text := CASE partition WHEN 'space' THEN 'tenant_id = app_tenant() AND sandbox = app_sandbox()' WHEN 'tenant' THEN 'tenant_id = app_tenant()' END;
  maker constant regprocedure := to_regprocedure(quote_ident(document || '_document') || '(' || tab || ')');
  problem text; other regclass; earlier record; before text[] := '{}';
BEGIN
  SELECT string_agg(format('%s %s NOT NULL', c.name, c.type), ', ') INTO problem
    FROM (VALUES ('tenant_id', 'uuid', true), ('sandbox', 'boolean', partition = 'space' OR counted OR announced OR document IS NOT NULL),
      ('id', 'uuid', document IS NOT NULL OR search_text IS NOT NULL)) AS c (name, type, needed)
    WHERE c.needed AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = c.name AND a.atttypid = c.type::regtype AND a.attnotnull);
  SELECT g.tgrelid::regclass INTO other FROM pg_trigger g
    WHERE g.tgfoid = 'index_document'::regproc AND g.tgargs = convert_to(document, 'UTF8') || '\x00' AND g.tgrelid <> tab LIMIT 1;
  problem := CASE
    WHEN own IS NULL THEN format('partition must be ''space'' or ''tenant'', not %L', partition)
    WHEN NOT EXISTS (SELECT FROM pg_class WHERE oid = tab AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')) THEN 'it is not a table of the schema public'
    WHEN problem IS NOT NULL THEN 'it needs the columns ' || problem
    WHEN search_text IS NOT NULL AND partition <> 'space' THEN 'only tables of a space have a search_text'
    WHEN announced_columns IS NOT NULL AND NOT announced THEN 'announced_columns needs announced => true'
    WHEN document_columns IS NOT NULL AND document IS NULL THEN 'document_columns needs a document'
    WHEN document IS NOT NULL AND (SELECT prorettype FROM pg_proc WHERE oid = maker) IS DISTINCT FROM 'search_document'::regtype
      THEN format('create the function %s_document(%s) RETURNS search_document first', document, tab)
    WHEN other IS NOT NULL THEN format('%L is the document of %s', document, other) END;
  IF problem IS NOT NULL THEN RAISE EXCEPTION 'cannot register %: %', tab, problem; END IF;

  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tab);
  EXECUTE format('DROP POLICY IF EXISTS own_space ON %s', tab);
  EXECUTE format('DROP POLICY IF EXISTS own_tenant ON %s', tab);
  EXECUTE format('CREATE POLICY %I ON %s TO sallyport_app USING (%s) WITH CHECK (%s)', 'own_' || partition, tab, own, own);
  EXECUTE format('REVOKE ALL ON %s FROM sallyport_app', tab);
  EXECUTE format('GRANT %s ON %s TO sallyport_app', privileges, tab);

  FOR earlier IN SELECT g.tgname, p.proname FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
    WHERE g.tgrelid = tab AND g.tgfoid IN ('count_rows'::regproc, 'announce_config'::regproc, 'index_document'::regproc) LOOP
    EXECUTE format('DROP TRIGGER %I ON %s', earlier.tgname, tab);
    before := before || earlier.proname::text;
  END LOOP;
  IF counted THEN
    EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %s REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', tab);
    EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %s REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', tab);
  END IF;
  IF counted AND NOT 'count_rows' = ANY (before) THEN
    DELETE FROM row_counts WHERE kind = tab::text;
    EXECUTE format('INSERT INTO row_counts (tenant_id, sandbox, kind, n) SELECT tenant_id, sandbox, %L, count(*) FROM %s GROUP BY 1, 2', tab, tab);
  END IF;
  IF announced THEN
    EXECUTE format('CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE %s ON %s FOR EACH ROW EXECUTE FUNCTION announce_config()', of_columns(announced_columns), tab);
  END IF;
  IF document IS NOT NULL THEN
    EXECUTE format('CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE %s ON %s FOR EACH ROW EXECUTE FUNCTION index_document(%L)', of_columns(document_columns), tab, document);
  END IF;
  IF document IS NOT NULL AND NOT 'index_document' = ANY (before) THEN
    EXECUTE format('SELECT put_document(r.id, %L, r.tenant_id, r.sandbox, %I(r)) FROM %s r', document, document || '_document', tab);
  END IF;
  IF search_text IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = 'search_text' AND NOT a.attisdropped) THEN
      EXECUTE format('ALTER TABLE %s ADD COLUMN search_text text COLLATE "C" GENERATED ALWAYS AS (lower(%s)) STORED', tab, search_text);
    END IF;
    PERFORM add_search_indexes();
  END IF;
END $$;

CREATE FUNCTION of_columns(columns text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'OF ' || string_agg(quote_ident(c), ', ') FROM unnest(columns) c $$;

REVOKE ALL ON FUNCTION put_document, index_parent_document, add_search_indexes, register_table, of_columns FROM PUBLIC;

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- The tables there are, as they were.
CREATE FUNCTION environment_document(r environments) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.display_name, r.name, CASE WHEN r.is_default THEN '{default}' ELSE '{}' END::text[], r.name $$;
CREATE FUNCTION collection_document(r collections) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.slug, '{}'::text[], r.slug $$;
CREATE FUNCTION secret_document(r secrets) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.shortcode_name, '{}'::text[], concat_ws(' ', r.shortcode_name, array_to_string(r.tags, ' ')) $$;
CREATE FUNCTION api_key_document(r api_keys) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.key_prefix, CASE WHEN r.active THEN '{}' ELSE '{revoked}' END::text[], r.key_prefix $$;
CREATE FUNCTION client_document(r clients) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.ip_address, CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[],
    concat_ws(' ', r.ip_address, (SELECT string_agg(ip_range, ' ') FROM client_credentials WHERE client_id = r.id AND kind = 'ip')) $$;
CREATE FUNCTION route_document(r routes) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, c.base, CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], concat_ws(' ', r.slug, c.hosts)
  FROM (SELECT string_agg(DISTINCT host_of(target_base_url), ' ') AS hosts, max(host_of(target_base_url)) FILTER (WHERE is_base) AS base
    FROM route_environment_configs WHERE route_id = r.id) c $$;
DROP FUNCTION put_route, put_client;

-- What else the documents of clients and routes say. An environment that inherits its address adds nothing.
DROP TRIGGER index_document ON client_credentials;
DROP TRIGGER index_document ON route_environment_configs;
DROP TRIGGER index_inserted ON route_environment_configs;
DROP TRIGGER index_deleted ON route_environment_configs;
CREATE TRIGGER index_client AFTER INSERT OR DELETE OR UPDATE OF ip_range, kind ON client_credentials
  FOR EACH ROW EXECUTE FUNCTION index_parent_document('client', 'clients', 'client_id');
CREATE TRIGGER index_route AFTER UPDATE OF target_base_url, is_base ON route_environment_configs
  FOR EACH ROW EXECUTE FUNCTION index_parent_document('route', 'routes', 'route_id');
CREATE TRIGGER index_route_inserted AFTER INSERT ON route_environment_configs
  FOR EACH ROW WHEN (NEW.target_base_url IS NOT NULL) EXECUTE FUNCTION index_parent_document('route', 'routes', 'route_id');
CREATE TRIGGER index_route_deleted AFTER DELETE ON route_environment_configs
  FOR EACH ROW WHEN (OLD.target_base_url IS NOT NULL) EXECUTE FUNCTION index_parent_document('route', 'routes', 'route_id');

SELECT register_table('environments', 'space', counted => true, announced => true, document => 'environment', document_columns => '{name,display_name,is_default}');
SELECT register_table('collections', 'space', counted => true, announced => true, document => 'collection', document_columns => '{name,slug}', search_text => 'name');
SELECT register_table('collection_variables', 'space', announced => true);
SELECT register_table('collection_environment_defaults', 'space');
SELECT register_table('secrets', 'space', counted => true, announced => true, document => 'secret', document_columns => '{name,shortcode_name,tags}', search_text => 'name');
SELECT register_table('secret_environments', 'space', announced => true);
SELECT register_table('secret_values', 'space', announced => true);
SELECT register_table('secret_references', 'space');
SELECT register_table('clients', 'space', counted => true, announced => true, document => 'client', document_columns => '{name,ip_address,enabled}', search_text => $$name || E'\n' || ip_address$$);
SELECT register_table('client_credentials', 'space', announced => true);
SELECT register_table('client_authorities', 'tenant');
SELECT register_table('routes', 'space', counted => true, announced => true, announced_columns => '{name,slug,enabled,base_environment_id,collection_id,config_version}',
  document => 'route', document_columns => '{name,slug,enabled}', search_text => $$name || E'\n' || coalesce(slug, '')$$);
SELECT register_table('route_environment_configs', 'space', announced => true);
SELECT register_table('route_client_assignments', 'space', announced => true);
SELECT register_table('route_examples', 'space');
SELECT register_table('api_keys', 'space', announced => true, document => 'api_key', document_columns => '{name,active}');
SELECT register_table('api_key_uses', 'space', privileges => 'SELECT');
SELECT register_table('api_version_days', 'tenant', privileges => 'SELECT');
SELECT register_table('credential_usage', 'space');
SELECT register_table('idempotency_keys', 'space');
SELECT register_table('audit_logs', 'tenant', privileges => 'SELECT, INSERT', counted => true);
SELECT register_table('search_documents', 'space', privileges => 'SELECT');
SELECT register_table('row_counts', 'space', privileges => 'SELECT');
SELECT register_table('usage_counters', 'tenant', privileges => 'SELECT');
SELECT register_table('call_days', 'space', privileges => 'SELECT');
SELECT register_table('route_log_totals', 'space', privileges => 'SELECT');
SELECT register_table('request_log_anchors', 'tenant', privileges => 'SELECT');
SELECT register_table('saved_views', 'space');
SELECT register_table('explorer_calls', 'space', privileges => 'SELECT, INSERT, DELETE');
SELECT register_table('memberships', 'tenant');
SELECT register_table('tenant_limit_overrides', 'tenant', privileges => 'SELECT');
SELECT register_table('tenant_policies', 'tenant');
SELECT register_table('tenant_master_keys', 'tenant');
