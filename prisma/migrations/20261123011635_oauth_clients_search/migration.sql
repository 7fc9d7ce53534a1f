-- The palette finds OAuth clients by name and client_id. Those that mirror an API key are left out: it finds the key.
CREATE FUNCTION oauth_client_document(r oauth_clients) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.name, r.client_id, CASE WHEN r.revoked_at IS NOT NULL THEN '{revoked}' WHEN r.active THEN '{}' ELSE '{disabled}' END::text[], r.client_id $$;
CREATE TRIGGER index_inserted_client AFTER INSERT ON oauth_clients FOR EACH ROW WHEN (NEW.source_api_key_id IS NULL) EXECUTE FUNCTION index_document('oauth_client');
CREATE TRIGGER index_changed_client AFTER UPDATE OF name, active, revoked_at ON oauth_clients FOR EACH ROW WHEN (NEW.source_api_key_id IS NULL) EXECUTE FUNCTION index_document('oauth_client');
CREATE TRIGGER index_deleted_client AFTER DELETE ON oauth_clients FOR EACH ROW WHEN (OLD.source_api_key_id IS NULL) EXECUTE FUNCTION index_document('oauth_client');
SELECT put_document(r.id, 'oauth_client', r.tenant_id, r.sandbox, oauth_client_document(r)) FROM oauth_clients r WHERE r.source_api_key_id IS NULL;
