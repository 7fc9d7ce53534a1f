-- Members who answer for a collection (interface rule 70 §9): who made it, until somebody chooses others.
ALTER TABLE "collections" ADD COLUMN "owner_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];
