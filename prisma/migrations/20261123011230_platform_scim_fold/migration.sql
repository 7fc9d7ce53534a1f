-- Text as a comparison regardless of case sees it (interface rule 23 §5.1): NFC and Unicode simple case folding, whatever the locale of the database.
-- server/kernel/fold.ts does the same in memory.
CREATE FUNCTION scim_fold(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT casefold(normalize(value, NFC) COLLATE "pg_c_utf8") $$;
