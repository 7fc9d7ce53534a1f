-- Directories look people up by an email too. Comparing arrays isn't leakproof, so that under row-level security no index would be used: a function with its
-- owner's rights answers for the caller's workspace.
CREATE FUNCTION scim_email_values(emails jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ARRAY(SELECT public.scim_fold(e ->> 'value') FROM jsonb_array_elements(emails) e) $$;
CREATE INDEX scim_users_emails ON scim_users USING gin (scim_email_values(emails)) WHERE deleted_at IS NULL;

CREATE FUNCTION scim_users_with_email(wanted text) RETURNS SETOF uuid LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT id FROM scim_users WHERE deleted_at IS NULL AND scim_email_values(emails) @> ARRAY[scim_fold(wanted)] AND tenant_id = app_tenant() $$;
REVOKE ALL ON FUNCTION scim_users_with_email FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scim_users_with_email TO sallyport_app;
