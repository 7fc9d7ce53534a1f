-- Which configurations may name a variable of a collection: few do, and before a collection or a variable goes those are asked, not all of them.
CREATE FUNCTION may_name_variables(target text, headers jsonb, query jsonb, body jsonb, methods jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(target, '') LIKE '%var%' OR coalesce(headers::text, '') LIKE '%var%' OR coalesce(query::text, '') LIKE '%var%'
    OR coalesce(body::text, '') LIKE '%var%' OR coalesce(methods::text, '') LIKE '%var%' $$;
CREATE INDEX route_environment_configs_with_variables ON route_environment_configs (tenant_id, sandbox, route_id)
  WHERE may_name_variables(target_base_url, inject_headers_json, inject_query_json, inject_body_json, method_configs);
