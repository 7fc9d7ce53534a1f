-- Whose right to call routes stands behind a workflow, and behind each of its runs: {type, id, user_id, ip, label} of who published it, and of who started it.
ALTER TABLE workflows ADD COLUMN authority JSONB;
ALTER TABLE workflow_executions ADD COLUMN authorities JSONB NOT NULL DEFAULT '[]';

-- Who made it live is in the audit log; where that is gone, the person who created it. The person behind an application is in the details of
-- the entry: it ends with them too. A key's list of addresses is then compared with none.
UPDATE workflows w SET authority = jsonb_build_object('type', a.actor_type, 'id', a.actor_id, 'user_id', a.user_id, 'ip', a.ip_address, 'label', coalesce(a.actor_label, ''))
FROM (
  SELECT DISTINCT ON (resource_id) resource_id, actor_type, actor_id, actor_label, details #>> '{actor,user,id}' AS user_id,
    CASE WHEN actor_type <> 'user' THEN ip_address END AS ip_address
  FROM audit_logs
  WHERE resource_type = 'workflow' AND action IN ('create', 'update', 'enable') AND actor_type IN ('user', 'api_key', 'oauth_client') AND actor_id IS NOT NULL
  ORDER BY resource_id, seq DESC) a
WHERE a.resource_id = w.id::text;
UPDATE workflows w SET authority = jsonb_build_object('type', 'user', 'id', created_by, 'user_id', NULL, 'ip', NULL, 'label', coalesce(u.email, ''))
FROM users u WHERE w.authority IS NULL AND u.id = w.created_by;
UPDATE workflow_executions e SET authorities = jsonb_build_array(w.authority)
FROM workflows w WHERE w.id = e.workflow_id AND w.authority IS NOT NULL AND e.status NOT IN ('completed', 'cancelled');
