-- Keys that were made by rotation, and work, are bound by the policies that name a key they replaced, as subject or as resource, and their mirrored clients
-- likewise. Rotations from now on do the same by themselves (server/domain/policies/heirs.ts); those of a machine of the release before don't, so the worker
-- calls this again for keys that are newer than `since` (server/platform/authorship.ts). How many policies changed.
CREATE FUNCTION bind_policies_to_successors(since uuid) RETURNS integer LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE bound integer; more integer;
BEGIN
  IF NOT EXISTS (SELECT FROM api_keys WHERE id > since AND replaces_key_id IS NOT NULL) THEN RETURN 0; END IF;
  WITH RECURSIVE heirs AS (
    SELECT k.tenant_id, p.id AS ancestor, k.id AS heir, k.key_id FROM api_keys k JOIN api_keys p ON p.key_id = k.replaces_key_id AND p.tenant_id = k.tenant_id
    UNION
    SELECT h.tenant_id, h.ancestor, k.id, k.key_id FROM heirs h JOIN api_keys k ON k.replaces_key_id = h.key_id AND k.tenant_id = h.tenant_id
  ), named AS (
    SELECT t.id AS policy_id, f.field, f.heir FROM tenant_policies t
      JOIN heirs h ON h.tenant_id = t.tenant_id
      JOIN api_keys k ON k.id = h.heir AND k.id > since AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
      LEFT JOIN oauth_clients a ON a.source_api_key_id = h.ancestor LEFT JOIN oauth_clients c ON c.source_api_key_id = h.heir
      CROSS JOIN LATERAL (VALUES ('api_key_ids', h.ancestor::text, h.heir::text), ('oauth_client_ids', a.id::text, c.id::text)) AS f(field, ancestor, heir)
      WHERE f.heir IS NOT NULL AND (t.subjects -> f.field) ? f.ancestor AND NOT (t.subjects -> f.field) ? f.heir
  ), added AS (
    SELECT policy_id, field, jsonb_agg(DISTINCT heir) AS heirs FROM named GROUP BY policy_id, field
  )
  UPDATE tenant_policies t SET subjects = t.subjects
      || coalesce((SELECT jsonb_build_object(field, (t.subjects -> field) || heirs) FROM added WHERE policy_id = t.id AND field = 'api_key_ids'), '{}')
      || coalesce((SELECT jsonb_build_object(field, (t.subjects -> field) || heirs) FROM added WHERE policy_id = t.id AND field = 'oauth_client_ids'), '{}')
    WHERE t.id IN (SELECT policy_id FROM added);
  GET DIAGNOSTICS bound = ROW_COUNT;

  WITH RECURSIVE heirs AS (
    SELECT k.tenant_id, p.id AS ancestor, p.key_id AS ancestor_key, k.id AS heir, k.key_id FROM api_keys k JOIN api_keys p ON p.key_id = k.replaces_key_id AND p.tenant_id = k.tenant_id
    UNION
    SELECT h.tenant_id, h.ancestor, h.ancestor_key, k.id, k.key_id FROM heirs h JOIN api_keys k ON k.replaces_key_id = h.key_id AND k.tenant_id = h.tenant_id
  ), added AS (
    SELECT t.id AS policy_id, array_agg(DISTINCT f.heir) AS heirs FROM tenant_policies t
      JOIN heirs h ON h.tenant_id = t.tenant_id
      JOIN api_keys k ON k.id = h.heir AND k.id > since AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
      CROSS JOIN LATERAL (VALUES (h.ancestor::text, h.heir::text), (h.ancestor_key, h.key_id)) AS f(ancestor, heir)
      WHERE f.ancestor = ANY (t.resources) AND NOT f.heir = ANY (t.resources) GROUP BY t.id
  )
  UPDATE tenant_policies t SET resources = t.resources || added.heirs FROM added WHERE added.policy_id = t.id;
  GET DIAGNOSTICS more = ROW_COUNT;
  RETURN bound + more;
END $$;
SELECT bind_policies_to_successors('00000000-0000-0000-0000-000000000000');
