ALTER TABLE "mcp_servers" ADD COLUMN "signed_identity" BOOLEAN NOT NULL DEFAULT false;
