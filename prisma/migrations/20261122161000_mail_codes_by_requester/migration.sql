-- A mailed code belongs to the browser, and else the network, that asked for it; tries of the two are counted apart. Codes of the last ten minutes before
-- this have neither and no longer work; their links do.
ALTER TABLE mail_codes ADD COLUMN "device_digest" BYTEA, ADD COLUMN "network" TEXT, ADD COLUMN "network_tries" INTEGER NOT NULL DEFAULT 0;
