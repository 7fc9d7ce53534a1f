-- Whose right to call routes stands behind a receiver that forwards to one: {type, id, user_id, ip, label} of who set the route, turned it on or made its secret.
-- The worker finds them for receivers of the release before (server/platform/authorship.ts).
ALTER TABLE inbound_webhooks ADD COLUMN authority JSONB;

-- A machine of that release gives a receiver another route or secret, or turns it on, and leaves its authority: it isn't theirs any more.
CREATE TRIGGER forget_authority BEFORE UPDATE OF forward_route_id, value_ct, enabled ON inbound_webhooks FOR EACH ROW
  WHEN (current_setting('app.maker', true) IS NULL AND NEW.authority IS NOT DISTINCT FROM OLD.authority
    AND (NEW.forward_route_id IS DISTINCT FROM OLD.forward_route_id OR NEW.secret_changed_at IS DISTINCT FROM OLD.secret_changed_at OR NEW.enabled AND NOT OLD.enabled))
  EXECUTE FUNCTION forget_authority();
