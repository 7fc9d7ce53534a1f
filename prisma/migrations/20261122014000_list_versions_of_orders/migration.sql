-- A page of a search is remembered like its total: a list has another version, too, when what it can be put in order by changes. A name that changes in
-- upper and lower case alone is searched by as before, but may stand at another place.
DO $$ DECLARE list text; columns text;
BEGIN
  FOR list, columns IN VALUES ('routes', 'search_text, enabled, collection_id, name'), ('clients', 'search_text, enabled, type, collection_id, name, ip_address'),
    ('secrets', 'search_text, tags, secret_type, collection_id, name, base_environment'), ('collections', 'search_text, name') LOOP
    EXECUTE format($f$
      CREATE OR REPLACE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $t$
      BEGIN
        UPDATE row_counts c SET version = nextval('list_versions')
          FROM (SELECT DISTINCT tenant_id, sandbox FROM (SELECT id, tenant_id, sandbox, %2$s FROM added EXCEPT SELECT id, tenant_id, sandbox, %2$s FROM removed) changed) d
          WHERE c.tenant_id = d.tenant_id AND c.sandbox = d.sandbox AND c.kind = %3$L;
        RETURN NULL;
      END $t$;$f$, list || '_listed', columns, list);
  END LOOP;
END $$;
