-- Definitions may name secrets in the names of members, where nothing listed them. They are never filled now; who looks for the uses of a secret finds them all the same.
INSERT INTO secret_references (id, tenant_id, sandbox, secret_id, kind, referrer_id, referrer_env, field_path, by)
SELECT gen_random_uuid(), w.tenant_id, w.sandbox, s.id, 'workflow', w.id, NULL, 'definition', CASE m.part[1] WHEN 'secret' THEN 'name' ELSE 'id' END
FROM workflows w
  CROSS JOIN LATERAL (SELECT DISTINCT part FROM regexp_matches(w.definition::text, '\{\{[ \t]*(secret|secret_id):([A-Za-z0-9_.-]+)', 'g') AS part) m
  JOIN secrets s ON s.tenant_id = w.tenant_id AND s.sandbox = w.sandbox
    AND CASE m.part[1] WHEN 'secret' THEN s.shortcode_name = m.part[2] ELSE s.id::text = lower(m.part[2]) END
WHERE NOT EXISTS (SELECT FROM secret_references r WHERE r.kind = 'workflow' AND r.referrer_id = w.id AND r.secret_id = s.id);
