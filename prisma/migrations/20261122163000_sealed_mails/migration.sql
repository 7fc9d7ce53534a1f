-- Codes and links that sign their reader in are stored sealed. What was shown or sent before is emptied; a mail that still waits is sent as it is.
ALTER TABLE mails ADD COLUMN "sealed" BYTEA, ADD COLUMN "root_key_id" TEXT;
UPDATE mails SET text = '', html = null WHERE kind IN ('sign_in', 'signup', 'password_reset') AND sent_at IS NOT NULL;
UPDATE mails SET subject = 'Your Sallyport sign-in code' WHERE kind = 'sign_in' AND subject ~ '^[0-9]{6} ';
