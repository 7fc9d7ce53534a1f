-- The issuer that the browser came to: answers name it (RFC 9207), whichever space the client belongs to.
ALTER TABLE oauth_auth_requests ADD COLUMN issuer TEXT NOT NULL;
