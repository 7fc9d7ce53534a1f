-- The threshold of days before its end that a credential was mailed about last.
ALTER TABLE "client_credentials" ADD COLUMN "told_days" INTEGER;
