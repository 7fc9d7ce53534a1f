-- Database users that a key minted end with it, whatever ends or disables the key: the sweeper removes them and writes the audit entry.
CREATE FUNCTION end_leases_of_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE dyn_db_leases SET phase = 'revoking', ends_as = 'revoked', attempts = 0, next_attempt_at = NULL,
      status = CASE status WHEN 'errored' THEN status ELSE 'renewing' END
    WHERE tenant_id = NEW.tenant_id AND sandbox = NEW.sandbox AND ended_at IS NULL AND phase <> 'revoking'
      AND (minted_by_type = 'api_key' AND minted_by_id = NEW.id::text
        OR minted_by_type = 'oauth_client' AND minted_by_id = (SELECT id::text FROM oauth_clients WHERE source_api_key_id = NEW.id));
  RETURN NULL;
END $$;
CREATE TRIGGER end_leases_of_key AFTER UPDATE OF active, revoked_at ON api_keys FOR EACH ROW
  WHEN (OLD.active AND OLD.revoked_at IS NULL AND NOT (NEW.active AND NEW.revoked_at IS NULL)) EXECUTE FUNCTION end_leases_of_key();
REVOKE ALL ON FUNCTION end_leases_of_key FROM PUBLIC;
