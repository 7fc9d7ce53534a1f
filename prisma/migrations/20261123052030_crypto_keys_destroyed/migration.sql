-- Every process drops what it has opened of a version that was destroyed. None would use it anyway: each use reads the state of its version.
CREATE FUNCTION announce_destroyed_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('key_version_destroyed', NEW.id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER announce_destroyed AFTER UPDATE OF status ON crypto_key_versions FOR EACH ROW
  WHEN (NEW.status = 'destroyed' AND OLD.status <> 'destroyed') EXECUTE FUNCTION announce_destroyed_version();
