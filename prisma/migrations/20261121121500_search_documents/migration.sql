-- What the palette finds: one row a resource, written by triggers in the transaction of the resource itself (interface rule 70 §10). It holds names,
-- slugs, hosts, tags, ids, key prefixes and addresses of clients; never a value, a description or a payload.
CREATE TABLE "search_documents" (
    "ref_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "title" TEXT NOT NULL,
    "subtitle" TEXT,
    "badges" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "words" TEXT NOT NULL,
    "keywords" tsvector NOT NULL,

    CONSTRAINT "search_documents_pkey" PRIMARY KEY ("ref_id","type")
);
CREATE INDEX "search_documents_keywords_idx" ON "search_documents" USING GIN ("keywords");
GRANT SELECT ON search_documents TO sallyport_app;
ALTER TABLE search_documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON search_documents TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox());

-- Likeness of words forgives typing errors. A server that does not offer the extensions, or does not let us create them, finds beginnings of words only.
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'pg_trgm is not available: search forgives no typing errors (%)', SQLERRM;
END $$;
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;
  -- The space stands in the index: the words of other workspaces are never looked at.
  CREATE INDEX search_documents_likeness ON search_documents USING gin (tenant_id, sandbox, (lower(words)) gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'search goes without an index for typing errors (%)', SQLERRM;
END $$;

-- A keyword is a space and a word, so that looking up the beginning of a word never touches the words of another space.
CREATE FUNCTION search_space(tenant uuid, test boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT replace(tenant::text, '-', '') || CASE WHEN test THEN 't' ELSE 'l' END $$;

-- The words of a text: as separators part it, and as capitals in it do (PaymentsApi is paymentsapi, payments and api).
CREATE FUNCTION search_words(given text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT left(w, 100)), '{}') FROM (
    SELECT unnest(regexp_split_to_array(lower(given), '[^[:alnum:]]+')) AS w
    UNION ALL SELECT unnest(regexp_split_to_array(lower(regexp_replace(given, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g')), '[^[:alnum:]]+'))
  ) s WHERE w <> '' $$;

CREATE FUNCTION put_document(id uuid, kind text, tenant uuid, test boolean, name text, below text, marks text[], more text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE space text := search_space(tenant, test); found text[] := search_words(concat_ws(' ', name, more));
BEGIN
  INSERT INTO search_documents AS d (ref_id, type, tenant_id, sandbox, title, subtitle, badges, words, keywords)
    VALUES (id, kind, tenant, test, name, below, marks, array_to_string(found, ' '),
      array_to_tsvector(ARRAY(SELECT space || w FROM unnest(found) AS w)))
    ON CONFLICT (ref_id, type) DO UPDATE SET title = excluded.title, subtitle = excluded.subtitle, badges = excluded.badges, words = excluded.words, keywords = excluded.keywords
    WHERE (d.title, d.subtitle, d.badges, d.words) IS DISTINCT FROM (excluded.title, excluded.subtitle, excluded.badges, excluded.words);
END $$;
REVOKE ALL ON FUNCTION put_document FROM PUBLIC;

-- The host of an address, without what could stand before or behind it.
CREATE FUNCTION host_of(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT substring(address FROM '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([^/?#@:]+|\[[0-9a-fA-F:.]+\])') $$;

CREATE FUNCTION put_route(id uuid) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r record;
BEGIN
  SELECT routes.*, c.hosts, c.base INTO r FROM routes LEFT JOIN LATERAL (
      SELECT string_agg(DISTINCT host_of(target_base_url), ' ') AS hosts, max(host_of(target_base_url)) FILTER (WHERE is_base) AS base
      FROM route_environment_configs WHERE route_id = routes.id) c ON true
    WHERE routes.id = put_route.id;
  IF FOUND THEN
    PERFORM put_document(r.id, 'route', r.tenant_id, r.sandbox, r.name, r.base, CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], concat_ws(' ', r.slug, r.hosts));
  END IF;
END $$;
REVOKE ALL ON FUNCTION put_route FROM PUBLIC;

CREATE FUNCTION put_client(id uuid) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r record;
BEGIN
  SELECT clients.*, (SELECT string_agg(ip_range, ' ') FROM client_credentials WHERE client_id = clients.id AND kind = 'ip') AS ranges INTO r
    FROM clients WHERE clients.id = put_client.id;
  IF FOUND THEN
    PERFORM put_document(r.id, 'client', r.tenant_id, r.sandbox, r.name, r.ip_address, CASE WHEN r.enabled THEN '{}' ELSE '{disabled}' END::text[], concat_ws(' ', r.ip_address, r.ranges));
  END IF;
END $$;
REVOKE ALL ON FUNCTION put_client FROM PUBLIC;

CREATE FUNCTION index_document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'route_environment_configs' THEN
    IF TG_OP = 'DELETE' THEN PERFORM put_route(OLD.route_id); ELSE PERFORM put_route(NEW.route_id); END IF;
  ELSIF TG_TABLE_NAME = 'client_credentials' THEN
    IF TG_OP = 'DELETE' THEN PERFORM put_client(OLD.client_id); ELSE PERFORM put_client(NEW.client_id); END IF;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM search_documents WHERE ref_id = OLD.id AND type = TG_ARGV[0];
  ELSIF TG_ARGV[0] = 'route' THEN
    PERFORM put_route(NEW.id);
  ELSIF TG_ARGV[0] = 'client' THEN
    PERFORM put_client(NEW.id);
  ELSIF TG_ARGV[0] = 'secret' THEN
    PERFORM put_document(NEW.id, 'secret', NEW.tenant_id, NEW.sandbox, NEW.name, NEW.shortcode_name, '{}', concat_ws(' ', NEW.shortcode_name, array_to_string(NEW.tags, ' ')));
  ELSIF TG_ARGV[0] = 'collection' THEN
    PERFORM put_document(NEW.id, 'collection', NEW.tenant_id, NEW.sandbox, NEW.name, NEW.slug, '{}', NEW.slug);
  ELSIF TG_ARGV[0] = 'environment' THEN
    PERFORM put_document(NEW.id, 'environment', NEW.tenant_id, NEW.sandbox, NEW.display_name, NEW.name, CASE WHEN NEW.is_default THEN '{default}' ELSE '{}' END::text[], NEW.name);
  ELSIF TG_ARGV[0] = 'api_key' THEN
    PERFORM put_document(NEW.id, 'api_key', NEW.tenant_id, NEW.sandbox, NEW.name, NEW.key_prefix, CASE WHEN NEW.active THEN '{}' ELSE '{revoked}' END::text[], NEW.key_prefix);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF name, slug, enabled ON routes FOR EACH ROW EXECUTE FUNCTION index_document('route');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF target_base_url, is_base ON route_environment_configs FOR EACH ROW EXECUTE FUNCTION index_document('route');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF name, ip_address, enabled ON clients FOR EACH ROW EXECUTE FUNCTION index_document('client');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF ip_range, kind ON client_credentials FOR EACH ROW EXECUTE FUNCTION index_document('client');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF name, shortcode_name, tags ON secrets FOR EACH ROW EXECUTE FUNCTION index_document('secret');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF name, slug ON collections FOR EACH ROW EXECUTE FUNCTION index_document('collection');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF name, display_name, is_default ON environments FOR EACH ROW EXECUTE FUNCTION index_document('environment');
CREATE TRIGGER index_document AFTER INSERT OR DELETE OR UPDATE OF name, active ON api_keys FOR EACH ROW EXECUTE FUNCTION index_document('api_key');

SELECT put_route(id) FROM routes;
SELECT put_client(id) FROM clients;
SELECT put_document(id, 'secret', tenant_id, sandbox, name, shortcode_name, '{}', concat_ws(' ', shortcode_name, array_to_string(tags, ' '))) FROM secrets;
SELECT put_document(id, 'collection', tenant_id, sandbox, name, slug, '{}', slug) FROM collections;
SELECT put_document(id, 'environment', tenant_id, sandbox, display_name, name, CASE WHEN is_default THEN '{default}' ELSE '{}' END::text[], name) FROM environments;
SELECT put_document(id, 'api_key', tenant_id, sandbox, name, key_prefix, CASE WHEN active THEN '{}' ELSE '{revoked}' END::text[], key_prefix) FROM api_keys;

-- The documents of the caller's space that hold every word of a text, whole or as its beginning, at most `want` of each type, the best first. Asked to
-- forgive, it gives instead a hundred that hold words like those, with all their words; a number is no word and must be right. It runs with its
-- owner's rights, because under row-level security no operator on text may use an index before the policy was asked; the space is the one the policy
-- would ask for.
CREATE FUNCTION find_documents(given text, types text[], want integer, forgive boolean)
RETURNS TABLE (type text, ref_id uuid, title text, subtitle text, badges text[], score real, alike_words text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  tenant uuid := app_tenant(); test boolean := app_sandbox();
  space text := search_space(tenant, test);
  phrase text := lower(btrim(given));
  terms text[] := (search_words(phrase))[1:8];
  beginnings tsquery; wholes tsquery; exact tsquery;
  alike text; likeness text;
BEGIN
  IF space IS NULL OR cardinality(terms) = 0 THEN RETURN; END IF;
  IF NOT forgive THEN
    SELECT string_agg(term || ':*', ' & ')::tsquery, string_agg(term, ' & ')::tsquery INTO beginnings, wholes
      FROM (SELECT quote_literal(space || t) AS term FROM unnest(terms) AS t) q;
    -- A few hundred candidates are enough to fill a group well; a letter that begins forty thousand names must not cost forty thousand rows.
    RETURN QUERY
      WITH candidates AS (
        (SELECT d.* FROM search_documents d WHERE d.keywords @@ wholes AND d.type = ANY (types) LIMIT 300)
        UNION (SELECT d.* FROM search_documents d WHERE d.keywords @@ beginnings AND d.type = ANY (types) LIMIT 600)
      ), scored AS (
        SELECT c.*, (CASE
            WHEN lower(c.title) = phrase THEN 1
            WHEN starts_with(lower(c.title), phrase) THEN 0.9
            WHEN c.keywords @@ wholes THEN 0.8
            WHEN strpos(' ' || lower(c.title), ' ' || phrase) > 0 THEN 0.7
            ELSE 0.6 END - least(length(c.title), 90) / 1000.0)::real AS score
        FROM candidates c WHERE c.tenant_id = tenant AND c.sandbox = test
      ), placed AS (SELECT s.*, row_number() OVER (PARTITION BY s.type ORDER BY s.score DESC, s.title, s.ref_id) AS place FROM scored s)
      SELECT p.type, p.ref_id, p.title, p.subtitle, p.badges, p.score, NULL::text FROM placed p WHERE p.place <= want ORDER BY p.score DESC, p.title, p.ref_id;
    RETURN;
  END IF;
  SELECT string_agg(format('lower(d.words) %%> %L', t), ' AND ') FILTER (WHERE t !~ '\d' AND length(t) > 2),
      '(' || string_agg(format('word_similarity(%L, lower(d.words))', t), ' + ') FILTER (WHERE t !~ '\d' AND length(t) > 2) || ') / ' || greatest(count(*) FILTER (WHERE t !~ '\d' AND length(t) > 2), 1),
      coalesce(string_agg(quote_literal(space || t) || ':*', ' & ') FILTER (WHERE t ~ '\d' OR length(t) <= 2), '')::tsquery
    INTO alike, likeness, exact FROM unnest(terms) AS t;
  IF alike IS NULL OR to_regproc('public.word_similarity') IS NULL THEN RETURN; END IF;
  -- Wide, since two swapped letters cost a short word half its trigrams: the caller counts the typing errors and keeps the likely.
  PERFORM set_config('pg_trgm.word_similarity_threshold', '0.25', true);
  RETURN QUERY EXECUTE format('
    WITH candidates AS (
      SELECT d.*, (%s * 0.5)::real AS score FROM search_documents d
      WHERE d.tenant_id = $1 AND d.sandbox = $2 AND d.type = ANY ($3) AND %s %s LIMIT 600)
    SELECT c.type, c.ref_id, c.title, c.subtitle, c.badges, c.score, c.words FROM candidates c ORDER BY c.score DESC, c.title, c.ref_id LIMIT 100',
    likeness, alike, CASE WHEN numnode(exact) > 0 THEN 'AND d.keywords @@ $4' END) USING tenant, test, types, exact;
END $$;
REVOKE ALL ON FUNCTION find_documents FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_documents TO sallyport_app;
