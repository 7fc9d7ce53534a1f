-- Grows when everything that stands for a person ends. A proof of who somebody is that was judged before then opens nothing afterwards.
ALTER TABLE users ADD COLUMN "login_epoch" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX "oauth_codes_user_id_idx" ON "oauth_codes"("user_id");
CREATE INDEX "oauth_auth_requests_user_id_idx" ON "oauth_auth_requests"("user_id");
CREATE INDEX "oauth_device_codes_user_id_idx" ON "oauth_device_codes"("user_id");
CREATE INDEX "oauth_device_codes_session_id_idx" ON "oauth_device_codes"("session_id");
CREATE INDEX "oauth_consents_user_id_idx" ON "oauth_consents"("user_id");

-- Called before anything is issued in the name of a person, in that transaction: an ending that runs at the same time waits for it and ends what it issued,
-- or has committed, and then what the caller looks at next is over. The epoch of a person whose account is in use; null otherwise.
CREATE FUNCTION hold_person(person uuid) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT login_epoch FROM users WHERE id = person AND disabled_at IS NULL FOR SHARE $$;

-- Ends what applications hold, or are about to get, in the name of a person: in one workspace, or in all. Requests of the session `kept` go on.
-- How many logins worked until now, by workspace.
CREATE FUNCTION end_grants(person uuid, in_tenant uuid, kept uuid, why text, at timestamptz) RETURNS TABLE (tenant_id uuid, apps integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE ended uuid[];
BEGIN
  PERFORM FROM users u WHERE u.id = person FOR NO KEY UPDATE;
  DELETE FROM oauth_auth_requests r WHERE r.user_id = person AND r.decided_at IS NULL AND r.session_id IS DISTINCT FROM kept
    AND (in_tenant IS NULL OR r.tenant_id = in_tenant);
  UPDATE oauth_device_codes d SET state = 'denied', decided_at = at, handle_digest = NULL, handle_until = NULL
    WHERE (in_tenant IS NULL OR d.tenant_id = in_tenant) AND ((d.state = 'approved' AND d.user_id = person)
      OR (d.state = 'pending' AND d.session_id IN (SELECT s.id FROM sessions s WHERE s.user_id = person AND s.id IS DISTINCT FROM kept)));
  DELETE FROM oauth_codes c WHERE c.user_id = person AND c.used_at IS NULL AND (in_tenant IS NULL OR c.tenant_id = in_tenant);
  DELETE FROM oauth_consents c WHERE c.user_id = person AND (in_tenant IS NULL OR c.tenant_id = in_tenant);
  ended := array(SELECT f.id FROM oauth_families f WHERE f.user_id = person AND f.revoked_at IS NULL AND (in_tenant IS NULL OR f.tenant_id = in_tenant));
  UPDATE oauth_families f SET revoked_at = at, revoked_reason = why WHERE f.id = ANY (ended);
  UPDATE oauth_refresh r SET revoked_at = at WHERE r.family_id = ANY (ended) AND r.revoked_at IS NULL;
  UPDATE oauth_access a SET revoked_at = at WHERE a.user_id = person AND a.revoked_at IS NULL AND (in_tenant IS NULL OR a.tenant_id = in_tenant);
  RETURN QUERY SELECT f.tenant_id, count(*)::integer FROM oauth_families f WHERE f.id = ANY (ended) AND f.expires_at > at GROUP BY f.tenant_id;
END $$;

-- The one way to throw somebody out who may be a thief: ends everything that stands for the person, in every workspace, but the session `kept`. Mailed links
-- that take a change of the address back stay: a thief would end those first. `apps` has the logins of applications by workspace.
CREATE FUNCTION end_person(person uuid, kept uuid, why text, at timestamptz) RETURNS TABLE (sessions integer, apps jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE own_device bytea;
BEGIN
  UPDATE users u SET login_epoch = u.login_epoch + 1 WHERE u.id = person;
  SELECT coalesce(jsonb_object_agg(g.tenant_id, g.apps), '{}') INTO apps FROM end_grants(person, NULL, kept, why, at) g;
  DELETE FROM pending_logins p WHERE p.user_id = person;
  DELETE FROM webauthn_challenges c WHERE c.user_id = person AND c.session_id IS DISTINCT FROM kept;
  DELETE FROM step_up_verifications v WHERE v.user_id = person AND v.consumed_at IS NULL AND v.session_id IS DISTINCT FROM kept;
  UPDATE mail_codes c SET used_at = at WHERE c.user_id = person AND c.used_at IS NULL AND c.purpose <> 'email_undo';
  -- The mailed link of a sign-up signs in, too, once the address has an account.
  UPDATE signup_claims c SET token_digest = NULL, password_hash = NULL FROM users u WHERE u.id = person AND c.email = u.email AND c.token_digest IS NOT NULL;
  WITH ended AS (UPDATE sessions s SET revoked_at = at WHERE s.user_id = person AND s.revoked_at IS NULL AND s.id IS DISTINCT FROM kept RETURNING s.expires_at)
    SELECT count(*) FILTER (WHERE e.expires_at > at)::integer INTO sessions FROM ended e;
  -- Browsers that were signed in are new ones the next time: a sign-in from one of them is told by mail.
  SELECT s.device_digest INTO own_device FROM sessions s WHERE s.id = kept;
  UPDATE sessions s SET device_digest = NULL WHERE s.user_id = person AND s.device_digest IS DISTINCT FROM own_device AND s.device_digest IS NOT NULL;
  RETURN NEXT;
END $$;

-- The same within the workspace of the context, for whoever may end the logins of its member: what applications hold there and sign-ins on their way into
-- it. Its sessions end by end_workspace_sessions or leave_workspace_sessions. How many logins of applications worked until now.
CREATE FUNCTION end_member_logins(person uuid, why text, at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = person AND m.tenant_id = app_tenant()) THEN RETURN 0; END IF;
  DELETE FROM pending_logins p WHERE p.user_id = person AND p.scope_tenant_id = app_tenant();
  RETURN coalesce((SELECT g.apps FROM end_grants(person, app_tenant(), NULL, why, at) g), 0);
END $$;

-- How many applications are logged in in the name of a member of the workspace.
CREATE FUNCTION count_member_logins(person uuid, at timestamptz) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT count(*)::integer FROM oauth_families f WHERE f.user_id = person AND f.tenant_id = app_tenant() AND f.revoked_at IS NULL AND f.expires_at > at $$;

-- Single sign-on becomes required: whom the rule concerns logs in again through it, with their applications too.
CREATE FUNCTION end_logins_for_sso(domains text[], at timestamptz) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT coalesce(sum(end_member_logins(m.user_id, 'sso_required', at)), 0)::integer FROM (
    SELECT o.user_id FROM memberships o JOIN users u ON u.id = o.user_id
    WHERE o.tenant_id = app_tenant() AND o.removed_at IS NULL AND o.role <> 'owner' AND split_part(u.email, '@', 2) = ANY (domains) ORDER BY o.user_id) m $$;

REVOKE ALL ON FUNCTION hold_person, end_grants, end_person, end_member_logins, count_member_logins, end_logins_for_sso FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_person, end_member_logins, count_member_logins, end_logins_for_sso TO sallyport_app;

-- replaces scim_account: what a stranger set up in an account that never proved its address ends as everything that stands for a person does
CREATE OR REPLACE FUNCTION scim_account(person uuid, address text, domain_name text, name text, at timestamptz) RETURNS TABLE (id uuid, created boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE found uuid; proven timestamptz;
BEGIN
  IF NOT EXISTS (SELECT FROM tenant_domains d WHERE d.tenant_id = app_tenant() AND d.status = 'verified' AND d.domain = domain_name)
    OR (right(address, length(domain_name) + 1) <> '@' || domain_name AND domain_name !~ '(^|\.)xn--') THEN
    RAISE EXCEPTION 'not an address of a verified domain' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT u.id, u.email_verified_at INTO found, proven FROM users u WHERE u.email = address FOR UPDATE;
  IF found IS NULL THEN
    INSERT INTO users (id, email, full_name, created_at, updated_at) VALUES (person, address, name, at, at);
    RETURN QUERY SELECT person, true;
    RETURN;
  END IF;
  IF proven IS NULL THEN
    UPDATE users u SET password_hash = NULL, updated_at = at WHERE u.id = found;
    PERFORM end_person(found, NULL, 'account_taken_over', at);
    DELETE FROM webauthn_credentials w WHERE w.user_id = found;
    DELETE FROM totp_secrets t WHERE t.user_id = found;
    DELETE FROM recovery_codes r WHERE r.user_id = found;
  END IF;
  RETURN QUERY SELECT found, false;
END $$;
