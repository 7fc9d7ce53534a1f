-- What may put values into a vault, or take one out, ends when the vault is disabled or deleted; enabling it again brings nothing back.
CREATE FUNCTION revoke_client_tokens_of_vault() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE client_tokens SET revoked_at = now()
    WHERE vault_id = OLD.id AND consumed_at IS NULL AND burned_at IS NULL AND revoked_at IS NULL AND expires_at > now();
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION revoke_client_tokens_of_vault FROM PUBLIC;
CREATE TRIGGER revoke_client_tokens AFTER UPDATE OF enabled, deleted_at ON vaults FOR EACH ROW
  WHEN (NEW.deleted_at IS NOT NULL OR NOT NEW.enabled) EXECUTE FUNCTION revoke_client_tokens_of_vault();
CREATE TRIGGER revoke_client_tokens_of_deleted AFTER DELETE ON vaults FOR EACH ROW EXECUTE FUNCTION revoke_client_tokens_of_vault();
