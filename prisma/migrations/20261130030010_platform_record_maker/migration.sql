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

-- What was made before: by whom the rows themselves say.
UPDATE api_keys SET made_by = CASE WHEN created_by->>'id' ~ '^[0-9a-f-]{36}$' THEN (created_by->>'id')::uuid END;
UPDATE oauth_clients SET made_by = CASE WHEN created_by->>'id' ~ '^[0-9a-f-]{36}$' THEN (created_by->>'id')::uuid END;
UPDATE oauth_client_secrets SET made_by = (SELECT c.made_by FROM oauth_clients c WHERE c.id = client_row_id);
UPDATE scim_credentials SET made_by = created_by;
UPDATE invitations SET made_by = invited_by;
UPDATE agents SET made_by = created_by;
UPDATE agent_install_tokens SET made_by = created_by;
UPDATE acme_accounts SET made_by = minted_by_id;
UPDATE ai_tokens SET made_by = created_by;
UPDATE ai_oidc_bindings SET made_by = created_by;
UPDATE wrap_tokens SET made_by = CASE WHEN created_by ~ '^[0-9a-f-]{36}$' THEN created_by::uuid END;
UPDATE webhooks SET made_by = created_by;
UPDATE workflows SET made_by = created_by;
UPDATE secret_shares SET made_by = created_by;
UPDATE dyn_db_leases SET made_by = CASE WHEN minted_by_id ~ '^[0-9a-f-]{36}$' THEN minted_by_id::uuid END;
