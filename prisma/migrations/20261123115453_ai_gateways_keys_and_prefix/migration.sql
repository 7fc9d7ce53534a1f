ALTER TABLE "ai_agents" ADD COLUMN "upstream_secret_ids" UUID[] DEFAULT ARRAY[]::UUID[],
  ADD COLUMN "enforced_system_prefix" TEXT;

-- What a background answer was charged with, until it is asked for and says what it used.
ALTER TABLE "ai_stored_objects" ADD COLUMN "pending" JSONB;
