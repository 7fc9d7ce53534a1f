-- A command that waits is told to the gateway that holds its agent's connection, so that it doesn't wait for the next heartbeat.
CREATE FUNCTION announce_agent_command() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('agent_command_queued', NEW.agent_id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER INSERT ON agent_commands FOR EACH ROW EXECUTE FUNCTION announce_agent_command();
REVOKE ALL ON FUNCTION announce_agent_command FROM PUBLIC;
