-- Rows that were made before `made_by` and don't say by whom: the audit log does, as far back as it reaches. A secret is matched with the entry of its own moment,
-- anything else with the latest entry that created or rotated it.
CREATE FUNCTION audited_maker(tenant uuid, type text, resource text, moment timestamptz DEFAULT NULL) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT maker::uuid FROM (
    SELECT coalesce(details #>> '{actor,user,id}', actor_id) AS maker, seq, created_at FROM audit_logs
      WHERE tenant_id = tenant AND resource_type = type AND resource_id = resource AND (action IN ('create', 'rotate') OR action = 'update' AND details ->> 'field' = 'secret_key')
        AND (moment IS NULL OR created_at BETWEEN moment - interval '1 minute' AND moment + interval '1 minute')
  ) AS entries WHERE maker ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
  ORDER BY abs(extract(epoch FROM created_at - moment)), seq DESC LIMIT 1 $$;

UPDATE oauth_trust_bindings SET made_by = audited_maker(tenant_id, 'trust_binding', id::text) WHERE made_by IS NULL;
UPDATE inbound_webhooks SET made_by = audited_maker(tenant_id, 'inbound_webhook', id::text) WHERE made_by IS NULL;
UPDATE log_streams SET made_by = audited_maker(tenant_id, 'log_stream', id::text) WHERE made_by IS NULL;
UPDATE alert_channels SET made_by = audited_maker(tenant_id, 'alert_channel', id::text) WHERE made_by IS NULL;
UPDATE sso_connections SET made_by = audited_maker(tenant_id, 'sso_connection', id::text) WHERE made_by IS NULL;
UPDATE agent_keys SET made_by = audited_maker(tenant_id, 'agent', agent_id::text, created_at) WHERE made_by IS NULL;
UPDATE webhook_secrets SET made_by = audited_maker(tenant_id, 'webhook', webhook_id::text, created_at) WHERE made_by IS NULL;
UPDATE workflow_hooks SET made_by = audited_maker(tenant_id, 'workflow', workflow_id::text, created_at) WHERE made_by IS NULL;
-- Before, the maker of the client stood for every secret of it.
UPDATE oauth_client_secrets SET made_by = coalesce(audited_maker(tenant_id, 'oauth_client', client_row_id::text, created_at), made_by);
-- The credential of a client is an entry of the client.
UPDATE client_credentials SET made_by = coalesce((
    SELECT coalesce(a.details #>> '{actor,user,id}', a.actor_id)::uuid FROM audit_logs a
      WHERE a.tenant_id = client_credentials.tenant_id AND a.resource_type = 'client' AND a.resource_id = client_id::text
        AND a.details ->> 'credential_id' = client_credentials.id::text AND a.details ->> 'change' = 'credential.create'
        AND coalesce(a.details #>> '{actor,user,id}', a.actor_id) ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
      ORDER BY a.seq DESC LIMIT 1
  ), audited_maker(tenant_id, 'client', client_id::text, created_at)) WHERE made_by IS NULL;

DROP FUNCTION audited_maker;
