-- Whose right to call routes stands behind a receiver that forwards to one: {type, id, user_id, ip, label} of who set the route, turned it on or made its secret.
ALTER TABLE inbound_webhooks ADD COLUMN authority JSONB;

-- Who did is in the audit log; where that is gone, the person who made it. The person behind an application is in the details of the entry.
UPDATE inbound_webhooks w SET authority = jsonb_build_object('type', a.actor_type, 'id', a.actor_id, 'user_id', a.user_id, 'ip', a.ip_address, 'label', coalesce(a.actor_label, ''))
FROM (
  SELECT DISTINCT ON (resource_id) resource_id, actor_type, actor_id, actor_label, details #>> '{actor,user,id}' AS user_id,
    CASE WHEN actor_type <> 'user' THEN ip_address END AS ip_address
  FROM audit_logs
  WHERE resource_type = 'inbound_webhook' AND actor_type IN ('user', 'api_key', 'oauth_client') AND actor_id IS NOT NULL
    AND (action IN ('create', 'enable', 'rotate') OR action = 'update' AND details -> 'changes' @> '[{"field": "forward_route_id"}]')
  ORDER BY resource_id, seq DESC) a
WHERE a.resource_id = w.id::text AND w.forward_route_id IS NOT NULL;
UPDATE inbound_webhooks w SET authority = jsonb_build_object('type', 'user', 'id', w.made_by, 'user_id', NULL, 'ip', NULL, 'label', coalesce(u.email, ''))
FROM users u WHERE w.authority IS NULL AND w.forward_route_id IS NOT NULL AND u.id = w.made_by;
