-- Moves a workspace to another slug and reserves the old one for 90 days. The tenant role can't see other workspaces or reservations, so it asks this function;
-- locks are those of sign-up (`slug:<slug>`), taken in one order.
CREATE FUNCTION change_slug(tenant uuid, from_slug text, to_slug text, at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF tenant IS DISTINCT FROM app_tenant() THEN RETURN false; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('slug:' || least(from_slug, to_slug), 0));
  PERFORM pg_advisory_xact_lock(hashtextextended('slug:' || greatest(from_slug, to_slug), 0));
  IF EXISTS (SELECT FROM tenants WHERE slug = to_slug)
    OR EXISTS (SELECT FROM reserved_slugs WHERE slug = to_slug AND expires_at > at AND tenant_id <> tenant) THEN RETURN false; END IF;
  UPDATE tenants SET slug = to_slug, updated_at = at WHERE id = tenant AND slug = from_slug AND deleted_at IS NULL;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM reserved_slugs WHERE slug = to_slug;
  INSERT INTO reserved_slugs (slug, tenant_id, expires_at) VALUES (from_slug, tenant, at + interval '90 days')
    ON CONFLICT (slug) DO UPDATE SET tenant_id = excluded.tenant_id, expires_at = excluded.expires_at;
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION change_slug FROM PUBLIC;
GRANT EXECUTE ON FUNCTION change_slug TO sallyport_app;
