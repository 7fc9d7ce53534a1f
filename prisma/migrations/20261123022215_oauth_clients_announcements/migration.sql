-- Gateways remember clients for moments, with the digests of their secrets. What isn't announced already (20261123014202_oauth_grants_announcements).
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON oauth_client_secrets FOR EACH ROW EXECUTE FUNCTION announce_oauth();
CREATE TRIGGER announce_settings AFTER INSERT OR UPDATE OF type, grant_types, require_dpop ON oauth_clients FOR EACH ROW EXECUTE FUNCTION announce_oauth();
