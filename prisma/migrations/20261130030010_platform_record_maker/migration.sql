-- Who made a thing that acts by itself, and knows its secret: kept by the database for every table below, so that no way to make one can forget it. `made_by` is the
-- person, or else the API key, OAuth client or SCIM credential, that created the row or last changed one of the columns. Families declare such tables as `made`.
CREATE FUNCTION acting_maker() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('app.maker', true), '')::uuid $$;

CREATE FUNCTION note_maker() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE maker uuid := acting_maker(); col text;
BEGIN
  IF maker IS NULL THEN RETURN NEW; END IF;
  IF TG_OP = 'INSERT' THEN NEW.made_by := maker; RETURN NEW; END IF;
  FOREACH col IN ARRAY TG_ARGV LOOP
    IF to_jsonb(NEW) -> col IS DISTINCT FROM to_jsonb(OLD) -> col THEN NEW.made_by := maker; RETURN NEW; END IF;
  END LOOP;
  RETURN NEW;
END $$;

CREATE FUNCTION record_maker(tbl name, columns text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I ADD COLUMN made_by uuid', tbl);
  EXECUTE format('CREATE TRIGGER note_maker BEFORE INSERT %s ON %I FOR EACH ROW EXECUTE FUNCTION note_maker(%s)',
    CASE WHEN columns = '{}' THEN '' ELSE 'OR UPDATE OF ' || (SELECT string_agg(format('%I', c), ', ') FROM unnest(columns) AS c) END, tbl,
    (SELECT string_agg(format('%L', c), ', ') FROM unnest(columns) AS c));
  EXECUTE format('CREATE INDEX %I ON %I (tenant_id, made_by) WHERE made_by IS NOT NULL', tbl || '_made_by', tbl);
END $$;

-- All locks at once: what holds some of them while it waits for others holds up all traffic. The statement that takes too long is tried again (scripts/schema.ts).
SET LOCAL statement_timeout = '3s';
LOCK TABLE api_keys, oauth_clients, oauth_client_secrets, oauth_trust_bindings, scim_credentials, invitations, agents, agent_keys, agent_install_tokens, acme_accounts, ai_tokens, ai_oidc_bindings, wrap_tokens, webhooks, webhook_secrets, inbound_webhooks, log_streams, alert_channels, workflows, workflow_hooks, secret_shares, dyn_db_leases, client_credentials, sso_connections IN ACCESS EXCLUSIVE MODE;
SET LOCAL statement_timeout = 0;
SELECT record_maker('api_keys', '{digest}');
-- The first maker of a client stays: who holds a secret or trust binding of it counts too, by their own tables.
SELECT record_maker('oauth_clients', '{}');
SELECT record_maker('oauth_client_secrets', '{digest}');
SELECT record_maker('oauth_trust_bindings', '{issuer,audience,subject,claims}');
SELECT record_maker('scim_credentials', '{digest}');
SELECT record_maker('invitations', '{token_digest}');
SELECT record_maker('agents', '{}');
SELECT record_maker('agent_keys', '{value_ct}');
SELECT record_maker('agent_install_tokens', '{token_digest}');
SELECT record_maker('acme_accounts', '{}');
SELECT record_maker('ai_tokens', '{token_hash}');
SELECT record_maker('ai_oidc_bindings', '{issuer,claim_rules}');
SELECT record_maker('wrap_tokens', '{token_hash}');
SELECT record_maker('webhooks', '{url}');
SELECT record_maker('webhook_secrets', '{value_ct}');
SELECT record_maker('inbound_webhooks', '{value_ct,forward_url}');
SELECT record_maker('log_streams', '{endpoint,value_ct}');
SELECT record_maker('alert_channels', '{value_ct,recipients}');
SELECT record_maker('workflows', '{definition}');
SELECT record_maker('workflow_hooks', '{token_hash}');
SELECT record_maker('secret_shares', '{recipient_email}');
SELECT record_maker('dyn_db_leases', '{}');
SELECT record_maker('client_credentials', '{secret_ct,data,ip_range,thumbprint}');
SELECT record_maker('sso_connections', '{issuer,client_id,value_ct,sso_url,certificates}');
