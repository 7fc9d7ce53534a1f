-- What a client obtains while its secret is rotated, or while it is disabled or revoked, carries the epoch in which it was authenticated, and so is dead at birth.
-- The rotation can't find a token that is stored after it; the check of the token finds the rotation.
ALTER TABLE "oauth_clients" ADD COLUMN "epoch" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "oauth_access" ADD COLUMN "client_epoch" INTEGER NOT NULL DEFAULT 0;
