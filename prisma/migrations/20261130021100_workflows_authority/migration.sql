-- Whose right to call routes stands behind a workflow, and behind each of its runs: {type, id, user_id, ip, label} of who published it, and of who started it.
-- Runs have no default: '[]' says that nobody stands behind one, and a machine of the release before says nothing.
ALTER TABLE workflows ADD COLUMN authority JSONB;
ALTER TABLE workflow_executions ADD COLUMN authorities JSONB NOT NULL DEFAULT '[]';
ALTER TABLE workflow_executions ALTER COLUMN authorities DROP DEFAULT;

-- Who made it live is in the audit log; where that is gone, the person who created it. The person behind an application is in the details of
-- the entry: it ends with them too. A key's list of addresses is then compared with the address of that call.
CREATE FUNCTION workflow_publisher(w workflows) RETURNS jsonb LANGUAGE sql STABLE SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT coalesce(
    (SELECT jsonb_build_object('type', a.actor_type, 'id', a.actor_id, 'user_id', a.details #>> '{actor,user,id}',
        'ip', CASE WHEN a.actor_type <> 'user' THEN a.ip_address END, 'label', coalesce(a.actor_label, ''))
      FROM audit_logs a
      WHERE a.tenant_id = w.tenant_id AND a.resource_id = w.id::text AND a.resource_type = 'workflow'
        AND a.actor_type IN ('user', 'api_key', 'oauth_client') AND a.actor_id IS NOT NULL
        AND (a.action IN ('create', 'enable') OR a.action = 'update' AND a.details -> 'changes' @? '$[*] ? (@.field == "definition" || @.field == "environment" || @.field == "authority")')
      ORDER BY a.seq DESC LIMIT 1),
    (SELECT jsonb_build_object('type', 'user', 'id', u.id, 'user_id', NULL, 'ip', NULL, 'label', coalesce(u.email, '')) FROM users u WHERE u.id = w.created_by)) $$;

-- A machine of the release before starts a run: in the name of who published the workflow; of who started it, where it is a draft.
CREATE FUNCTION fill_run_authorities() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE behind jsonb;
BEGIN
  IF NEW.workflow_version IS NOT NULL THEN
    SELECT coalesce(w.authority, workflow_publisher(w)) INTO behind FROM workflows w WHERE w.id = NEW.workflow_id;
  ELSIF NEW.triggered_by ->> 'type' = 'user' THEN
    behind := jsonb_build_object('type', 'user', 'id', NEW.triggered_by -> 'id', 'user_id', NULL, 'ip', NULL, 'label', coalesce(NEW.triggered_by ->> 'label', ''));
  END IF;
  NEW.authorities := CASE WHEN behind IS NULL THEN '[]' ELSE jsonb_build_array(behind) END;
  RETURN NEW;
END $$;
CREATE TRIGGER fill_run_authorities BEFORE INSERT ON workflow_executions FOR EACH ROW WHEN (NEW.authorities IS NULL) EXECUTE FUNCTION fill_run_authorities();

-- It changes what a workflow does and leaves its authority: nobody's right may stand behind what somebody else wrote. The worker finds who did
-- (server/platform/authorship.ts). Transactions of this release always set app.maker.
CREATE FUNCTION forget_authority() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  NEW.authority := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER forget_authority BEFORE UPDATE OF definition, environment, enabled ON workflows FOR EACH ROW
  WHEN (current_setting('app.maker', true) IS NULL AND NEW.authority IS NOT DISTINCT FROM OLD.authority
    AND (NEW.definition IS DISTINCT FROM OLD.definition OR NEW.environment IS DISTINCT FROM OLD.environment OR NEW.enabled AND NOT OLD.enabled))
  EXECUTE FUNCTION forget_authority();
