-- Filters compare by code points whatever the locale of the database is, so that a prefix is a range of the index.
ALTER TABLE scim_users ALTER COLUMN user_name_folded TYPE text COLLATE "C", ALTER COLUMN external_id TYPE text COLLATE "C";
