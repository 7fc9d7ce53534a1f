-- Gateways remember access tokens for moments. What a token rests on and isn't announced otherwise (keys and workspaces are) announces itself here, once a
-- workspace and transaction. Issuing a token changes nothing that anybody remembers.
CREATE FUNCTION announce_oauth() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM pg_notify('oauth_changed', OLD.tenant_id::text);
  ELSE PERFORM pg_notify('oauth_changed', NEW.tenant_id::text); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER announce AFTER UPDATE OF revoked_at, expires_at ON oauth_access FOR EACH ROW
  WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at OR OLD.expires_at IS DISTINCT FROM NEW.expires_at) EXECUTE FUNCTION announce_oauth();
-- The sweep of expired tokens tells nobody anything.
CREATE TRIGGER announce_deleted AFTER DELETE ON oauth_access FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND OLD.expires_at > now()) EXECUTE FUNCTION announce_oauth();
CREATE TRIGGER announce AFTER UPDATE OF revoked_at ON oauth_families FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION announce_oauth();
CREATE TRIGGER announce AFTER DELETE OR UPDATE OF active, revoked_at, allowed_scopes, step_up_scopes, name ON oauth_clients FOR EACH ROW EXECUTE FUNCTION announce_oauth();
CREATE TRIGGER announce AFTER DELETE OR UPDATE OF enabled, scopes, name ON oauth_trust_bindings FOR EACH ROW EXECUTE FUNCTION announce_oauth();
CREATE TRIGGER announce_oauth AFTER DELETE OR UPDATE OF role, reveal_secrets, removed_at ON memberships FOR EACH ROW EXECUTE FUNCTION announce_oauth();

-- An account belongs to no workspace: it is announced to those in which a token acts for it.
CREATE FUNCTION announce_oauth_user() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('oauth_changed', tenant_id::text) FROM (SELECT DISTINCT tenant_id FROM oauth_access WHERE user_id = NEW.id AND expires_at > now()) t;
  RETURN NULL;
END $$;
CREATE TRIGGER announce_oauth AFTER UPDATE OF disabled_at ON users FOR EACH ROW WHEN (OLD.disabled_at IS DISTINCT FROM NEW.disabled_at) EXECUTE FUNCTION announce_oauth_user();
REVOKE ALL ON FUNCTION announce_oauth_user FROM PUBLIC;
